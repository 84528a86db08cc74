/* RAM: /proc/meminfo. */
#include "../base/num.h"
#include "probe.h"

static bool kib(pli_str text, const char *key, uint64_t *bytes)
{
    pli_str value;
    uint64_t n;
    if (!pli_find_value(text, key, ':', &value) || !pli_parse_u64_prefix(&value, &n))
        return false;
    return pli_mul(n, 1024, bytes);
}

static void run(pli_probe_context *context)
{
    pli_str text;
    uint64_t bytes;
    if (pli_read(context->m, context->scratch, "/proc/meminfo", &text) != PLIM_OK)
        return;
    plim_memory *memory = pli_memory_of(context->inv);
    if (memory && kib(text, "MemTotal", &bytes))
        PLI_SET(memory, memory, total_bytes, bytes, "meminfo");
}

const pli_probe pli_probe_host_memory = {.run = run};
