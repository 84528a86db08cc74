#include "detect.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"

/* A discrete Vega 64 with 8 GiB, a bar of 256 MiB, and 512 MiB in use. */
#define VEGA                                                                                       \
    PCI("0000:0b:00.0", "30000", "1002:687F", "1043:0555", "DRIVER=amdgpu\n")                      \
    ATTRIBUTE("0000:0b:00.0", "mem_info_vram_total", "8589934592")                                 \
    ATTRIBUTE("0000:0b:00.0", "mem_info_vram_used", "536870912")                                   \
    ATTRIBUTE("0000:0b:00.0", "mem_info_vis_vram_total", "268435456")                              \
    ATTRIBUTE("0000:0b:00.0", "mem_info_gtt_total", "8342863872")                                  \
    ATTRIBUTE("0000:0b:00.0", "mem_info_gtt_used", "12337152")                                     \
    ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/in0_label", "vddgfx")

/* A Strix Halo: carve-out of 512 MiB, GTT of 110 GiB. */
#define STRIX_HALO                                                                                 \
    PCI("0000:c5:00.0", "30000", "1002:1586", "F111:000A", "DRIVER=amdgpu\n")                      \
    ATTRIBUTE("0000:c5:00.0", "mem_info_vram_total", "536870912")                                  \
    ATTRIBUTE("0000:c5:00.0", "mem_info_vram_used", "134217728")                                   \
    ATTRIBUTE("0000:c5:00.0", "mem_info_gtt_total", "118111600640")                                \
    ATTRIBUTE("0000:c5:00.0", "mem_info_gtt_used", "1073741824")                                   \
    ATTRIBUTE("0000:c5:00.0", "hwmon/hwmon6/in1_label", "vddnb")

#define GPU_NODE(number, simd, target, location, id, render)                                       \
    "-- file " NODES number "/properties --\ncpu_cores_count 0\nsimd_count " simd                  \
    "\nsimd_per_cu 4\ngfx_target_version " target "\nvendor_id 4098\ndevice_id 29857\n"            \
    "location_id " location "\ndomain 0\ndrm_render_minor " render "\nunique_id " id               \
    "\nnum_xcc 1\nhive_id 7\n"
#define BANK(number, heap, size)                                                                   \
    "-- file " NODES number "/mem_banks/0/properties --\nheap_type " heap "\nsize_in_bytes " size  \
    "\nwidth 8192\nmem_clk_max 1300\n"
#define CPU_NODE(number)                                                                           \
    "-- file " NODES number "/properties --\ncpu_cores_count 96\nsimd_count 0\n"
#define XGMI(from, link, to, bandwidth)                                                            \
    "-- file " NODES from "/io_links/" link "/properties --\ntype 11\nnode_from " from             \
    "\nnode_to " to "\nmax_bandwidth " bandwidth "\n"

static void a_discrete_gpu_has_its_own_memory(void **state)
{
    (void)state;
    plim_machine *m = detect(VEGA);
    const plim_device *d = device(m, 0);
    assert_number(device, d, memory_total_bytes, 8589934592);
    assert_number(device, d, memory_used_bytes, 536870912);
    assert_number(device, d, memory_free_bytes, 8053063680);
    assert_number(device, d, memory_visible_bytes, 268435456);
    assert_number(device, d, memory_gtt_total_bytes, 8342863872);
    assert_number(device, d, memory_gtt_used_bytes, 12337152);
    assert_text(device, d, memory_kind, "dedicated");
    assert_true(PLIM_KNOWN(device, d, integrated));
    assert_false(d->integrated);
    assert_string_equal(d->head.source[PLIM_F_device_memory_total_bytes], "sysfs");
    plim_machine_free(m);
}

static void an_apus_memory_is_the_larger_pool_and_counted_once(void **state)
{
    (void)state;
    plim_machine *m = detect(STRIX_HALO);
    const plim_device *d = device(m, 0);
    assert_true(d->integrated);
    assert_number(device, d, memory_total_bytes, 118111600640);
    assert_number(device, d, memory_used_bytes, 1073741824);
    assert_number(device, d, memory_free_bytes, 117037858816);
    assert_text(device, d, memory_kind, "shared");
    plim_machine_free(m);
}

static void an_apus_free_memory_is_bounded_by_ram(void **state)
{
    (void)state;
    plim_machine *m = detect(STRIX_HALO "-- file /proc/meminfo --\nMemTotal: 131072000 kB\n"
                                        "MemFree: 1000000 kB\nMemAvailable: 20000000 kB\n");
    const plim_device *d = device(m, 0);
    assert_number(device, d, memory_total_bytes, 118111600640);
    assert_number(device, d, memory_free_bytes, 20480000000);
    plim_machine_free(m);
}

static void a_large_carve_out_is_dedicated(void **state)
{
    (void)state; /* 96 GiB set aside in the firmware: GTT is what half of the rest allows */
    plim_machine *m = detect(
        PCI("0000:c5:00.0", "30000", "1002:1586", "F111:000A", "DRIVER=amdgpu\n") //
        ATTRIBUTE("0000:c5:00.0", "mem_info_vram_total", "103079215104")
            ATTRIBUTE("0000:c5:00.0", "mem_info_vram_used", "1073741824")
                ATTRIBUTE("0000:c5:00.0", "mem_info_gtt_total", "16642998272")
                    ATTRIBUTE("0000:c5:00.0", "hwmon/hwmon6/in1_label",
                              "vddnb") "-- file /proc/meminfo --\nMemAvailable: 1000000 kB\n");
    const plim_device *d = device(m, 0);
    assert_true(d->integrated);
    assert_number(device, d, memory_total_bytes, 103079215104);
    assert_number(device, d, memory_free_bytes, 102005473280); /* RAM has no say */
    assert_text(device, d, memory_kind, "dedicated");
    plim_machine_free(m);
}

static void what_the_compute_driver_offers_decides(void **state)
{
    (void)state; /* a kernel before 6.10 gives programs the carve-out, however small */
    plim_machine *m = detect(STRIX_HALO GPU_NODE("1", "80", "110501", "50432", "0", "128")
                                 BANK("1", "1", "536870912"));
    const plim_device *d = device(m, 0);
    assert_text(device, d, arch, "gfx1151");
    assert_number(device, d, memory_total_bytes, 536870912);
    assert_text(device, d, memory_kind, "dedicated");
    assert_number(device, d, memory_used_bytes, 134217728);
    plim_machine_free(m);
}

static void the_fusion_bit_beats_the_sensors(void **state)
{
    (void)state;
    /* device 687f, family 141, 64 units, HBM, 2048 bit, no APU, 1.63 GHz, 945 MHz */
    plim_machine *m =
        detect(VEGA ATTRIBUTE("0000:0b:00.0", "drm/renderD128/dev", "226:128")
                   ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/in1_label",
                             "vddnb") "-- query /dev/dri/renderD128 amdgpu.device hex --\n"
                                      "7f680000 8d000000 40000000 06000000 00080000 00000000\n"
                                      "30df180000000000 686b0e0000000000\n");
    const plim_device *d = device(m, 0);
    assert_false(d->integrated);
    assert_string_equal(d->head.source[PLIM_F_device_integrated], "drm");
    assert_number(device, d, cores_compute_units, 64);
    assert_number(device, d, cores_shading, 4096);
    assert_number(device, d, memory_bus_width_bits, 2048);
    assert_number(device, d, telemetry_clock_max_mhz, 1630);
    plim_machine_free(m);
}

static void bandwidth_is_clock_times_width_times_transfers(void **state)
{
    (void)state;
    /* RX 6900 XT: GDDR6 on 256 bit at 1 GHz and 16 transfers: 512 GB/s as AMD says */
    plim_machine *m =
        detect(PCI("0000:0c:00.0", "30000", "1002:73BF", "1DA2:440E", "DRIVER=amdgpu\n")
                   ATTRIBUTE("0000:0c:00.0", "drm/renderD128/dev",
                             "226:128") "-- query /dev/dri/renderD128 amdgpu.device hex --\n"
                                        "bf730000 8f000000 50000000 09000000 00010000 00000000\n"
                                        "0000000000000000 40420f0000000000\n");
    assert_number(device, device(m, 0), memory_bandwidth_bytes_per_s, 512000000000);
    plim_machine_free(m);
}

static void a_sleeping_gpu_is_left_asleep(void **state)
{
    (void)state;
    plim_machine *m = detect(VEGA ATTRIBUTE("0000:0b:00.0", "power/runtime_status", "suspended")
                                 ATTRIBUTE("0000:0b:00.0", "gpu_busy_percent", "0")
                                     ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/temp1_input", "40000")
                                         ATTRIBUTE("0000:0b:00.0", "pp_dpm_sclk", "0: 852Mhz *"));
    const plim_device *d = device(m, 0);
    assert_unknown(device, d, telemetry_utilization_percent);
    assert_unknown(device, d, telemetry_temperature_c);
    assert_unknown(device, d, telemetry_clock_max_mhz);
    assert_number(device, d, memory_total_bytes, 8589934592);
    plim_machine_free(m);
}

static void sensors_and_clocks(void **state)
{
    (void)state;
    plim_machine *m = detect(
        VEGA ATTRIBUTE("0000:0b:00.0", "gpu_busy_percent", "17") //
        ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/temp1_input", "41500")
            ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/power1_average", "12500000")
                ATTRIBUTE("0000:0b:00.0", "hwmon/hwmon3/power1_cap", "165000000")
                    ATTRIBUTE("0000:0b:00.0", "pp_dpm_sclk", "0: 852Mhz\n1: 991Mhz *\n2: 1590Mhz")
                        ATTRIBUTE("0000:0b:00.0", "vbios_version", "113-D0500100-102"));
    const plim_device *d = device(m, 0);
    assert_number(device, d, telemetry_utilization_percent, 17);
    assert_number(device, d, telemetry_temperature_c, 41);
    assert_true(d->telemetry_power_w == 12.5);
    assert_true(d->telemetry_power_limit_w == 165.0);
    assert_number(device, d, telemetry_clock_mhz, 991);
    assert_number(device, d, telemetry_clock_max_mhz, 1590);
    assert_text(device, d, vbios_version, "113-D0500100-102");
    plim_machine_free(m);
}

static void used_beyond_total_is_not_believed(void **state)
{
    (void)state;
    plim_machine *m =
        detect(PCI("0000:0b:00.0", "30000", "1002:687F", "1043:0555", "DRIVER=amdgpu\n") //
               ATTRIBUTE("0000:0b:00.0", "mem_info_vram_total", "1000")
                   ATTRIBUTE("0000:0b:00.0", "mem_info_vram_used", "1001"));
    assert_number(device, device(m, 0), memory_total_bytes, 1000);
    assert_unknown(device, device(m, 0), memory_used_bytes);
    assert_unknown(device, device(m, 0), memory_free_bytes);
    assert_non_null(note_about(m, "0000:0b:00.0"));
    plim_machine_free(m);
}

static void radeon_is_listed_and_cannot_compute(void **state)
{
    (void)state;
    plim_machine *m =
        detect(PCI("0000:01:00.0", "30000", "1002:6798", "1043:0400", "DRIVER=radeon\n"));
    assert_false(device(m, 0)->available);
    assert_unknown(device, device(m, 0), memory_total_bytes);
    plim_machine_free(m);
}

/* ---- compute topology ------------------------------------------------------------------------ */

static void the_instruction_set_is_hex_in_two_places(void **state)
{
    static const struct {
        const char *target, *arch;
    } rows[] = {{"90010", "gfx90a"},   {"90402", "gfx942"},   {"90500", "gfx950"},
                {"100300", "gfx1030"}, {"110001", "gfx1101"}, {"120001", "gfx1201"}};
    char text[512];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(text, sizeof text,
                 "-- file " NODES "1/properties --\nsimd_count 440\nsimd_per_cu 4\n"
                 "gfx_target_version %s\nvendor_id 4098\ndevice_id 29711\nlocation_id 768\n",
                 rows[i].target);
        plim_machine *m = detect(text);
        assert_text(device, device(m, 0), arch, rows[i].arch);
        assert_text(device, device(m, 0), pci_address, "0000:03:00.0");
        assert_number(device, device(m, 0), cores_compute_units, 110);
        plim_machine_free(m);
    }
}

/* Two MI300X, the second in two partitions of 96 GiB. */
#define MI300X                                                                                     \
    PCI("0000:0c:00.0", "120000", "1002:74A1", "1002:74A1", "DRIVER=amdgpu\n")                     \
    PCI("0000:22:00.0", "120000", "1002:74A1", "1002:74A1", "DRIVER=amdgpu\n")                     \
    ATTRIBUTE("0000:22:00.0", "mem_info_vram_total", "206158430208")                               \
    ATTRIBUTE("0000:22:00.0", "mem_info_vram_used", "309237645312")                                \
    CPU_NODE("0")                                                                                  \
    GPU_NODE("1", "1216", "90402", "3072", "11", "128")                                            \
    BANK("1", "1", "206158430208")                                                                 \
    XGMI("1", "0", "2", "50000")                                                                   \
    XGMI("1", "1", "3", "50000")                                                                   \
    GPU_NODE("2", "608", "90402", "8704", "12", "136")                                             \
    BANK("2", "1", "103079215104")                                                                 \
    XGMI("2", "0", "1", "50000")                                                                   \
    GPU_NODE("3", "608", "90402", "8705", "12", "137")                                             \
    BANK("3", "1", "103079215104")

static void partitions_are_parts_of_one_card(void **state)
{
    (void)state;
    plim_machine *m = detect(MI300X);
    assert_int_equal(m->devices.count, 4);
    const plim_device *first = device(m, 0), *whole = device(m, 1);
    assert_unknown(device, first, parent);
    assert_number(device, first, cores_compute_units, 304);
    assert_number(device, first, memory_total_bytes, 206158430208);
    assert_text(device, whole, pci_address, "0000:22:00.0");
    assert_unknown(device, whole, parent);
    assert_number(device, whole, cores_compute_units, 304);
    assert_number(device, whole, memory_total_bytes, 206158430208);
    for (size_t i = 2; i < 4; i++) {
        const plim_device *part = device(m, i);
        assert_number(device, part, parent, 1);
        assert_text(device, part, partition, "CPX"); /* one die in each, by num_xcc */
        assert_text(device, part, render_node, i == 2 ? "renderD136" : "renderD137");
        assert_number(device, part, cores_compute_units, 152);
        assert_number(device, part, memory_total_bytes, 103079215104);
        assert_text(device, part, driver, "amdgpu");
        assert_string_equal(part->serial_group, whole->serial_group);
    }
    assert_string_not_equal(first->serial_group, whole->serial_group);
    plim_machine_free(m);
}

static void cards_are_linked_once(void **state)
{
    (void)state;
    plim_machine *m = detect(MI300X);
    assert_int_equal(m->links.count, 1);
    const plim_link *link = m->links.items[0];
    assert_number(link, link, a, 0);
    assert_number(link, link, b, 1);
    assert_text(link, link, kind, "xgmi");
    assert_number(link, link, bandwidth_bytes_per_s, 50000000000);
    plim_machine_free(m);
}

static void partitions_without_an_id_go_by_their_slot(void **state)
{
    (void)state;
    plim_machine *m =
        detect(PCI("0000:22:00.0", "120000", "1002:74A1", "1002:74A1", "DRIVER=amdgpu\n")
                   GPU_NODE("1", "608", "90402", "8704", "0", "136")
                       GPU_NODE("2", "608", "90402", "8705", "0", "137"));
    assert_int_equal(m->devices.count, 3);
    assert_number(device, device(m, 1), parent, 0);
    assert_number(device, device(m, 2), parent, 0);
    plim_machine_free(m);
}

static void virtual_functions_of_one_slot_are_devices(void **state)
{
    (void)state; /* in a guest, whose bus has every function */
    plim_machine *m =
        detect(PCI("0000:02:00.0", "120000", "1002:74B5", "1002:74A1", "DRIVER=amdgpu\n")
                   PCI("0000:02:00.1", "120000", "1002:74B5", "1002:74A1", "DRIVER=amdgpu\n")
                       GPU_NODE("1", "1216", "90402", "512", "0", "128")
                           GPU_NODE("2", "1216", "90402", "513", "0", "129"));
    assert_int_equal(m->devices.count, 2);
    assert_unknown(device, device(m, 1), parent);
    assert_number(device, device(m, 1), cores_compute_units, 304);
    plim_machine_free(m);
}

static void cards_that_share_an_address_are_told_apart_by_id(void **state)
{
    (void)state;
    plim_machine *m = detect(GPU_NODE("1", "256", "90000", "6400", "21", "128")
                                 GPU_NODE("2", "256", "90000", "6400", "22", "129"));
    assert_int_equal(m->devices.count, 2);
    assert_unknown(device, device(m, 0), parent);
    assert_unknown(device, device(m, 1), parent);
    plim_machine_free(m);
}

static void what_the_device_cgroup_hides_is_present_and_not_permitted(void **state)
{
    (void)state;
    plim_machine *m = detect(
        PCI("0000:0c:00.0", "120000", "1002:74A1", "1002:74A1", "DRIVER=amdgpu\n")
            PCI("0000:22:00.0", "120000", "1002:74A1", "1002:74A1", "DRIVER=amdgpu\n") CPU_NODE("0")
                GPU_NODE("1", "1216", "90402", "3072", "11", "128") "-- denied " NODES
                                                                    "2/properties --\n");
    assert_int_equal(m->devices.count, 2);
    assert_true(device(m, 0)->available);
    assert_false(device(m, 1)->available);
    assert_text(device, device(m, 1), why_unavailable, "the device cgroup does not permit it");
    assert_non_null(note_about(m, "/sys/class/kfd"));
    plim_machine_free(m);
}

static void a_kfd_that_may_not_be_opened_is_a_note(void **state)
{
    (void)state;
    plim_machine *m = detect(GPU_NODE("1", "1216", "90402", "3072", "11", "128") //
                             "-- stat /dev/kfd --\nchar dev=0:6 rdev=511:0 access=r\n");
    assert_string_equal(note_about(m, "/dev/kfd")->hint, "add yourself to group render");
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_discrete_gpu_has_its_own_memory),
        cmocka_unit_test(an_apus_memory_is_the_larger_pool_and_counted_once),
        cmocka_unit_test(an_apus_free_memory_is_bounded_by_ram),
        cmocka_unit_test(a_large_carve_out_is_dedicated),
        cmocka_unit_test(what_the_compute_driver_offers_decides),
        cmocka_unit_test(the_fusion_bit_beats_the_sensors),
        cmocka_unit_test(bandwidth_is_clock_times_width_times_transfers),
        cmocka_unit_test(a_sleeping_gpu_is_left_asleep),
        cmocka_unit_test(sensors_and_clocks),
        cmocka_unit_test(used_beyond_total_is_not_believed),
        cmocka_unit_test(radeon_is_listed_and_cannot_compute),
        cmocka_unit_test(the_instruction_set_is_hex_in_two_places),
        cmocka_unit_test(partitions_are_parts_of_one_card),
        cmocka_unit_test(cards_are_linked_once),
        cmocka_unit_test(partitions_without_an_id_go_by_their_slot),
        cmocka_unit_test(virtual_functions_of_one_slot_are_devices),
        cmocka_unit_test(cards_that_share_an_address_are_told_apart_by_id),
        cmocka_unit_test(what_the_device_cgroup_hides_is_present_and_not_permitted),
        cmocka_unit_test(a_kfd_that_may_not_be_opened_is_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
