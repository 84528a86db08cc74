#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "shared.h"

#define CPUS "/sys/devices/system/cpu"

/* The kernel's maps come first: where a map and its list differ, the map is right. */
static const char *const core_files[] = {"core_cpus", "thread_siblings", "core_cpus_list",
                                         "thread_siblings_list", NULL};
static const char *const package_files[] = {"package_cpus", "core_siblings", "package_cpus_list",
                                            "core_siblings_list", NULL};

bool pli_sysfs_cpus(pli_probe_context *context, size_t cpu, const char *folder,
                    const char *const *names, pli_cpuset *out)
{
    for (; *names; names++) {
        pli_str text =
            pli_read_wordf(context->m, context->scratch, CPUS "/cpu%zu/%s/%s", cpu, folder, *names);
        if (text.n == 0)
            continue;
        if (pli_ends(pli_s(*names), "_list") ? pli_cpuset_parse_list(context->scratch, text, out)
                                             : pli_cpuset_parse_mask(context->scratch, text, out))
            return true;
        /* one note for all CPUs */
        pli_note_nonsense(context, pli_printf(context->scratch, CPUS "/cpu*/%s/%s", folder, *names),
                          "set of CPUs");
    }
    return false;
}

/* ---- online ---------------------------------------------------------------------------------- */

static bool online_from_file(pli_probe_context *context, pli_topology *t)
{
    pli_str text;
    plim_status status = pli_read(context->m, context->scratch, CPUS "/online", &text);
    pli_note_unreadable(context, CPUS "/online", status);
    if (status != PLIM_OK || pli_trim(text).n == 0)
        return false;
    if (pli_cpuset_parse_list(context->scratch, text, &t->online))
        return true;
    pli_note_nonsense(context, CPUS "/online", "list of CPUs");
    return false;
}

/* Kernels before 2.6.26 and trimmed trees: the folders cpuN whose `online` is not 0. */
static void online_from_folders(pli_probe_context *context, pli_topology *t)
{
    pli_names names;
    if (pli_list(context->m, context->scratch, CPUS, &names) != PLIM_OK)
        return;
    for (size_t i = 0; i < names.count; i++) {
        uint64_t cpu, online;
        if (!pli_starts(pli_s(names.items[i]), "cpu") ||
            !pli_parse_u64(pli_s(names.items[i] + 3), &cpu) || cpu >= PLI_MAX_CPUS)
            continue;
        if (pli_read_u64f(context->m, context->scratch, &online, CPUS "/%s/online",
                          names.items[i]) &&
            online == 0)
            continue;
        (void)pli_cpuset_add(context->scratch, &t->online, (size_t)cpu);
    }
}

static void read_online(pli_probe_context *context, const pli_cpuinfo *info, pli_topology *t)
{
    t->logical_source = "sysfs";
    if (!online_from_file(context, t))
        online_from_folders(context, t);
    t->logical = pli_cpuset_count(&t->online);
    if (t->logical)
        return;
    t->logical_source = "cpuinfo";
    t->logical = info->processors;
    t->online = info->cpus;
}

/* ---- cores and packages from sysfs ----------------------------------------------------------- */

static void cover(pli_arena *arena, pli_cpuset *covered, const pli_cpuset *set)
{
    for (size_t c = pli_cpuset_next(set, 0); c != SIZE_MAX; c = pli_cpuset_next(set, c + 1))
        (void)pli_cpuset_add(arena, covered, c);
}

/* The online siblings of a CPU; itself always among them. *gaps: a CPU without topology was met, so
 * that others may lack it too and are not asked for each of the files. */
static bool siblings(pli_probe_context *context, const pli_topology *t, size_t cpu,
                     const char *const *files, bool *gaps, pli_cpuset *set)
{
    if (*gaps && !pli_existsf(context->m, context->scratch, CPUS "/cpu%zu/topology", cpu))
        return false;
    if (!pli_sysfs_cpus(context, cpu, "topology", files, set)) {
        *gaps = true;
        return false;
    }
    pli_cpuset_and(set, &t->online);
    return pli_cpuset_add(context->scratch, set, cpu);
}

/* CPUs of which nothing is told (old phones tell of the first alone) leave the number of cores
 * unknown; no package is made up for them. */
static bool all_covered(const pli_topology *t, const pli_cpuset *covered)
{
    for (size_t c = pli_cpuset_next(&t->online, 0); c != SIZE_MAX;
         c = pli_cpuset_next(&t->online, c + 1))
        if (!pli_cpuset_has(covered, c))
            return false;
    return true;
}

static void read_cores(pli_probe_context *context, pli_topology *t)
{
    pli_cpuset covered = {0}, set;
    bool gaps = false;
    for (size_t c = pli_cpuset_next(&t->online, 0); c != SIZE_MAX;
         c = pli_cpuset_next(&t->online, c + 1)) {
        if (pli_cpuset_has(&covered, c) || !siblings(context, t, c, core_files, &gaps, &set))
            continue;
        size_t threads = pli_cpuset_count(&set);
        cover(context->scratch, &covered, &set);
        (void)pli_cpuset_add(context->scratch, &t->leaders, c);
        t->cores++;
        if (threads > t->threads_per_core)
            t->threads_per_core = threads;
    }
    t->cores_source = "sysfs";
    if (all_covered(t, &covered))
        return;
    t->cores = t->threads_per_core = 0;
    t->leaders = t->online;
}

/* A phone lists each cluster or each CPU as a package of its own and tells by the id that they
 * are one; POWER's id is -1 and tells nothing. */
static bool package_id(pli_probe_context *context, size_t cpu, uint64_t *id)
{
    return pli_read_u64f(context->m, context->scratch, id,
                         CPUS "/cpu%zu/topology/physical_package_id", cpu);
}

static bool seen_before(pli_arena *arena, uint64_t **ids, size_t *count, uint64_t id)
{
    for (size_t i = 0; i < *count; i++)
        if ((*ids)[i] == id)
            return true;
    uint64_t *grown = pli_grow_array(arena, *ids, *count, sizeof **ids);
    if (grown) {
        *ids = grown;
        grown[(*count)++] = id;
    }
    return false;
}

static void read_packages(pli_probe_context *context, pli_topology *t)
{
    pli_cpuset covered = {0}, set;
    uint64_t *ids = NULL, id;
    size_t id_count = 0;
    bool gaps = false;
    for (size_t c = pli_cpuset_next(&t->online, 0); c != SIZE_MAX;
         c = pli_cpuset_next(&t->online, c + 1)) {
        if (pli_cpuset_has(&covered, c) || !siblings(context, t, c, package_files, &gaps, &set))
            continue;
        cover(context->scratch, &covered, &set);
        if (pli_cpuset_count(&set) > 1 || !package_id(context, c, &id) ||
            !seen_before(context->scratch, &ids, &id_count, id))
            t->sockets++;
    }
    if (t->sockets)
        t->sockets_source = "sysfs";
}

/* ---- from cpuinfo ---------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* x86 without topology files: (physical id, core id) of each processor. Elsewhere those keys mean
 * other things. */
static void from_cpuinfo(pli_probe_context *context, const pli_cpuinfo *info, pli_topology *t)
{
    size_t n = info->core_count, run = 0;
    if (!info->x86 || n == 0 || n != info->processors)
        return;
    uint64_t *cores = pli_alloc_array(context->scratch, n, sizeof *cores);
    if (!cores)
        return;
    memcpy(cores, info->cores, n * sizeof *cores);
    qsort(cores, n, sizeof *cores, compare_u64);
    for (size_t i = 0; i < n; i++) {
        bool new_core = i == 0 || cores[i] != cores[i - 1];
        bool new_socket = i == 0 || cores[i] >> 32 != cores[i - 1] >> 32;
        t->cores += new_core;
        t->sockets += new_socket;
        run = new_core ? 1 : run + 1;
        if (run > t->threads_per_core)
            t->threads_per_core = run;
    }
    t->sockets_source = t->cores_source = "cpuinfo";
}

void pli_topology_read(pli_probe_context *context, const pli_cpuinfo *info, pli_topology *out)
{
    *out = (pli_topology){0};
    read_online(context, info, out);
    size_t first = pli_cpuset_next(&out->online, 0);
    if (first == SIZE_MAX)
        return;
    read_cores(context, out);
    read_packages(context, out);
    if (!out->cores && !out->sockets)
        from_cpuinfo(context, info, out);
}
