#include "detect.h"

/* An Arc B580 asleep, so that its driver is not asked. */
#define ASLEEP                                                                                     \
    PCI("0000:03:00.0", "30000", "8086:E20B", "8086:1100", "DRIVER=xe\n")                          \
    ATTRIBUTE("0000:03:00.0", "power/runtime_status", "suspended")
#define RX580                                                                                      \
    PCI("0000:09:00.0", "30000", "1002:67DF", "1DA2:E387", "DRIVER=amdgpu\n")                      \
    ATTRIBUTE("0000:09:00.0", "mem_info_vram_total", "4294967296")                                 \
    ATTRIBUTE("0000:09:00.0", "mem_info_vram_used", "536870912")
#define GROUP                                                                                      \
    "-- file /proc/self/cgroup --\n0::/a/b\n"                                                      \
    "-- file /proc/self/mountinfo --\n"                                                            \
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
#define CGROUP_FILE(name, text) "-- file /sys/fs/cgroup/" name " --\n" text

static void a_sleeping_cards_capacity(void **state)
{
    (void)state;
    plim_machine *m = detect(ASLEEP GROUP CGROUP_FILE(
        "dmem.capacity", "drm/0000:04:00.0/vram0 5\ndrm/0000:03:00.0/vram0 12771655680\n"));
    assert_number(device, device(m, 0), memory_total_bytes, 12771655680);
    assert_text(device, device(m, 0), memory_kind, "dedicated");
    assert_unknown(device, device(m, 0), memory_free_bytes);
    plim_machine_free(m);
}

static void a_parents_limit_binds_too(void **state)
{
    (void)state;
    plim_machine *m = detect(RX580 GROUP CGROUP_FILE("a/b/dmem.max", "drm/0000:09:00.0/vram0 max\n")
                                 CGROUP_FILE("a/dmem.max", "drm/0000:09:00.0/vram0 2147483648\n")
                                     CGROUP_FILE("a/dmem.current", //
                                                 "drm/0000:09:00.0/vram0 147483648\n"));
    assert_number(device, device(m, 0), memory_total_bytes, 4294967296);
    assert_number(device, device(m, 0), memory_free_bytes, 2000000000);
    plim_machine_free(m);
}

static void a_limit_above_what_is_free_binds_nothing(void **state)
{
    (void)state;
    plim_machine *m =
        detect(RX580 GROUP CGROUP_FILE("a/b/dmem.max", "drm/0000:09:00.0/vram0 4294967296\n")
                   CGROUP_FILE("a/b/dmem.current", "drm/0000:09:00.0/vram0 0\n"));
    assert_number(device, device(m, 0), memory_free_bytes, 3758096384);
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeping_cards_capacity),
        cmocka_unit_test(a_parents_limit_binds_too),
        cmocka_unit_test(a_limit_above_what_is_free_binds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
