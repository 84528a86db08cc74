#include "detect.h"

#define ARC(driver)                                                                                \
    PCI("0000:03:00.0", "30000", "8086:E20B", "8086:1100", "DRIVER=" driver "\n")                  \
    ATTRIBUTE("0000:03:00.0", "drm/card1/dev", "226:1")                                            \
    ATTRIBUTE("0000:03:00.0", "drm/renderD129/dev", "226:129")
#define IGPU(driver)                                                                               \
    PCI("0000:00:02.0", "30000", "8086:7D55", "1028:0CC8", "DRIVER=" driver "\n")                  \
    ATTRIBUTE("0000:00:02.0", "drm/card0/dev", "226:0")                                            \
    ATTRIBUTE("0000:00:02.0", "drm/renderD128/dev", "226:128")
#define REGIONS(node, what) "-- query " node " " what " hex --\n"
/* class, instance, total, free */
#define SYSTEM_32G "00000000 00000000 0000000008000000 0000000008000000\n"
#define OWN_12G_ALL_FREE "01000000 00000000 0000000003000000 0000000003000000\n"
#define OWN_12G_10G_FREE "01000000 00000000 0000000003000000 0000008002000000\n"

static void regions_tell_a_card(void **state)
{
    (void)state;
    plim_machine *m = detect(ARC("xe") REGIONS("/dev/dri/renderD129", "xe.memory") //
                             SYSTEM_32G OWN_12G_10G_FREE);
    const plim_device *d = device(m, 0);
    assert_text(device, d, name, "Arc B580");
    assert_text(device, d, memory_kind, "dedicated");
    assert_number(device, d, memory_total_bytes, 12884901888);
    assert_number(device, d, memory_free_bytes, 10737418240);
    assert_number(device, d, memory_used_bytes, 2147483648);
    assert_true(PLIM_KNOWN(device, d, integrated));
    assert_false(d->integrated);
    plim_machine_free(m);
}

static void all_free_is_what_the_unprivileged_are_told(void **state)
{
    (void)state;
    plim_machine *m = detect(ARC("i915") REGIONS("/dev/dri/renderD129", "i915.memory") //
                             SYSTEM_32G OWN_12G_ALL_FREE);
    const plim_device *d = device(m, 0);
    assert_number(device, d, memory_total_bytes, 12884901888);
    assert_unknown(device, d, memory_free_bytes);
    assert_unknown(device, d, memory_used_bytes);
    assert_string_equal(note_about(m, "0000:03:00.0")->hint, "run it with CAP_PERFMON");
    plim_machine_free(m);
}

static void integrated_graphics_share_ram(void **state)
{
    (void)state;
    plim_machine *m = detect(IGPU("i915") REGIONS("/dev/dri/renderD128", "i915.memory") SYSTEM_32G
                             "-- file /proc/meminfo --\nMemAvailable: 1000000 kB\n");
    const plim_device *d = device(m, 0);
    assert_true(d->integrated);
    assert_text(device, d, memory_kind, "shared");
    assert_number(device, d, memory_total_bytes, 34359738368);
    assert_number(device, d, memory_free_bytes, 1024000000);
    plim_machine_free(m);
}

static void the_place_tells_where_the_driver_may_not_be_asked(void **state)
{
    (void)state;
    plim_machine *m = detect(IGPU("xe") ARC("xe"));
    assert_true(device(m, 0)->integrated);
    assert_text(device, device(m, 0), memory_kind, "shared");
    assert_unknown(device, device(m, 0), memory_total_bytes);
    assert_unknown(device, device(m, 1), integrated);
    assert_unknown(device, device(m, 1), memory_total_bytes);
    plim_machine_free(m);
}

static void regions_beat_the_place(void **state)
{
    (void)state; /* a card given to a virtual machine may come to stand at 00:02.0 */
    plim_machine *m =
        detect(PCI("0000:00:02.0", "30000", "8086:56A0", "8086:1020", "DRIVER=i915\n") //
               ATTRIBUTE("0000:00:02.0", "drm/renderD128/dev", "226:128")
                   REGIONS("/dev/dri/renderD128", "i915.memory") SYSTEM_32G OWN_12G_ALL_FREE);
    assert_false(device(m, 0)->integrated);
    assert_text(device, device(m, 0), memory_kind, "dedicated");
    plim_machine_free(m);
}

static void clocks_of_both_drivers(void **state)
{
    (void)state;
    plim_machine *m =
        detect(ARC("xe") ATTRIBUTE("0000:03:00.0", "tile0/gt0/freq0/rp0_freq", "2850")
                   ATTRIBUTE("0000:03:00.0", "tile0/gt0/freq0/act_freq", "0")
                       ATTRIBUTE("0000:03:00.0", "hwmon/hwmon2/temp2_input", "54000")
                           ATTRIBUTE("0000:03:00.0", "hwmon/hwmon2/power1_cap", "190000000"));
    assert_number(device, device(m, 0), telemetry_clock_max_mhz, 2850);
    assert_unknown(device, device(m, 0), telemetry_clock_mhz); /* off */
    assert_number(device, device(m, 0), telemetry_temperature_c, 54);
    assert_true(device(m, 0)->telemetry_power_limit_w == 190.0);
    plim_machine_free(m);

    m = detect(IGPU("i915") ATTRIBUTE("0000:00:02.0", "drm/card0/gt/gt0/rps_RP0_freq_mhz", "2250")
                   ATTRIBUTE("0000:00:02.0", "drm/card0/gt_act_freq_mhz", "600"));
    assert_number(device, device(m, 0), telemetry_clock_max_mhz, 2250);
    assert_number(device, device(m, 0), telemetry_clock_mhz, 600);
    plim_machine_free(m);
}

static void a_sleeping_card_is_left_asleep(void **state)
{
    (void)state;
    plim_machine *m =
        detect(ARC("xe") ATTRIBUTE("0000:03:00.0", "power/runtime_status", "suspended")
                   ATTRIBUTE("0000:03:00.0", "tile0/gt0/freq0/rp0_freq", "2850")
                       REGIONS("/dev/dri/renderD129", "xe.memory") OWN_12G_ALL_FREE);
    assert_unknown(device, device(m, 0), memory_total_bytes);
    assert_unknown(device, device(m, 0), telemetry_clock_max_mhz);
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_tell_a_card),
        cmocka_unit_test(all_free_is_what_the_unprivileged_are_told),
        cmocka_unit_test(integrated_graphics_share_ram),
        cmocka_unit_test(the_place_tells_where_the_driver_may_not_be_asked),
        cmocka_unit_test(regions_beat_the_place),
        cmocka_unit_test(clocks_of_both_drivers),
        cmocka_unit_test(a_sleeping_card_is_left_asleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
