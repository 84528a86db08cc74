/* Counting processors on machines that lie, have holes, or have parts switched off. */
#include "scene.h"

#define CPUS "/sys/devices/system/cpu"

static void put_topology(scene *s, unsigned cpu, const char *core, const char *package)
{
    put_cpu(s, cpu, "topology/core_cpus", core);
    put_cpu(s, cpu, "topology/package_cpus", package);
}

static void put_cache(scene *s, unsigned cpu, unsigned index, const char *level, const char *type,
                      const char *size, const char *shared)
{
    char folder[64];
    const char *const files[] = {"level", "type", "size", "shared_cpu_map"};
    const char *const bodies[] = {level, type, size, shared};
    for (size_t i = 0; i < COUNT(files); i++) {
        (void)snprintf(folder, sizeof folder, "cache/index%u/%s", index, files[i]);
        put_cpu(s, cpu, folder, bodies[i]);
    }
}

/* Two cores of two threads; CPU 3 is switched off. */
static void a_sibling_that_is_offline_is_no_thread(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-2");
    put_topology(&s, 0, "3", "f");
    put_topology(&s, 1, "3", "f");
    put_topology(&s, 2, "c", "f");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 3);
    assert_known(cpu, cpu, physical_cores, 2);
    assert_known(cpu, cpu, sockets, 1);
    assert_known(cpu, cpu, threads_per_core_max, 2);
    assert_text(cpu, cpu, online_cpus, "0-2");
    scene_end(&s);
}

static void processors_may_have_sparse_numbers(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "8,40,1000");
    put_topology(&s, 8, "00000100", "00000100,00000100");
    put_topology(&s, 40, "00000100,00000000", "00000100,00000100");
    put_cpu(&s, 1000, "topology/thread_siblings_list", "1000");
    put_cpu(&s, 1000, "topology/core_siblings_list", "1000");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 3);
    assert_known(cpu, cpu, physical_cores, 3);
    assert_known(cpu, cpu, sockets, 2);
    assert_text(cpu, cpu, online_cpus, "8,40,1000");
    scene_end(&s);
}

/* The map is right where the list says something else. */
static void maps_beat_lists(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-1");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        put_cpu(&s, cpu, "topology/thread_siblings", cpu ? "2" : "1");
        put_cpu(&s, cpu, "topology/thread_siblings_list", "0-1");
        put_cache(&s, cpu, 0, "1", "Data", "32K", cpu ? "2" : "1");
        put_cpu(&s, cpu, "cache/index0/shared_cpu_list", "0-1");
    }
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, physical_cores, 2);
    assert_unknown(cpu, cpu, sockets); /* no file tells packages */
    assert_known(cache, cpu->l1d, instances, 2);
    assert_known(cache, cpu->l1d, total_bytes, 65536);
    scene_end(&s);
}

/* A phone: each cluster or each CPU is a package of its own, and all have the same id. */
static void a_phone_is_one_socket(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-3");
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        char one[2] = {(char)('0' + (1 << cpu)), '\0'};
        put_topology(&s, cpu, one, one);
        put_cpu(&s, cpu, "topology/physical_package_id", "0");
        put_cpu(&s, cpu, "cpu_capacity", cpu < 2 ? "400" : "1024");
        put_cpu(&s, cpu, "cpufreq/cpuinfo_max_freq", cpu < 2 ? "1804800" : "2419200");
    }
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, sockets, 1);
    assert_known(cpu, cpu, physical_cores, 4);
    assert_int_equal(cpu->core_kinds.count, 2);
    const plim_core_kind *p = cpu->core_kinds.items[0], *e = cpu->core_kinds.items[1];
    assert_string_equal(p->kind, "P");
    assert_string_equal(p->cpus, "2-3");
    assert_string_equal(e->kind, "E");
    assert_int_equal(e->count, 2);
    assert_int_equal(cpu->max_freq_khz.count, 2);
    assert_int_equal(cpu->max_freq_khz.items[0], 2419200);
    scene_end(&s);
}

/* POWER: an id of -1 says nothing, so each lone CPU stays a package. */
static void an_id_of_minus_one_groups_nothing(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-1");
    put_topology(&s, 0, "1", "1");
    put_topology(&s, 1, "2", "2");
    put_cpu(&s, 0, "topology/physical_package_id", "-1");
    put_cpu(&s, 1, "topology/physical_package_id", "-1");
    assert_known(cpu, detect(&s)->cpu, sockets, 2);
    scene_end(&s);
}

static void an_intel_hybrid_has_its_units(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-5");
    put_file(&s, "/sys/devices/cpu_core/cpus", "0-1");
    put_file(&s, "/sys/devices/cpu_atom/cpus", "2-3,7");
    put_file(&s, "/sys/devices/cpu_lowpower/cpus", "4-5");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_int_equal(cpu->core_kinds.count, 3);
    const plim_core_kind *e = cpu->core_kinds.items[1], *low = cpu->core_kinds.items[2];
    assert_string_equal(e->cpus, "2-3"); /* 7 is offline */
    assert_int_equal(e->count, 2);
    assert_string_equal(low->kind, "LP-E");
    scene_end(&s);
}

static void all_cores_alike_are_no_hybrid(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-1");
    put_cpu(&s, 0, "cpu_capacity", "1010");
    put_cpu(&s, 1, "cpu_capacity", "1024");
    assert_unknown(cpu, detect(&s)->cpu, core_kinds);
    scene_end(&s);
}

/* Two P-cores with a third level, one E-core module of two without, one cache without a size. */
static void caches_are_counted_once_each(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-3");
    put_cache(&s, 0, 0, "1", "Data", "48K", "1");
    put_cache(&s, 0, 1, "1", "Instruction", "32K", "1");
    put_cache(&s, 0, 2, "2", "Unified", "2048K", "1");
    put_cache(&s, 0, 3, "3", "Unified", "24M", "3");
    put_cache(&s, 1, 0, "1", "Data", "48K", "2");
    put_cache(&s, 1, 1, "1", "Instruction", "32K", "2");
    put_cache(&s, 1, 2, "2", "Unified", "2048K", "2");
    put_cache(&s, 1, 3, "3", "Unified", "24M", "3");
    put_cache(&s, 2, 0, "1", "Data", "32K", "4");
    put_cache(&s, 2, 1, "1", "Instruction", "", "4");
    put_cache(&s, 2, 2, "2", "Unified", "4096K", "c");
    put_cache(&s, 3, 0, "1", "Data", "32K", "8");
    put_cache(&s, 3, 1, "1", "Instruction", "64K", "8");
    put_cache(&s, 3, 2, "2", "Unified", "4096K", "c");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cache, cpu->l1d, instances, 4);
    assert_known(cache, cpu->l1d, total_bytes, (48 + 48 + 32 + 32) * 1024);
    assert_known(cache, cpu->l1i, instances, 3);
    assert_known(cache, cpu->l1i, total_bytes, (32 + 32 + 64) * 1024);
    assert_known(cache, cpu->l2, instances, 3);
    assert_known(cache, cpu->l2, total_bytes, 8 * MiB);
    assert_known(cache, cpu->l3, instances, 1);
    const plim_cache_size *largest = cpu->l1d->sizes.items[0];
    assert_int_equal(largest->size_bytes, 48 * 1024);
    assert_int_equal(largest->count, 2);
    scene_end(&s);
}

/* Without topology files x86 tells pairs of package and core; elsewhere the keys mean other
 * things. */
static void cpuinfo_alone_counts_x86(void **state)
{
    static const char body[] = "processor : 0\nflags : fpu\nphysical id : 0\ncore id : 0\n\n"
                               "processor : 1\nflags : fpu\nphysical id : 1\ncore id : 0\n\n"
                               "processor : 2\nflags : fpu\nphysical id : 0\ncore id : 0\n\n"
                               "processor : 3\nflags : fpu\nphysical id : 1\ncore id : 9\n";
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo", body);
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 4);
    assert_known(cpu, cpu, sockets, 2);
    assert_known(cpu, cpu, physical_cores, 3);
    assert_known(cpu, cpu, threads_per_core_max, 2);
    scene_end(&s);
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo",
             "vendor_id : IBM/S390\nprocessor 0: version = FF\nprocessor 1: version = FF\n\n"
             "cpu number : 0\nphysical id : 1\ncore id : 1\n");
    cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 2);
    assert_text(cpu, cpu, vendor, "IBM/S390");
    assert_unknown(cpu, cpu, sockets);
    assert_unknown(cpu, cpu, physical_cores);
    scene_end(&s);
}

/* sysfs beats cpuinfo, which lists what the firmware lists. */
static void folders_count_where_online_is_absent(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_cpu(&s, 0, "topology/core_cpus", "1");
    put_cpu(&s, 1, "online", "1");
    put_cpu(&s, 2, "online", "0");
    put_file(&s, CPUS "/cpufreq/policy0/x", "");
    put_file(&s, "/proc/cpuinfo", "processor : 0\n\nprocessor : 1\n\nprocessor : 2\n");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 2);
    assert_unknown(cpu, cpu, physical_cores); /* CPU 1 tells nothing */
    scene_end(&s);
}

static void arm_cores_have_names(void **state)
{
    static const char body[] =
        "processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd05\n\n"
        "processor : 1\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd05\n\n"
        "processor : 2\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd0b\n\n"
        "processor : 3\nFeatures : fp asimd\nCPU implementer : 0x99\nCPU part : 0x123\n";
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo", body);
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_int_equal(cpu->arm_cores.count, 3);
    const plim_arm_core *a55 = cpu->arm_cores.items[0], *odd = cpu->arm_cores.items[2];
    assert_text(arm_core, a55, name, "Cortex-A55");
    assert_known(arm_core, a55, count, 2);
    assert_text(arm_core, odd, part, "0x123");
    assert_unknown(arm_core, odd, name);
    scene_end(&s);
    scene_begin(&s); /* an old kernel tells of one CPU for all: how many there are is not told */
    put_file(&s, "/proc/cpuinfo",
             "Processor : ARMv7\nprocessor : 0\n\nprocessor : 1\n\n"
             "Features : neon\nCPU implementer : 0x41\nCPU part : 0xc09\n");
    cpu = detect(&s)->cpu;
    const plim_arm_core *a9 = cpu->arm_cores.items[0];
    assert_text(arm_core, a9, name, "Cortex-A9");
    assert_unknown(arm_core, a9, count);
    scene_end(&s);
}

static void affinity_and_quota_bound_what_is_usable(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-7");
    put(&s, "query - host.affinity hex", "5503"); /* 0 2 4 6 8 9 */
    put_file(&s, "/proc/self/cgroup", "0::/a/b");
    put_file(&s, "/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw");
    put_file(&s, "/sys/fs/cgroup/a/b/cpu.max", "max 100000");
    put_file(&s, "/sys/fs/cgroup/a/cpu.max", "250000 100000");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 8);
    assert_known(cpu, cpu, usable_cpus, 4);
    assert_true(PLIM_KNOWN(cpu, cpu, quota_cpus) && cpu->quota_cpus > 2.49 &&
                cpu->quota_cpus < 2.51);
    scene_end(&s);
}

static void a_recorded_cpuset_bounds_what_was_usable(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, CPUS "/online", "0-31");
    put_file(&s, "/proc/self/status", "Name: x\nCpus_allowed_list:\t0-15\n");
    put_file(&s, "/proc/self/cgroup", "3:cpuset:/job\n2:cpu,cpuacct:/job\n");
    put_file(&s, "/sys/fs/cgroup/cpuset/job/cpuset.cpus", "8-23");
    put_file(&s, "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
    put_file(&s, "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, usable_cpus, 8);
    assert_known(cpu, cpu, logical_cpus, 32);
    assert_unknown(cpu, cpu, quota_cpus);
    scene_end(&s);
}

/* 1,024 processors: the time of one pass, no more. */
static void many_processors_are_one_pass(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    assert_int_equal(pli_buf_addz(&s.text, "-- file /proc/cpuinfo --\n"), PLIM_OK);
    for (unsigned i = 0; i < 1024; i++)
        assert_int_equal(pli_buf_printf(&s.text,
                                        "processor : %u\nvendor_id : AuthenticAMD\nflags : fpu pni "
                                        "avx2 avx512f\nphysical id : %u\ncore id : %u\n\n",
                                        i, i / 512, i % 256),
                         PLIM_OK);
    const plim_cpu *cpu = detect(&s)->cpu;
    assert_known(cpu, cpu, logical_cpus, 1024);
    assert_known(cpu, cpu, sockets, 2);
    assert_known(cpu, cpu, physical_cores, 512);
    assert_text(cpu, cpu, online_cpus, "0-1023");
    scene_end(&s);
}

static void nothing_is_made_up(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put(&s, "facts", "os=linux");
    const plim_machine *m = detect(&s);
    assert_null(m->cpu);
    assert_null(m->memory);
    assert_null(m->numa);
    assert_null(m->environment);
    assert_unknown(machine, m, cpu);
    assert_unknown(machine, m, storage);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sibling_that_is_offline_is_no_thread),
        cmocka_unit_test(processors_may_have_sparse_numbers),
        cmocka_unit_test(maps_beat_lists),
        cmocka_unit_test(a_phone_is_one_socket),
        cmocka_unit_test(an_id_of_minus_one_groups_nothing),
        cmocka_unit_test(an_intel_hybrid_has_its_units),
        cmocka_unit_test(all_cores_alike_are_no_hybrid),
        cmocka_unit_test(caches_are_counted_once_each),
        cmocka_unit_test(cpuinfo_alone_counts_x86),
        cmocka_unit_test(folders_count_where_online_is_absent),
        cmocka_unit_test(arm_cores_have_names),
        cmocka_unit_test(affinity_and_quota_bound_what_is_usable),
        cmocka_unit_test(a_recorded_cpuset_bounds_what_was_usable),
        cmocka_unit_test(many_processors_are_one_pass),
        cmocka_unit_test(nothing_is_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
