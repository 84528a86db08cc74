/* RAM: what there is, what the kernel could give, and what of that this process may have. */
#include "../base/limits.h"
#include "../base/num.h"
#include "gpu_nodes.h"
#include "memory_limits.h"
#include "shared.h"

static void set_bytes(plim_memory *memory, pli_str meminfo)
{
    uint64_t bytes;
#define SET(member, key)                                                                           \
    if (pli_meminfo_bytes(meminfo, key, &bytes))                                                   \
    PLI_SET(memory, memory, member, bytes, "meminfo")
    SET(total_bytes, "MemTotal");
    SET(free_bytes, "MemFree");
    SET(available_bytes, "MemAvailable");
    SET(buffers_bytes, "Buffers");
    SET(cached_bytes, "Cached");
    SET(sreclaimable_bytes, "SReclaimable");
    SET(swap_total_bytes, "SwapTotal");
    SET(swap_free_bytes, "SwapFree");
    SET(hugepage_size_bytes, "Hugepagesize");
    SET(cma_total_bytes, "CmaTotal");
    SET(cma_free_bytes, "CmaFree");
#undef SET
}

static void set_hugepages(plim_memory *memory, pli_str meminfo)
{
    pli_str value;
    uint64_t count;
    if (pli_find_value(meminfo, "HugePages_Total", ':', &value) && pli_parse_u64(value, &count))
        PLI_SET(memory, memory, hugepages_total, count, "meminfo");
    if (pli_find_value(meminfo, "HugePages_Free", ':', &value) && pli_parse_u64(value, &count))
        PLI_SET(memory, memory, hugepages_free, count, "meminfo");
}

/* Kernels before 3.14: the kernel's own formula, with the low watermark taken as 5/4 of
 * min_free_kbytes. Page cache counts without shared memory, which nothing can take back. */
static void estimate_available(pli_probe_context *context, plim_memory *memory, pli_str meminfo)
{
    uint64_t free, active, inactive, cached, shmem, kib, low, cache, slab = 0;
    if (PLIM_KNOWN(memory, memory, available_bytes) ||
        !pli_meminfo_bytes(meminfo, "MemFree", &free))
        return;
    if (pli_meminfo_bytes(meminfo, "Active(file)", &active) &&
        pli_meminfo_bytes(meminfo, "Inactive(file)", &inactive))
        cache = pli_add_sat(active, inactive);
    else if (pli_meminfo_bytes(meminfo, "Cached", &cached) &&
             pli_meminfo_bytes(meminfo, "Shmem", &shmem))
        cache = pli_sub_sat(cached, shmem);
    else
        return; /* before 2.6.28 cache and shared memory cannot be told apart */
    if (!pli_read_u64f(context->m, context->scratch, &kib, "/proc/sys/vm/min_free_kbytes") ||
        !pli_mul(kib, 1280, &low))
        return;
    (void)pli_meminfo_bytes(meminfo, "SReclaimable", &slab);
    cache = pli_sub_sat(cache, cache / 2 < low ? cache / 2 : low);
    slab = pli_sub_sat(slab, slab / 2 < low ? slab / 2 : low);
    PLI_SET(memory, memory, available_bytes,
            pli_add_sat(pli_sub_sat(free, low), pli_add_sat(cache, slab)), "computed");
}

static void take_out_gpu_nodes(pli_probe_context *context, plim_memory *memory)
{
    pli_cpuset nodes = pli_gpu_nodes(context);
    pli_node_memory sum = {0};
    for (size_t n = pli_cpuset_next(&nodes, 0); n != SIZE_MAX; n = pli_cpuset_next(&nodes, n + 1)) {
        pli_node_memory node = pli_node_memory_read(context, n);
        sum.total = pli_add_sat(sum.total, node.total);
        sum.free = pli_add_sat(sum.free, node.free);
        sum.available = pli_add_sat(sum.available, node.available);
    }
    if (sum.total == 0)
        return;
    PLI_SET(memory, memory, gpu_numa_bytes, sum.total, "sysfs");
    if (PLIM_KNOWN(memory, memory, total_bytes))
        memory->total_bytes = pli_sub_sat(memory->total_bytes, sum.total);
    if (PLIM_KNOWN(memory, memory, free_bytes))
        memory->free_bytes = pli_sub_sat(memory->free_bytes, sum.free);
    if (PLIM_KNOWN(memory, memory, available_bytes))
        memory->available_bytes = pli_sub_sat(memory->available_bytes, sum.available);
}

/* "size    4    123": the cache of ZFS is not in MemAvailable, though it shrinks under pressure
 * down to c_min. */
static uint64_t arc_reclaimable(pli_probe_context *context, plim_memory *memory)
{
    pli_str text, line, name, type;
    uint64_t size = 0, least = 0, value;
    if (pli_read(context->m, context->scratch, "/proc/spl/kstat/zfs/arcstats", &text) != PLIM_OK)
        return 0;
    while (pli_next_line(&text, &line)) {
        if (!pli_next_word(&line, &name) || !pli_next_word(&line, &type) ||
            !pli_parse_u64(line, &value))
            continue;
        if (pli_eq(name, "size")) {
            size = value;
            PLI_SET(memory, memory, arc_bytes, size, "arcstats");
        } else if (pli_eq(name, "c_min")) {
            least = value;
        }
    }
    return pli_sub_sat(size, least);
}

static void set_usable(pli_probe_context *context, plim_memory *memory)
{
    uint64_t arc = arc_reclaimable(context, memory);
    if (!PLIM_KNOWN(memory, memory, available_bytes))
        return;
    uint64_t usable = pli_add_sat(memory->available_bytes, arc);
    PLI_SET(memory, memory, usable_bytes, usable, PLI_SOURCE(memory, memory, available_bytes));
    PLI_SET(memory, memory, usable_source, arc ? "available and ZFS cache" : "available",
            PLI_SOURCE(memory, memory, available_bytes));
}

/* ---- pressure and fragmentation -------------------------------------------------------------- */

static bool average(pli_str line, const char *key, double *percent)
{
    pli_str word, name, value;
    while (pli_next_word(&line, &word))
        if (pli_key_value(word, '=', &name, &value) && pli_eq(name, key))
            return pli_parse_f64(value, percent) && *percent >= 0 && *percent <= 100;
    return false;
}

/* "some avg10=0.00 avg60=0.00 ..." and "full ..."; the file cannot be read where psi=0. */
static void pressure(pli_probe_context *context, plim_memory *memory)
{
    pli_str text, line;
    double percent;
    if (pli_read(context->m, context->scratch, "/proc/pressure/memory", &text) != PLIM_OK)
        return;
#define SET(member, key)                                                                           \
    if (average(line, key, &percent))                                                              \
    PLI_SET(memory, memory, member, percent, "psi")
    while (pli_next_line(&text, &line)) {
        if (pli_starts(line, "some ")) {
            SET(pressure_some_avg10, "avg10");
            SET(pressure_some_avg60, "avg60");
        } else if (pli_starts(line, "full ")) {
            SET(pressure_full_avg10, "avg10");
            SET(pressure_full_avg60, "avg60");
        }
    }
#undef SET
}

/* "Node 0, zone   Normal   12   3 ...": free blocks of 1, 2, 4 ... pages. */
static void fragmentation(pli_probe_context *context, plim_memory *memory)
{
    pli_str text, line, word;
    uint64_t page = context->m->facts.page_size, free = 0, huge = 0, blocks;
    if (page == 0 || pli_read(context->m, context->scratch, "/proc/buddyinfo", &text) != PLIM_OK)
        return;
    while (pli_next_line(&text, &line)) {
        uint64_t block = page;
        for (int i = 0; i < 4; i++)
            (void)pli_next_word(&line, &word);
        for (; pli_next_word(&line, &word) && pli_parse_u64(word, &blocks);
             block = pli_mul_sat(block, 2)) {
            uint64_t bytes = pli_mul_sat(blocks, block);
            free = pli_add_sat(free, bytes);
            if (PLIM_KNOWN(memory, memory, hugepage_size_bytes) &&
                block >= memory->hugepage_size_bytes)
                huge = pli_add_sat(huge, bytes);
        }
    }
    PLI_SET(memory, memory, fragmentation_free_bytes, free, "buddyinfo");
    if (PLIM_KNOWN(memory, memory, hugepage_size_bytes))
        PLI_SET(memory, memory, fragmentation_huge_free_bytes, huge, "buddyinfo");
}

static void run(pli_probe_context *context)
{
    pli_str meminfo;
    plim_memory *memory = pli_memory_of(context->inv);
    if (!memory)
        return;
    plim_status status = pli_read(context->m, context->scratch, "/proc/meminfo", &meminfo);
    pli_note_unreadable(context, "/proc/meminfo", status);
    set_bytes(memory, meminfo);
    if (status == PLIM_OK && !PLIM_KNOWN(memory, memory, total_bytes))
        pli_note_nonsense(context, "/proc/meminfo", "MemTotal");
    set_hugepages(memory, meminfo);
    estimate_available(context, memory, meminfo);
    take_out_gpu_nodes(context, memory);
    set_usable(context, memory);
    pli_memory_limits(context, memory, meminfo);
    pressure(context, memory);
    fragmentation(context, memory);
}

const pli_probe pli_probe_host_memory = {.run = run};
