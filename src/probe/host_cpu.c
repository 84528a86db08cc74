/* Processors: who made them, how many, what they can, and how many of them this process may use. */
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "caches.h"
#include "cgroup.h"
#include "core_kinds.h"
#include "cpuinfo.h"
#include "shared.h"
#include "topology.h"

/* ---- Arm cores ------------------------------------------------------------------------------- */

#define ANY UINT64_MAX /* for a part: its maker */

static const char *arm_name(uint64_t implementer, uint64_t part)
{
    static const struct {
        uint64_t implementer, part;
        const char *name;
    } rows[] = {
#define ARM_CORE(implementer, part, name) {implementer, part, name},
#include "../know/arm_cores.def"
#undef ARM_CORE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].implementer == implementer && rows[i].part == part)
            return rows[i].name;
    return NULL;
}

static void add_arm_core(pli_inventory *inv, plim_cpu *cpu, const pli_arm_kind *kind, bool counted)
{
    plim_arm_core *core = PLI_NEW(inv->arena, arm_core);
    if (!core)
        return;
    PLI_SET_STR(arm_core, core, implementer,
                pli_printf(inv->arena, "0x%02llx", (unsigned long long)kind->implementer),
                "cpuinfo");
    PLI_SET_STR(arm_core, core, part,
                pli_printf(inv->arena, "0x%03llx", (unsigned long long)kind->part), "cpuinfo");
    PLI_SET_STR(arm_core, core, name, arm_name(kind->implementer, kind->part), "table");
    if (counted)
        PLI_SET(arm_core, core, count, kind->count, "cpuinfo");
    if (pli_items_add(inv->arena, &cpu->arm_cores, core))
        pli_mark(&cpu->head, PLIM_F_cpu_arm_cores, "cpuinfo");
}

static void arm_cores(pli_inventory *inv, plim_cpu *cpu, const pli_cpuinfo *info)
{
    /* Kernels before 3.8 tell the part of one CPU and no more. */
    bool all_told = info->arm_processors >= info->processors;
    for (size_t i = 0; i < info->arm_count; i++)
        add_arm_core(inv, cpu, &info->arm[i], all_told);
    if (info->arm_count && !PLIM_KNOWN(cpu, cpu, vendor))
        PLI_SET_STR(cpu, cpu, vendor, arm_name(info->arm[0].implementer, ANY), "table");
}

/* ---- CPUID, where there is no cpuinfo -------------------------------------------------------- */

static void put_register(char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (char)(value >> (i * 8) & 0xff);
}

static void cpuid_names(pli_probe_context *context, plim_cpu *cpu)
{
    pli_machine *m = context->m;
    char vendor[12], brand[48];
    uint32_t r[4] = {0};
    if (!m->ops->cpuid(m, 0, 0, r))
        return;
    put_register(vendor, r[1]); /* EBX, EDX, ECX */
    put_register(vendor + 4, r[3]);
    put_register(vendor + 8, r[2]);
    PLI_SET_STR(cpu, cpu, vendor, pli_text(context->inv, pli_field_str(vendor, sizeof vendor)),
                "cpuid");
    if (!m->ops->cpuid(m, 0x80000000u, 0, r) || r[0] < 0x80000004u)
        return;
    for (uint32_t i = 0; i < 12; i++) {
        if (i % 4 == 0 && !m->ops->cpuid(m, 0x80000002u + i / 4, 0, r))
            return;
        put_register(brand + (size_t)i * 4, r[i % 4]);
    }
    PLI_SET_STR(cpu, cpu, brand, pli_text(context->inv, pli_field_str(brand, sizeof brand)),
                "cpuid");
}

/* ---- instruction sets ------------------------------------------------------------------------ */

static void instruction_sets(pli_probe_context *context, plim_cpu *cpu, const pli_cpuinfo *info)
{
    pli_isa own = info->isa, *isa = &own;
    const char *source = "cpuinfo";
    bool weak = !isa->known || pli_starts(info->brand, "POWER"); /* its cpuinfo names one unit */
    if (weak) {
        pli_isa told = {{0}, false, {NULL, 0}};
        pli_isa_from_auxv(&told, context->m);
        if (told.known) {
            *isa = told;
            source = "auxv";
        }
    }
    if (!isa->known && info->processors == 0) {
        pli_isa_from_cpuid(isa, context->m);
        source = "cpuid";
    }
    if (!isa->known)
        return;
    pli_isa_ask_consent(isa, context->m);
    PLI_SET(cpu, cpu, isa, pli_isa_names(isa, context->inv->arena), source);
}

/* ---- what this process may use --------------------------------------------------------------- */

/* The kernel's answer is already cut with the cpuset. It refuses a mask that is shorter than its
 * own; most have room for less than 1,024 CPUs. */
static bool affinity(pli_probe_context *context, pli_cpuset *out)
{
    unsigned char mask[PLI_MAX_CPUS / 8];
    size_t n = 0;
    *out = (pli_cpuset){0};
    if (pli_query(context->m, "-", "host.affinity", NULL, 0, mask, 128, &n) != PLIM_OK &&
        pli_query(context->m, "-", "host.affinity", NULL, 0, mask, sizeof mask, &n) != PLIM_OK)
        return false;
    for (size_t cpu = n * 8; cpu-- > 0;)
        if ((mask[cpu / 8] >> (cpu % 8)) & 1)
            (void)pli_cpuset_add(context->scratch, out, cpu);
    return n > 0;
}

/* On a tree: what the recorded process was allowed, cut with its cpuset. */
static bool recorded_affinity(pli_probe_context *context, pli_cpuset *out)
{
    static const char *const files[] = {"cpuset.cpus.effective", "cpuset.effective_cpus",
                                        "cpuset.cpus"};
    pli_str status, list;
    pli_cgroup group;
    bool known = pli_read(context->m, context->scratch, "/proc/self/status", &status) == PLIM_OK &&
                 pli_find_value(status, "Cpus_allowed_list", ':', &list) &&
                 pli_cpuset_parse_list(context->scratch, list, out);
    if (!pli_cgroup_find(context, "cpuset", &group))
        return known;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pli_cpuset set;
        list = pli_cgroup_read(context, &group, files[i]);
        if (list.n == 0 || !pli_cpuset_parse_list(context->scratch, list, &set))
            continue;
        if (known)
            pli_cpuset_and(out, &set);
        else
            *out = set;
        return true;
    }
    return known;
}

static void usable(pli_probe_context *context, plim_cpu *cpu, const pli_topology *t)
{
    pli_cpuset allowed = {0};
    const char *source = "affinity";
    if (!affinity(context, &allowed)) {
        source = "cgroup";
        if (!recorded_affinity(context, &allowed))
            return;
    }
    if (t->logical)
        pli_cpuset_and(&allowed, &t->online);
    size_t count = pli_cpuset_count(&allowed);
    if (count)
        PLI_SET(cpu, cpu, usable_cpus, count, source);
}

/* "max 100000" or "600000 100000" (v2), two files (v1). False: no limit. */
static bool quota_of(pli_probe_context *context, const pli_cgroup *group, double *cpus)
{
    pli_str quota, period;
    uint64_t q, p;
    if (group->v2) {
        pli_str line = pli_cgroup_read(context, group, "cpu.max");
        if (!pli_next_word(&line, &quota) || !pli_next_word(&line, &period))
            return false;
    } else {
        quota = pli_cgroup_read(context, group, "cpu.cfs_quota_us");
        if (quota.n == 0 || quota.p[0] == '-')
            return false;
        period = pli_cgroup_read(context, group, "cpu.cfs_period_us");
    }
    if (!pli_parse_u64(quota, &q) || !pli_parse_u64(period, &p) || q == 0 || p == 0)
        return false;
    *cpus = (double)q / (double)p;
    return true;
}

static void quota(pli_probe_context *context, plim_cpu *cpu)
{
    pli_cgroup group;
    double cpus;
    if (!pli_cgroup_find(context, "cpu", &group))
        return;
    do
        if (quota_of(context, &group, &cpus) &&
            (!PLIM_KNOWN(cpu, cpu, quota_cpus) || cpus < cpu->quota_cpus))
            PLI_SET(cpu, cpu, quota_cpus, cpus, "cgroup");
    while (pli_cgroup_up(&group));
}

/* ---- all together ---------------------------------------------------------------------------- */

static void counts(pli_inventory *inv, plim_cpu *cpu, const pli_topology *t)
{
    if (t->logical)
        PLI_SET(cpu, cpu, logical_cpus, t->logical, t->logical_source);
    if (pli_cpuset_count(&t->online) == t->logical && t->logical)
        PLI_SET_STR(cpu, cpu, online_cpus, pli_cpuset_list(inv->arena, &t->online),
                    t->logical_source);
    if (t->sockets)
        PLI_SET(cpu, cpu, sockets, t->sockets, t->sockets_source);
    if (t->cores) {
        PLI_SET(cpu, cpu, physical_cores, t->cores, t->cores_source);
        PLI_SET(cpu, cpu, threads_per_core_max, t->threads_per_core, t->cores_source);
    }
}

static void run(pli_probe_context *context)
{
    pli_str text;
    pli_topology topology;
    plim_cpu *cpu = pli_cpu_of(context->inv);
    plim_status status = pli_read_shared(context, "/proc/cpuinfo", &text);
    const pli_cpuinfo *info = pli_shared_cpuinfo(context);
    if (!cpu || !info)
        return;
    if (status == PLIM_OK && pli_trim(text).n && info->processors == 0)
        pli_note_nonsense(context, "/proc/cpuinfo", "processor");
    PLI_SET_STR(cpu, cpu, vendor, pli_text(context->inv, info->vendor), "cpuinfo");
    PLI_SET_STR(cpu, cpu, brand, pli_text(context->inv, info->brand), "cpuinfo");
    if (status == PLIM_NOT_FOUND)
        cpuid_names(context, cpu);
    arm_cores(context->inv, cpu, info);
    instruction_sets(context, cpu, info);
    pli_topology_read(context, info, &topology);
    counts(context->inv, cpu, &topology);
    if (topology.logical) {
        pli_caches_read(context, &topology, cpu);
        pli_core_kinds_read(context, &topology, cpu);
        pli_frequencies_read(context, &topology, cpu);
    }
    usable(context, cpu, &topology);
    quota(context, cpu);
}

const pli_probe pli_probe_host_cpu = {.run = run};
