/* RAM and everything that bounds it. */
#include "scene.h"

/* 16 GiB, of which 12 GiB are available. */
static const char meminfo[] = "MemTotal:       16777216 kB\n"
                              "MemFree:         4194304 kB\n"
                              "MemAvailable:   12582912 kB\n"
                              "Buffers:          102400 kB\n"
                              "Cached:          8388608 kB\n"
                              "SwapTotal:       2097152 kB\n"
                              "SwapFree:        1048576 kB\n"
                              "CommitLimit:    10485760 kB\n"
                              "Committed_AS:    4194304 kB\n"
                              "HugePages_Total:       4\n"
                              "HugePages_Free:        3\n"
                              "Hugepagesize:       2048 kB\n";

static void put_v2(scene *s, const char *path)
{
    char line[256];
    (void)snprintf(line, sizeof line, "0::%s", path);
    put_file(s, "/proc/meminfo", meminfo);
    put_file(s, "/proc/self/cgroup", line);
    put_file(s, "/proc/self/mountinfo",
             "24 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
             "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate");
}

static void meminfo_is_read(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, total_bytes, 16 * GiB);
    assert_known(memory, m, free_bytes, 4 * GiB);
    assert_known(memory, m, available_bytes, 12 * GiB);
    assert_known(memory, m, swap_free_bytes, GiB);
    assert_known(memory, m, hugepages_total, 4);
    assert_known(memory, m, hugepages_free, 3);
    assert_known(memory, m, hugepage_size_bytes, 2 * MiB);
    assert_known(memory, m, usable_bytes, 12 * GiB);
    assert_text(memory, m, usable_source, "available");
    assert_unknown(memory, m, limit_bytes);
    assert_unknown(memory, m, cma_total_bytes);
    assert_unknown(memory, m, pressure_some_avg10);
    scene_end(&s);
}

/* The parent's limit binds; the leaf's cache can be given back, dirty pages not at once. */
static void the_smallest_limit_on_the_way_up_binds(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_v2(&s, "/a/b/c");
    put_file(&s, "/sys/fs/cgroup/a/b/c/memory.max", "8589934592"); /* 8 GiB, 7 used, 5 cache */
    put_file(&s, "/sys/fs/cgroup/a/b/c/memory.high", "max");
    put_file(&s, "/sys/fs/cgroup/a/b/c/memory.current", "7516192768");
    put_file(&s, "/sys/fs/cgroup/a/b/c/memory.stat",
             "anon 2147483648\ninactive_file 4294967296\nactive_file 536870912\n"
             "slab_reclaimable 536870912\nfile_dirty 0\n");
    put_file(&s, "/sys/fs/cgroup/a/b/memory.max", "max");
    put_file(&s, "/sys/fs/cgroup/a/memory.max", "6442450944"); /* 6 GiB, 3 used, 1 of it dirty */
    put_file(&s, "/sys/fs/cgroup/a/memory.high", "5368709120");
    put_file(&s, "/sys/fs/cgroup/a/memory.current", "3221225472");
    put_file(&s, "/sys/fs/cgroup/a/memory.stat", "inactive_file 1073741824\nfile_dirty 1073741824");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, limit_bytes, 5 * GiB);
    assert_text(memory, m, limit_source, "cgroup /a");
    assert_known(memory, m, usable_bytes, 2 * GiB);
    assert_text(memory, m, usable_source, "cgroup /a");
    assert_known(memory, m, available_bytes, 12 * GiB);
    scene_end(&s);
}

static void what_is_used_up_is_nothing_not_less(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_v2(&s, "/a");
    put_file(&s, "/sys/fs/cgroup/a/memory.max", "1073741824");
    put_file(&s, "/sys/fs/cgroup/a/memory.current", "2147483648");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, usable_bytes, 0);
    scene_end(&s);
}

/* v1: a large number is no limit; ancestors outside of the container show in memory.stat. */
static void version_1_has_its_own_words(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    put_file(&s, "/proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n");
    put_file(&s, "/proc/self/mountinfo",
             "36 35 0:32 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
    put_file(&s, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    put_file(&s, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "3221225472");
    put_file(&s, "/sys/fs/cgroup/memory/memory.stat",
             "cache 5\nhierarchical_memory_limit 4294967296\ntotal_inactive_file 1073741824\n"
             "total_active_file 1073741824");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, limit_bytes, 4 * GiB);
    assert_known(memory, m, usable_bytes, 3 * GiB);
    scene_end(&s);
}

/* Hybrid: memory is with v1, a v2 hierarchy is there for systemd. */
static void a_hybrid_has_memory_in_version_1(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    put_file(&s, "/proc/self/cgroup", "4:memory:/job\n1:name=systemd:/job\n0::/wrong\n");
    put_file(&s, "/proc/self/mountinfo",
             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put_file(&s, "/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648");
    put_file(&s, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    put_file(&s, "/sys/fs/cgroup/unified/wrong/memory.max", "1073741824");
    const plim_machine *machine = detect(&s);
    assert_known(memory, machine->memory, limit_bytes, 2 * GiB);
    assert_text(environment, machine->environment, cgroup_version, "hybrid");
    scene_end(&s);
}

/* A cgroup namespace that was entered from outside shows "/../..": the mount point is all there
 * is. Nothing above it is asked. */
static void a_root_outside_falls_back_to_the_mount(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    put_file(&s, "/proc/self/cgroup", "0::/../../other\n");
    put_file(&s, "/proc/self/mountinfo",
             "30 23 0:26 /../.. /sys/fs/cgroup\\040x rw - cgroup2 cgroup2 rw");
    put_file(&s, "/sys/fs/cgroup\\040x/memory.max", "3221225472");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, limit_bytes, 3 * GiB);
    assert_text(memory, m, limit_source, "cgroup /");
    scene_end(&s);
}

static void a_level_that_is_closed_is_noted(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_v2(&s, "/a/b");
    put(&s, "denied /sys/fs/cgroup/a/b/memory.max", "");
    put_file(&s, "/sys/fs/cgroup/a/memory.max", "1073741824");
    const plim_machine *machine = detect(&s);
    assert_known(memory, machine->memory, limit_bytes, GiB);
    assert_true(has_note(machine, "host_memory", "/sys/fs/cgroup/a/b/memory.max"));
    scene_end(&s);
}

static void the_process_has_limits_too(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s); /* address space 2 GiB, data and locked memory unlimited */
    put_file(&s, "/proc/meminfo", meminfo);
    put(&s, "query - host.rlimit hex", "0000008000000000ffffffffffffffffffffffffffffffff");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, rlimit_bytes, 2 * GiB);
    assert_known(memory, m, usable_bytes, 2 * GiB);
    assert_text(memory, m, limit_source, "rlimit");
    scene_end(&s);
    scene_begin(&s); /* none: nothing is known */
    put_file(&s, "/proc/meminfo", meminfo);
    put(&s, "query - host.rlimit hex", "ffffffffffffffffffffffffffffffffffffffffffffffff");
    m = detect(&s)->memory;
    assert_unknown(memory, m, rlimit_bytes);
    assert_known(memory, m, usable_bytes, 12 * GiB);
    scene_end(&s);
}

static void strict_overcommit_bounds(void **state)
{
    scene s;
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        scene_begin(&s);
        put_file(&s, "/proc/meminfo", meminfo);
        put_file(&s, "/proc/sys/vm/overcommit_memory", mode == 0 ? "0" : mode == 1 ? "1" : "2");
        assert_known(memory, detect(&s)->memory, usable_bytes, (mode == 2 ? 6 : 12) * GiB);
        scene_end(&s);
    }
}

static void slurm_grants_a_part(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    put(&s, "env SLURM_JOB_ID", "4711");
    put(&s, "env SLURM_MEM_PER_CPU", "1024");
    put(&s, "env SLURM_CPUS_ON_NODE", "6");
    const plim_machine *machine = detect(&s);
    assert_known(memory, machine->memory, usable_bytes, 6 * GiB);
    assert_text(memory, machine->memory, limit_source, "slurm");
    assert_known(environment, machine->environment, slurm_memory_bytes, 6 * GiB);
    assert_text(environment, machine->environment, slurm_job_id, "4711");
    scene_end(&s);
    scene_begin(&s); /* --mem=0: all of the node */
    put_file(&s, "/proc/meminfo", meminfo);
    put(&s, "env SLURM_JOB_ID", "4711");
    put(&s, "env SLURM_MEM_PER_NODE", "0");
    machine = detect(&s);
    assert_unknown(memory, machine->memory, limit_bytes);
    assert_unknown(environment, machine->environment, slurm_memory_bytes);
    scene_end(&s);
}

/* ZFS keeps its cache outside of the page cache: 5 GiB, of which 1 stays. */
static void the_cache_of_zfs_is_given_back(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 4194304 kB\n");
    put_file(&s, "/proc/spl/kstat/zfs/arcstats",
             "13 1 0x01 123 33456 1 2\nname                            type data\n"
             "c_min                           4    1073741824\n"
             "size                            4    5368709120\n");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, arc_bytes, 5 * GiB);
    assert_known(memory, m, available_bytes, 4 * GiB);
    assert_known(memory, m, usable_bytes, 8 * GiB);
    scene_end(&s);
}

/* Linux 3.10 without MemAvailable: free 1 GiB and file pages 4 GiB, less the low watermark
 * (64 MiB min_free x 5/4 = 80 MiB) once from what is free and once from the cache. Shared memory
 * is not counted. */
static void old_kernels_do_not_tell_what_is_available(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo",
             "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nCached: 6291456 kB\n"
             "Active(file): 3145728 kB\nInactive(file): 1048576 kB\nShmem: 2097152 kB\n");
    put_file(&s, "/proc/sys/vm/min_free_kbytes", "65536");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, available_bytes, 5 * GiB - 160 * MiB);
    assert_known(memory, m, usable_bytes, 5 * GiB - 160 * MiB);
    scene_end(&s);
}

/* POWER9 with a V100: 16 of 48 GiB are the GPU's, by the driver's word or by the node's number. */
static void memory_of_a_gpu_is_no_ram(void **state)
{
    static const char *const tells[][2] = {
        {"/proc/driver/nvidia/gpus/0004:04:00.0/numa_status", "Node: 255\nStatus: online\n"},
        {"/proc/cpuinfo", "processor : 0\ncpu : POWER9, altivec supported\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(tells); i++) {
        scene s;
        scene_begin(&s);
        put_file(&s, "/proc/meminfo",
                 "MemTotal: 50331648 kB\nMemFree: 33554432 kB\nMemAvailable: 41943040 kB\n");
        put_file(&s, "/sys/devices/system/node/node0/cpulist", "0-7");
        put_file(&s, "/sys/devices/system/node/node0/meminfo",
                 "Node 0 MemTotal: 33554432 kB\nNode 0 MemFree: 16777216 kB\n");
        put_file(&s, "/sys/devices/system/node/node255/cpulist", "");
        put_file(&s, "/sys/devices/system/node/node255/meminfo",
                 "Node 255 MemTotal: 16777216 kB\nNode 255 MemFree: 15728640 kB\n"
                 "Node 255 FilePages: 1048576 kB\nNode 255 Shmem: 0 kB\n");
        put_file(&s, "/sys/devices/system/node/node255/distance", "80 10");
        put_file(&s, tells[i][0], tells[i][1]);
        const plim_machine *machine = detect(&s);
        const plim_memory *m = machine->memory;
        assert_known(memory, m, total_bytes, 32 * GiB);
        assert_known(memory, m, free_bytes, 17 * GiB);
        assert_known(memory, m, available_bytes, 24 * GiB);
        assert_known(memory, m, gpu_numa_bytes, 16 * GiB);
        assert_int_equal(machine->numa->nodes.count, 2);
        const plim_numa_node *ram = machine->numa->nodes.items[0];
        const plim_numa_node *gpu = machine->numa->nodes.items[1];
        assert_unknown(numa_node, ram, gpu_memory);
        assert_known(numa_node, gpu, gpu_memory, true);
        assert_known(numa_node, gpu, id, 255);
        assert_text(numa_node, gpu, cpus, "");
        assert_int_equal(gpu->distances.count, 2);
        assert_int_equal(gpu->distances.items[0], 80);
        scene_end(&s);
    }
}

/* Memory of its own kind (PMEM, CXL) is RAM, also where no CPU is near. */
static void memory_without_cpus_is_ram(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo", "processor : 0\nmodel name : Intel(R) Xeon(R)\nflags : fpu\n");
    put_file(&s, "/proc/meminfo", "MemTotal: 50331648 kB\nMemAvailable: 41943040 kB\n");
    put_file(&s, "/sys/devices/system/node/node0/cpulist", "0-7");
    put_file(&s, "/sys/devices/system/node/node255/cpulist", "");
    put_file(&s, "/sys/devices/system/node/node255/meminfo", "Node 255 MemTotal: 16777216 kB\n");
    const plim_machine *machine = detect(&s);
    assert_known(memory, machine->memory, total_bytes, 48 * GiB);
    assert_unknown(memory, machine->memory, gpu_numa_bytes);
    assert_known(numa, machine->numa, node_count, 2);
    scene_end(&s);
}

/* A cpuset keeps the process to node 1: free, and cache that is not shared memory. */
static void a_cpuset_of_nodes_bounds(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", meminfo);
    put_file(&s, "/proc/self/status", "Mems_allowed_list:\t1\n");
    put_file(&s, "/sys/devices/system/node/has_memory", "0-1");
    put_file(&s, "/sys/devices/system/node/node1/meminfo",
             "Node 1 MemTotal: 8388608 kB\nNode 1 MemFree: 1048576 kB\n"
             "Node 1 FilePages: 3145728 kB\nNode 1 Shmem: 1048576 kB\n");
    const plim_memory *m = detect(&s)->memory;
    assert_known(memory, m, limit_bytes, 8 * GiB);
    assert_known(memory, m, usable_bytes, 3 * GiB);
    assert_text(memory, m, usable_source, "cpuset.mems");
    scene_end(&s);
}

static void pressure_and_fragmentation(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put(&s, "facts", "os=linux\npage_size=4096");
    put_file(&s, "/proc/meminfo", meminfo);
    put_file(&s, "/proc/pressure/memory",
             "some avg10=1.50 avg60=0.25 avg300=0.00 total=17\n"
             "full avg10=0.75 avg60=0.00 avg300=0.00 total=3\n");
    put_file(&s, "/proc/buddyinfo",
             "Node 0, zone      DMA      1      0      0      0      0      0      0      0      0 "
             "     0      2\n"
             "Node 0, zone   Normal     10      5      0      0      0      0      0      0      1 "
             "     3      0\n");
    const plim_memory *m = detect(&s)->memory;
    assert_true(PLIM_KNOWN(memory, m, pressure_some_avg10) && m->pressure_some_avg10 > 1.49 &&
                m->pressure_some_avg10 < 1.51);
    assert_true(PLIM_KNOWN(memory, m, pressure_full_avg60));
    /* pages: 1 + 2 x 1024, 10 + 5 x 2 + 256 + 3 x 512; in 2 MiB: 2 x 4 MiB + 3 x 2 MiB */
    assert_known(memory, m, fragmentation_free_bytes, (2049u + 1812u) * 4096u);
    assert_known(memory, m, fragmentation_huge_free_bytes, 14 * MiB);
    scene_end(&s);
    scene_begin(&s); /* psi=0: the file is there and cannot be read */
    put(&s, "file /proc/pressure/memory failed=UNSUPPORTED", "");
    const plim_machine *machine = detect(&s);
    assert_unknown(memory, machine->memory, pressure_some_avg10);
    assert_int_equal(machine->notes.count, 0);
    scene_end(&s);
}

static void meminfo_without_sense_is_noted(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/meminfo", "MemTotal: lots\nMemFree: 99999999999999999999 kB\n");
    const plim_machine *machine = detect(&s);
    assert_unknown(memory, machine->memory, total_bytes);
    assert_unknown(memory, machine->memory, free_bytes);
    assert_unknown(memory, machine->memory, usable_bytes);
    assert_true(has_note(machine, "host_memory", "/proc/meminfo"));
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meminfo_is_read),
        cmocka_unit_test(the_smallest_limit_on_the_way_up_binds),
        cmocka_unit_test(what_is_used_up_is_nothing_not_less),
        cmocka_unit_test(version_1_has_its_own_words),
        cmocka_unit_test(a_hybrid_has_memory_in_version_1),
        cmocka_unit_test(a_root_outside_falls_back_to_the_mount),
        cmocka_unit_test(a_level_that_is_closed_is_noted),
        cmocka_unit_test(the_process_has_limits_too),
        cmocka_unit_test(strict_overcommit_bounds),
        cmocka_unit_test(slurm_grants_a_part),
        cmocka_unit_test(the_cache_of_zfs_is_given_back),
        cmocka_unit_test(old_kernels_do_not_tell_what_is_available),
        cmocka_unit_test(memory_of_a_gpu_is_no_ram),
        cmocka_unit_test(memory_without_cpus_is_ram),
        cmocka_unit_test(a_cpuset_of_nodes_bounds),
        cmocka_unit_test(pressure_and_fragmentation),
        cmocka_unit_test(meminfo_without_sense_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
