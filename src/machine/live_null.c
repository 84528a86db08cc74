/* The machine of which nothing is known: any system without a port. Nothing is found; planning
 * still works. Its operations also serve the machines that answer only some questions (a tree under
 * --root). */
#include "live_null.h"

plim_status pli_null_read(pli_machine *m, const char *path, pli_buf *out)
{
    (void)m, (void)path, (void)out;
    return PLIM_NOT_FOUND;
}

plim_status pli_null_open(pli_machine *m, const char *path, void **file)
{
    (void)m, (void)path;
    *file = NULL;
    return PLIM_NOT_FOUND;
}

plim_status pli_null_reread(pli_machine *m, void *file, pli_buf *out)
{
    (void)m, (void)file, (void)out;
    return PLIM_NOT_FOUND;
}

void pli_null_close(pli_machine *m, void *file)
{
    (void)m, (void)file;
}

plim_status pli_null_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    (void)m, (void)path, (void)arena, (void)out;
    return PLIM_NOT_FOUND;
}

plim_status pli_null_link(pli_machine *m, const char *path, pli_buf *target)
{
    (void)m, (void)path, (void)target;
    return PLIM_NOT_FOUND;
}

plim_status pli_null_stat(pli_machine *m, const char *path, pli_stat *out)
{
    (void)m, (void)path, (void)out;
    return PLIM_NOT_FOUND;
}

const char *pli_null_env(pli_machine *m, const char *name)
{
    (void)m, (void)name;
    return NULL;
}

uint64_t pli_null_clock(pli_machine *m)
{
    (void)m;
    return 0;
}

plim_status pli_null_lib(pli_machine *m, const pli_lib *lib, pli_symbol *symbols)
{
    (void)m, (void)lib, (void)symbols;
    return PLIM_UNSUPPORTED;
}

/* No library was loaded, so nothing may be called: the call is answered here. */
bool pli_null_call_before(pli_machine *m, const pli_call *call, int *rc)
{
    (void)m, (void)call;
    *rc = PLI_CALL_MISSING;
    return true;
}

void pli_null_call_after(pli_machine *m, const pli_call *call, int rc)
{
    (void)m, (void)call, (void)rc;
}

plim_status pli_null_run(pli_machine *m, const char *const argv[], uint32_t timeout_ms,
                         pli_run *run)
{
    (void)m, (void)argv, (void)timeout_ms, (void)run;
    return PLIM_NOT_FOUND;
}

bool pli_null_cpuid(pli_machine *m, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)m, (void)leaf, (void)sub, (void)out;
    return false;
}

plim_status pli_null_query(pli_machine *m, const char *node, const char *what, const void *in,
                           size_t in_size, void *out, size_t out_size, size_t *length)
{
    (void)m, (void)node, (void)what, (void)in, (void)in_size, (void)out, (void)out_size,
        (void)length;
    return PLIM_NOT_FOUND;
}

static void null_free(pli_machine *m)
{
    plim_allocator allocator = m->allocator;
    pli_hook_resize(&allocator, m, sizeof *m, 0);
}

static const pli_machine_ops null_ops = {
    pli_null_read,  pli_null_open,  pli_null_reread,      pli_null_close,
    pli_null_list,  pli_null_link,  pli_null_stat,        pli_null_env,
    pli_null_clock, pli_null_lib,   pli_null_call_before, pli_null_call_after,
    pli_null_run,   pli_null_cpuid, pli_null_query,       NULL,
    null_free,
};

plim_status pli_machine_null(const plim_allocator *allocator, pli_machine **out)
{
    *out = NULL;
    pli_machine *m = pli_hook_resize(allocator, NULL, 0, sizeof *m);
    if (!m)
        return PLIM_NOMEM;
    *m = (pli_machine){.ops = &null_ops, .facts = {.os = PLI_OS_OTHER}};
    if (allocator)
        m->allocator = *allocator;
    *out = m;
    return PLIM_OK;
}
