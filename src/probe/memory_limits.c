#include "memory_limits.h"

#include <string.h>

#include "../base/cpuset.h"
#include "../base/limits.h"
#include "../base/num.h"
#include "../machine/query.h"
#include "cgroup.h"
#include "shared.h"

/* v1 writes "no limit" as the largest multiple of the page size: 2^63 less a page of up to 64 KiB,
 * and other kernels other values up there. No machine has an exbibyte. */
#define NO_LIMIT (UINT64_C(1) << 60)

bool pli_meminfo_bytes(pli_str meminfo, const char *key, uint64_t *bytes)
{
    pli_str value;
    uint64_t kib;
    return pli_find_value(meminfo, key, ':', &value) && pli_parse_u64_prefix(&value, &kib) &&
           pli_mul(kib, 1024, bytes);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A limit somebody has set. */
static void set_limit(plim_memory *memory, uint64_t limit, const char *source)
{
    if (limit == 0 || limit >= NO_LIMIT || !source ||
        (PLIM_KNOWN(memory, memory, limit_bytes) && memory->limit_bytes <= limit))
        return;
    PLI_SET(memory, memory, limit_bytes, limit, source);
    PLI_SET(memory, memory, limit_source, source, source);
}

/* What a limit leaves now. */
static void set_usable(plim_memory *memory, uint64_t left, const char *source)
{
    if (left >= NO_LIMIT || !source ||
        (PLIM_KNOWN(memory, memory, usable_bytes) && memory->usable_bytes <= left))
        return;
    PLI_SET(memory, memory, usable_bytes, left, source);
    PLI_SET(memory, memory, usable_source, source, source);
}

/* ---- control groups -------------------------------------------------------------------------- */

static uint64_t stat_value(pli_str stat, const char *key)
{
    pli_str line, name;
    uint64_t value;
    while (pli_next_line(&stat, &line))
        if (pli_next_word(&line, &name) && pli_eq(name, key))
            return pli_parse_u64(line, &value) ? value : 0;
    return 0;
}

/* A limit file; false for "max", absence and v1's large numbers. */
static bool limit_of(pli_probe_context *context, const pli_cgroup *group, const char *file,
                     uint64_t *limit)
{
    pli_str text = pli_cgroup_read(context, group, file);
    return text.n && pli_parse_u64(text, limit) && *limit < NO_LIMIT;
}

static bool smallest_limit(pli_probe_context *context, const pli_cgroup *group, uint64_t *limit)
{
    uint64_t high;
    if (!group->v2)
        return limit_of(context, group, "memory.limit_in_bytes", limit);
    bool hard = limit_of(context, group, "memory.max", limit);
    /* memory.high does not kill, but above it a process hardly moves. */
    if (!limit_of(context, group, "memory.high", &high))
        return hard;
    *limit = hard && *limit < high ? *limit : high;
    return true;
}

/* What the group uses and cannot give back: its page cache goes before anything is killed, except
 * pages that must be written first. */
static bool group_use(pli_probe_context *context, const pli_cgroup *group, uint64_t *use)
{
    uint64_t used, cache, dirty;
    if (!pli_parse_u64(
            pli_cgroup_read(context, group, group->v2 ? "memory.current" : "memory.usage_in_bytes"),
            &used))
        return false;
    pli_str stat = pli_cgroup_read(context, group, "memory.stat");
    if (group->v2) {
        cache = pli_add_sat(stat_value(stat, "inactive_file"), stat_value(stat, "active_file"));
        cache = pli_add_sat(cache, stat_value(stat, "slab_reclaimable"));
        dirty = stat_value(stat, "file_dirty");
    } else {
        cache = pli_add_sat(stat_value(stat, "total_inactive_file"),
                            stat_value(stat, "total_active_file"));
        dirty = stat_value(stat, "total_dirty");
    }
    *use = pli_sub_sat(used, pli_sub_sat(cache, dirty));
    return true;
}

static char *group_name(pli_probe_context *context, const pli_cgroup *group)
{
    return pli_printf(context->inv->arena, "cgroup %s", group->path[0] ? group->path : "/");
}

/* v1 tells the ancestors' smallest limit also where they lie outside of a container. */
static void hidden_ancestors(pli_probe_context *context, const pli_cgroup *group,
                             plim_memory *memory)
{
    uint64_t limit = group->v2 ? 0
                               : stat_value(pli_cgroup_read(context, group, "memory.stat"),
                                            "hierarchical_memory_limit");
    uint64_t use;
    if (limit == 0 || limit >= NO_LIMIT ||
        (PLIM_KNOWN(memory, memory, limit_bytes) && memory->limit_bytes <= limit))
        return;
    set_limit(memory, limit, "cgroup above");
    if (group_use(context, group, &use))
        set_usable(memory, pli_sub_sat(limit, use), "cgroup above");
}

static void control_groups(pli_probe_context *context, plim_memory *memory)
{
    pli_cgroup group, own;
    uint64_t limit, use;
    if (!pli_cgroup_find(context, "memory", &group))
        return;
    own = group;
    own.path = pli_strdup(context->scratch, group.path);
    do {
        if (!smallest_limit(context, &group, &limit))
            continue;
        char *name = group_name(context, &group);
        set_limit(memory, limit, name);
        if (group_use(context, &group, &use))
            set_usable(memory, pli_sub_sat(limit, use), name);
        else
            set_usable(memory, limit, name);
    } while (pli_cgroup_up(&group));
    if (own.path)
        hidden_ancestors(context, &own, memory);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

pli_node_memory pli_node_memory_read(pli_probe_context *context, size_t node)
{
    pli_node_memory out = {0};
    uint64_t file = 0, shmem = 0, slab = 0;
    pli_str text, line, word, key;
    char *path = pli_printf(context->scratch, "/sys/devices/system/node/node%zu/meminfo", node);
    plim_status status = pli_read(context->m, context->scratch, path, &text);
    pli_note_unreadable(context, path, status);
    while (status == PLIM_OK && pli_next_line(&text, &line)) {
        uint64_t bytes;
        if (!pli_next_word(&line, &word) || !pli_next_word(&line, &word) ||
            !pli_next_word(&line, &key) || !pli_next_word(&line, &word) ||
            !pli_parse_u64(word, &bytes) || !pli_mul(bytes, 1024, &bytes))
            continue;
        out.known |= pli_eq(key, "MemTotal:");
        uint64_t *slot = pli_eq(key, "MemTotal:")       ? &out.total
                         : pli_eq(key, "MemFree:")      ? &out.free
                         : pli_eq(key, "FilePages:")    ? &file
                         : pli_eq(key, "Shmem:")        ? &shmem
                         : pli_eq(key, "SReclaimable:") ? &slab
                                                        : NULL;
        if (slot)
            *slot = bytes;
    }
    out.available = pli_add_sat(out.free, pli_add_sat(pli_sub_sat(file, shmem), slab));
    return out;
}

/* A cpuset may keep a process to some nodes: no more than these have can be allocated. */
static void allowed_nodes(pli_probe_context *context, plim_memory *memory)
{
    pli_str status, list;
    pli_cpuset nodes, allowed;
    uint64_t total = 0, left = 0;
    list = pli_read_wordf(context->m, context->scratch, "/sys/devices/system/node/has_memory");
    if (!pli_cpuset_parse_list(context->scratch, list, &nodes) || pli_cpuset_count(&nodes) < 2 ||
        pli_read(context->m, context->scratch, "/proc/self/status", &status) != PLIM_OK ||
        !pli_find_value(status, "Mems_allowed_list", ':', &list) ||
        !pli_cpuset_parse_list(context->scratch, list, &allowed))
        return;
    pli_cpuset_and(&allowed, &nodes);
    if (pli_cpuset_equal(&allowed, &nodes) || pli_cpuset_count(&allowed) == 0)
        return;
    for (size_t n = pli_cpuset_next(&allowed, 0); n != SIZE_MAX;
         n = pli_cpuset_next(&allowed, n + 1)) {
        pli_node_memory node = pli_node_memory_read(context, n);
        if (!node.known)
            return;
        total = pli_add_sat(total, node.total);
        left = pli_add_sat(left, node.available);
    }
    set_limit(memory, total, "cpuset.mems");
    set_usable(memory, left, "cpuset.mems");
}

/* ---- the process, the kernel, the batch system ----------------------------------------------- */

static void process_limits(pli_probe_context *context, plim_memory *memory)
{
    struct pli_rlimits r;
    size_t n = 0;
    if (pli_query(context->m, "-", "host.rlimit", NULL, 0, &r, sizeof r, &n) != PLIM_OK ||
        n != sizeof r)
        return;
    uint64_t limit = r.address_space < r.data ? r.address_space : r.data;
    if (limit >= NO_LIMIT)
        return;
    PLI_SET(memory, memory, rlimit_bytes, limit, "rlimit");
    set_limit(memory, limit, "rlimit");
    set_usable(memory, limit, "rlimit");
}

static void strict_overcommit(pli_probe_context *context, plim_memory *memory, pli_str meminfo)
{
    uint64_t mode, limit, committed;
    if (pli_read_u64f(context->m, context->scratch, &mode, "/proc/sys/vm/overcommit_memory") &&
        mode == 2 && pli_meminfo_bytes(meminfo, "CommitLimit", &limit) &&
        pli_meminfo_bytes(meminfo, "Committed_AS", &committed))
        set_usable(memory, pli_sub_sat(limit, committed), "overcommit_memory=2");
}

/* In MiB; 0 is all of the node. */
bool pli_slurm_memory(pli_machine *m, uint64_t *bytes)
{
    uint64_t mib, cpus;
    if (!pli_parse_u64(pli_s(pli_env(m, "SLURM_MEM_PER_NODE")), &mib) &&
        (!pli_parse_u64(pli_s(pli_env(m, "SLURM_MEM_PER_CPU")), &mib) ||
         !pli_parse_u64(pli_s(pli_env(m, "SLURM_CPUS_ON_NODE")), &cpus) ||
         !pli_mul(mib, cpus, &mib)))
        return false;
    return mib > 0 && pli_mul(mib, UINT64_C(1) << 20, bytes);
}

/* Slurm enforces with cgroups only where it is configured to; a job that takes more than it asked
 * for is ended all the same. */
static void slurm(pli_probe_context *context, plim_memory *memory)
{
    uint64_t bytes;
    if (!pli_slurm_memory(context->m, &bytes))
        return;
    set_limit(memory, bytes, "slurm");
    set_usable(memory, bytes, "slurm");
}

void pli_memory_limits(pli_probe_context *context, plim_memory *memory, pli_str meminfo)
{
    control_groups(context, memory);
    allowed_nodes(context, memory);
    process_limits(context, memory);
    strict_overcommit(context, memory, meminfo);
    slurm(context, memory);
    if (PLIM_KNOWN(memory, memory, usable_bytes) && PLIM_KNOWN(memory, memory, total_bytes))
        /* a limit may be larger than the machine */
        set_usable(memory, memory->total_bytes, "total");
}
