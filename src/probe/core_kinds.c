#include "core_kinds.h"

#include <stdlib.h>

#include "../base/num.h"

enum { P, E, LP_E, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"P", "E", "LP-E"};

static void add_kind(pli_probe_context *context, plim_cpu *cpu, const char *kind,
                     const pli_cpuset *cpus, const char *source)
{
    pli_arena *arena = context->inv->arena;
    plim_core_kind *record = PLI_NEW(arena, core_kind);
    if (!record)
        return;
    PLI_SET(core_kind, record, kind, kind, source);
    PLI_SET_STR(core_kind, record, cpus, pli_cpuset_list(arena, cpus), source);
    PLI_SET(core_kind, record, count, pli_cpuset_count(cpus), source);
    if (pli_items_add(arena, &cpu->core_kinds, record))
        pli_mark(&cpu->head, PLIM_F_cpu_core_kinds, source);
}

/* A processor whose cores are all of one kind is not hybrid. */
static void set_kinds(pli_probe_context *context, plim_cpu *cpu, const pli_cpuset kinds[KIND_COUNT],
                      const char *source)
{
    size_t present = 0;
    for (size_t i = 0; i < KIND_COUNT; i++)
        present += pli_cpuset_count(&kinds[i]) > 0;
    for (size_t i = 0; present > 1 && i < KIND_COUNT; i++)
        if (pli_cpuset_count(&kinds[i]))
            add_kind(context, cpu, kind_names[i], &kinds[i], source);
}

/* Intel: one performance monitoring unit for each kind. */
static bool from_pmu(pli_probe_context *context, const pli_topology *t, pli_cpuset out[KIND_COUNT])
{
    static const char *const units[KIND_COUNT] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        pli_str list =
            pli_read_wordf(context->m, context->scratch, "/sys/devices/%s/cpus", units[i]);
        if (list.n == 0 && i == P)
            return false;
        if (list.n && pli_cpuset_parse_list(context->scratch, list, &out[i]))
            pli_cpuset_and(&out[i], &t->online);
    }
    return true;
}

static bool capacity_of(pli_probe_context *context, size_t cpu, uint64_t *capacity)
{
    return pli_read_u64f(context->m, context->scratch, capacity,
                         "/sys/devices/system/cpu/cpu%zu/cpu_capacity", cpu) &&
           *capacity > 0;
}

/* Arm: the scheduler's capacity of each CPU, 1024 for the fastest. Cores of one design differ by
 * some percent (bins, clocks), efficiency cores have less than three quarters of the fastest. */
static void from_capacity(pli_probe_context *context, const pli_topology *t,
                          pli_cpuset out[KIND_COUNT])
{
    uint64_t highest = 0, capacity;
    const pli_cpuset *online = &t->online;
    uint64_t *capacities =
        pli_alloc_array(context->scratch, online->count * 64, sizeof *capacities);
    for (size_t c = pli_cpuset_next(online, 0); capacities && c != SIZE_MAX;
         c = pli_cpuset_next(online, c + 1)) {
        if (!capacity_of(context, c, &capacity))
            return; /* no such file here, or not for all: nothing to compare */
        capacities[c] = capacity;
        if (capacity > highest)
            highest = capacity;
    }
    for (size_t c = pli_cpuset_next(online, 0); capacities && c != SIZE_MAX;
         c = pli_cpuset_next(online, c + 1)) {
        bool slow = pli_mul_sat(capacities[c], 4) < pli_mul_sat(highest, 3);
        (void)pli_cpuset_add(context->scratch, &out[slow ? E : P], c);
    }
}

void pli_core_kinds_read(pli_probe_context *context, const pli_topology *t, plim_cpu *cpu)
{
    pli_cpuset kinds[KIND_COUNT] = {{0}, {0}, {0}};
    if (!from_pmu(context, t, kinds))
        from_capacity(context, t, kinds);
    set_kinds(context, cpu, kinds, "sysfs");
}

static int highest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static bool contains(const uint64_t *items, size_t count, uint64_t item)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == item)
            return true;
    return false;
}

void pli_frequencies_read(pli_probe_context *context, const pli_topology *t, plim_cpu *cpu)
{
    uint64_t *found = NULL, khz;
    size_t count = 0;
    if (!pli_exists(context->m, "/sys/devices/system/cpu/cpufreq") &&
        !pli_existsf(context->m, context->scratch, "/sys/devices/system/cpu/cpu%zu/cpufreq",
                     pli_cpuset_next(&t->leaders, 0)))
        return;
    for (size_t c = pli_cpuset_next(&t->leaders, 0); c != SIZE_MAX;
         c = pli_cpuset_next(&t->leaders, c + 1)) {
        if (!pli_read_u64f(context->m, context->scratch, &khz,
                           "/sys/devices/system/cpu/cpu%zu/cpufreq/cpuinfo_max_freq", c) ||
            khz == 0 || contains(found, count, khz))
            continue;
        uint64_t *grown = pli_grow_array(context->inv->arena, found, count, sizeof *found);
        if (!grown)
            return;
        found = grown;
        found[count++] = khz;
    }
    if (count == 0)
        return;
    qsort(found, count, sizeof *found, highest_first);
    PLI_SET(cpu, cpu, max_freq_khz, ((plim_u64s){found, count}), "sysfs");
}
