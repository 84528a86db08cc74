/* Files of nonsense: every file that a host probe reads, in many damaged forms. Detection must end
 * well each time, and its document must be one. */
#include "scene.h"

#include <stdlib.h>

#define ROUNDS 3000

static const char *const files[][2] = {
    {"/proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nmodel name : X\nflags : fpu avx2 "
                      "amx_tile\nphysical id : 0\ncore id : 0\nCPU implementer : 0x41\nCPU part : "
                      "0xd0b\nisa : rv64imafdcv_zvfh\n\nprocessor : 1\nFeatures : asimd\n"},
    {"/proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 4194304 kB\nCached: 3 kB\nShmem: 1 kB\n"
                      "Active(file): 9 kB\nInactive(file): 7 kB\nHugePages_Total: 1\n"
                      "Hugepagesize: 2048 kB\nCommitLimit: 5 kB\nCommitted_AS: 1 kB\n"},
    {"/proc/self/cgroup", "5:cpu,cpuacct:/a/b\n4:memory,cpuset:/a/b\n0::/a/b/../c\n"},
    {"/proc/self/mountinfo",
     "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
     "36 35 0:32 /a /sys/fs/cgroup/memory ro a:1 - cgroup cgroup rw,memory\n"
     "1 0 0:31 / / rw - overlay overlay rw,lowerdir=/l:/m,upperdir=/u\n"},
    {"/proc/self/status", "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n"},
    {"/proc/pressure/memory", "some avg10=1.50 avg60=0.25\nfull avg10=0.75 avg60=0.00\n"},
    {"/proc/buddyinfo", "Node 0, zone   Normal     10      5      0      0      0      1\n"},
    {"/proc/spl/kstat/zfs/arcstats", "size 4 5368709120\nc_min 4 1\n"},
    {"/proc/sys/vm/overcommit_memory", "2"},
    {"/proc/sys/vm/min_free_kbytes", "65536"},
    {"/proc/driver/nvidia/gpus/0000:01:00.0/numa_status", "Node: 1\n"},
    {"/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "1073741824"},
    {"/sys/fs/cgroup/memory/b/memory.usage_in_bytes", "1073741823"},
    {"/sys/fs/cgroup/memory/b/memory.stat", "total_active_file 5\nhierarchical_memory_limit 6\n"},
    {"/sys/fs/cgroup/a/cpu.max", "100000 100000"},
    {"/sys/devices/system/cpu/online", "0-1,5"},
    {"/sys/devices/system/cpu/cpu0/topology/core_cpus", "3"},
    {"/sys/devices/system/cpu/cpu0/topology/package_cpus", "00000000,00000023"},
    {"/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0"},
    {"/sys/devices/system/cpu/cpu5/topology/thread_siblings_list", "5"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/level", "1"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/type", "Data"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/size", "32K"},
    {"/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_map", "3"},
    {"/sys/devices/system/cpu/cpu0/cpu_capacity", "1024"},
    {"/sys/devices/system/cpu/cpu1/cpu_capacity", "400"},
    {"/sys/devices/system/cpu/cpu5/cpu_capacity", "400"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2000000"},
    {"/sys/devices/cpu_core/cpus", "0-1"},
    {"/sys/devices/cpu_atom/cpus", "5"},
    {"/sys/devices/system/node/has_memory", "0-1"},
    {"/sys/devices/system/node/node1/cpulist", "0-1,5"},
    {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 8388608 kB\n"},
    {"/sys/devices/system/node/node1/distance", "10 20"},
    {"/sys/block/sda/size", "2000"},
    {"/sys/block/sda/queue/rotational", "1"},
    {"/sys/block/sda/device/model", "X"},
    {"/sys/class/dmi/id/sys_vendor", "QEMU"},
    {"/proc/sys/kernel/osrelease", "6.1-microsoft"},
};

static uint64_t seed = 20261121;

static unsigned chance(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

/* Pieces that readers trip over. */
static const char *const odd[] = {"18446744073709551615",
                                  "99999999999999999999999",
                                  "-1",
                                  "0-",
                                  "0-65535",
                                  "65536",
                                  "4294967296",
                                  ",,",
                                  ":",
                                  "\\777",
                                  "\t\t",
                                  "1e999",
                                  "nan",
                                  "\xff\xfe",
                                  "\033[31m",
                                  "..",
                                  "/../..",
                                  "kB",
                                  "0x",
                                  "ffffffff,ffffffff,ffffffff",
                                  "=",
                                  " - "};

static void damage(scene *s, const char *body)
{
    char text[2048];
    size_t n = strlen(body);
    memcpy(text, body, n);
    for (unsigned times = chance(4); times > 0 && n > 0; times--) {
        const char *piece = odd[chance(COUNT(odd))];
        size_t at = chance((unsigned)n), length = strlen(piece);
        switch (chance(4)) {
        case 0: /* a byte becomes another; a line that looks like a header is left to the parser */
            text[at] = (char)(1 + chance(127));
            break;
        case 1: /* the end is missing */
            n = at;
            break;
        case 2: /* a piece is put in */
            if (n + length < sizeof text) {
                memmove(text + at + length, text + at, n - at);
                memcpy(text + at, piece, length);
                n += length;
            }
            break;
        default: /* a piece over what is there */
            if (at + length < n)
                memcpy(text + at, piece, length);
        }
    }
    for (size_t i = 0; i + 2 < n; i++) /* the archive's own mark is not under test */
        if (memcmp(text + i, "-- ", 3) == 0)
            text[i] = '+';
    assert_int_equal(pli_buf_add(&s->text, text, n), PLIM_OK);
    assert_int_equal(pli_buf_addz(&s->text, "\n"), PLIM_OK);
}

static void detection_survives(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        scene s;
        char *text;
        scene_begin(&s);
        put(&s, "facts", "os=linux\narch=x86_64\npage_size=4096");
        for (size_t i = 0; i < COUNT(files); i++) {
            if (chance(20) == 0)
                continue; /* absent */
            assert_int_equal(pli_buf_printf(&s.text, "-- file %s --\n", files[i][0]), PLIM_OK);
            damage(&s, files[i][1]);
        }
        put(&s, "query - host.rlimit hex", "00");
        put(&s, "query - host.affinity hex", "ff");
        put(&s, "query - host.amx hex", "");
        const plim_machine *m = detect(&s);
        assert_int_equal(plim_machine_to_json(m, 0, &text, NULL), PLIM_OK);
        plim_text_free(text);
        if (m->memory && PLIM_KNOWN(memory, m->memory, usable_bytes) &&
            PLIM_KNOWN(memory, m->memory, total_bytes))
            assert_true(m->memory->usable_bytes <= m->memory->total_bytes);
        scene_end(&s);
    }
}

/* An allocator that fails once, and counts what is still allocated. */
struct shortage {
    unsigned until; /* allocations before the one that fails */
    size_t held;
};

static void *short_of_memory(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct shortage *shortage = user;
    if (new_size == 0) {
        free(ptr);
        shortage->held -= old_size;
        return NULL;
    }
    if (shortage->until-- == 0)
        return NULL;
    void *grown = realloc(ptr, new_size);
    assert_non_null(grown);
    shortage->held += new_size - old_size;
    return grown;
}

static void detection_survives_lack_of_memory(void **state)
{
    scene s;
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_status status = PLIM_NOMEM;
    (void)state;
    scene_begin(&s);
    put(&s, "facts", "os=linux\narch=x86_64\npage_size=4096");
    for (size_t i = 0; i < COUNT(files); i++)
        put_file(&s, files[i][0], files[i][1]);
    options.machine_text = s.text.p;
    options.machine_text_length = s.text.n;
    for (unsigned n = 0; n < 20000; n++) {
        struct shortage shortage = {n, 0};
        plim_config config = PLIM_CONFIG_INIT;
        plimsoll *context;
        plim_machine *m = NULL;
        config.allocator = (plim_allocator){short_of_memory, &shortage};
        if (plim_open(&config, &context) != PLIM_OK)
            continue;
        status = plim_machine_detect(context, &options, NULL, NULL, &m);
        assert_true(status == PLIM_OK || status == PLIM_NOMEM);
        plim_machine_free(m);
        plim_close(context);
        assert_int_equal(shortage.held, 0);
        if (shortage.until < UINT32_MAX / 2) /* it went through without the failure */
            break;
    }
    assert_int_equal(status, PLIM_OK);
    scene_end(&s);
}

/* Numbers of CPUs near and beyond what a kernel can have. */
static void a_file_may_claim_any_number(void **state)
{
    static const char *const claims[] = {"0-65535", "0-65536", "0-18446744073709551615",
                                         "65535",   "1-0",     "0,0,0,0"};
    (void)state;
    for (size_t i = 0; i < COUNT(claims); i++) {
        scene s;
        scene_begin(&s);
        put_file(&s, "/sys/devices/system/cpu/online", claims[i]);
        put_file(&s, "/sys/devices/system/node/node99999999999/cpulist", claims[i]);
        const plim_machine *m = detect(&s);
        assert_true(!m->cpu || !PLIM_KNOWN(cpu, m->cpu, logical_cpus) ||
                    m->cpu->logical_cpus <= 65536);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detection_survives),
        cmocka_unit_test(detection_survives_lack_of_memory),
        cmocka_unit_test(a_file_may_claim_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
