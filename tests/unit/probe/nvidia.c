/* NVIDIA GPUs, as one program finds them: what a healthy driver says, what a broken one does. */
#include "../test.h"
#include "fake_nvml.h"

#include <string.h>

/* ---- healthy drivers ------------------------------------------------------------------------- */

/* ---- healthy drivers ------------------------------------------------------------------------- */
static void h100(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100_FILES, "h100", NULL);
    assert_int_equal(m->devices.count, 1);
    assert_int_equal(m->notes.count, 0);
    const plim_device *d = fake_device(m, 0);
    assert_text(d, name, "NVIDIA H100 80GB HBM3");
    assert_text(d, kind, "gpu");
    assert_text(d, family, "cuda");
    assert_text(d, vendor, "NVIDIA");
    assert_text(d, pci_address, "0000:00:09.0");
    assert_text(d, driver_version, "590.48.01");
    assert_text(d, compute_capability, "9.0");
    assert_text(d, arch, "hopper");
    assert_text(d, memory_kind, "dedicated");
    assert_text(d, compute_mode, "default");
    assert_text(d, vbios_version, "96.00.A5.00.01");
    assert_known(d, available, true);
    assert_known(d, memory_total_bytes, 81559 * MIB);
    assert_known(d, memory_reserved_bytes, 479 * MIB);
    assert_known(d, memory_free_bytes, 81079 * MIB);
    assert_known(d, memory_used_bytes, 480 * MIB); /* what the driver keeps is in use */
    assert_known(d, memory_bus_width_bits, 5120);
    assert_known(d, memory_bandwidth_bytes_per_s, 3352320000000);
    assert_known(d, cores_shading, 16896);
    assert_known(d, cores_compute_units, 132);
    assert_known(d, pcie_max_gen, 5);
    assert_known(d, pcie_max_width, 16);
    assert_known(d, pcie_bandwidth_bytes_per_s, 63015384608); /* 63 GB/s */
    assert_known(d, telemetry_temperature_c, 41);
    assert_known(d, telemetry_clock_memory_max_mhz, 2619);
    assert_true(d->telemetry_power_w > 69.84 && d->telemetry_power_w < 69.86);
    assert_known(d, mig_enabled, false);
    assert_known(d, ecc_enabled, true);
    assert_unknown(d, integrated);
    assert_unknown(d, partition);
    plim_machine_free(m);
}

static void eight_gpus_keep_their_places(void **state)
{
    static const char *const addresses[] = {"0000:0e:00.0", "0000:15:00.0", "0000:1b:00.0",
                                            "0000:67:00.0", "0000:8e:00.0", "0000:95:00.0",
                                            "0000:9b:00.0", "0000:e7:00.0"};
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100X8_FILES, "h100x8", NULL);
    assert_int_equal(m->devices.count, 8);
    for (size_t i = 0; i < 8; i++) {
        const plim_device *d = fake_device(m, i);
        assert_known(d, index, i);
        assert_text(d, pci_address, addresses[i]);
        assert_known(d, memory_total_bytes, 81559 * MIB);
        assert_int_equal(d->uuid[strlen(d->uuid) - 1], '0' + (int)i);
    }
    plim_machine_free(m);
}

/* Parent first, slices behind it, holes left out; the SM counts and sizes are nvidia-smi's. */
static void mig_slices_stand_behind_their_gpu(void **state)
{
    static const struct {
        const char *profile;
        uint64_t multiprocessors, total;
    } want[] = {{"1c.3g.71gb", 16, 71424 * MIB},
                {"2c.3g.71gb", 32, 71424 * MIB},
                {"2g.35gb", 32, 33280 * MIB},
                {"1g.18gb", 16, 16384 * MIB},
                {"1g.18gb", 16, 16384 * MIB}};
    (void)state;
    plim_machine *m = fake_detect(FAKE_GPU("0000:03:00.0", "2684", "nvidia")
                                      FAKE_GPU("0000:83:00.0", "2335", "nvidia"),
                                  "h200-mig", NULL);
    assert_int_equal(m->devices.count, 7);
    const plim_device *whole = fake_device(m, 1);
    assert_text(whole, name, "NVIDIA H200");
    assert_known(whole, mig_enabled, true);
    assert_known(whole, available, false);
    assert_non_null(strstr(whole->why_unavailable, "MIG"));
    for (size_t i = 0; i < COUNT(want); i++) {
        const plim_device *d = fake_device(m, i + 2);
        assert_known(d, parent, 1);
        assert_known(d, available, true);
        assert_text(d, partition, want[i].profile);
        assert_known(d, cores_compute_units, want[i].multiprocessors);
        assert_known(d, memory_total_bytes, want[i].total);
        assert_text(d, compute_capability, "9.0");
        assert_true(strncmp(d->uuid, "MIG-", 4) == 0);
        assert_unknown(d, telemetry_power_w);
    }
    /* two compute instances in one GPU instance */
    assert_non_null(fake_note(m, "shares its memory"));
    plim_machine_free(m);
}

static void gb10_takes_ram(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(GB10_FILES GB10_MEMINFO, "gb10", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_int_equal(m->devices.count, 1);
    assert_text(d, pci_address, "000f:01:00.0");
    assert_text(d, memory_kind, "unified");
    assert_known(d, integrated, true);
    assert_known(d, memory_total_bytes, 125508468ull * 1024);
    assert_text(d, compute_capability, "12.1");
    assert_known(d, cores_compute_units, 48);
    assert_string_equal(d->head.source[PLIM_F_device_memory_bandwidth_bytes_per_s], "table");
    assert_unknown(d, telemetry_power_limit_w);
    assert_unknown(d, pcie_bandwidth_bytes_per_s);
    assert_int_equal(m->notes.count, 0);
    plim_machine_free(m);
}

/* Reserved huge pages are all that CUDA takes then, and no program but it can have them. */
static void gb10_takes_huge_pages(void **state)
{
    (void)state;
    plim_machine *m =
        fake_detect(GB10_FILES GB10_MEMINFO "HugePages_Total: 4096\nHugePages_Free: 4000\n"
                                            "Hugepagesize: 2048 kB\n",
                    "gb10", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_known(d, memory_total_bytes, 125508468ull * 1024);
    assert_known(d, memory_free_bytes, 4000ull * 2048 * 1024);
    assert_unknown(d, memory_used_bytes);
    plim_machine_free(m);
}

/* A chip that is not known by name: shared page tables and no memory of its own say the same. */
static void shared_page_tables_mean_unified_memory(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(GB10_FILES GB10_MEMINFO, "ats", NULL);
    assert_text(fake_device(m, 0), memory_kind, "unified");
    plim_machine_free(m);
    /* refusing to tell is not enough: vGPUs and broken GPUs do that */
    m = fake_detect(FAKE_GPU("0000:02:00.0", "20F1", "nvidia") GB10_MEMINFO, "vgpu", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_unknown(d, memory_total_bytes);
    assert_unknown(d, integrated);
    assert_text(d, partition, "vGPU");
    plim_machine_free(m);
}

/* No PCI device and no /proc/driver/nvidia; the library lies in a folder of its own. */
static void wsl(void **state)
{
    (void)state;
    plim_machine *m = fake_detect("-- stat /dev/dxg --\nchar rdev=10:63 access=rw\n"
                                  "-- file /usr/lib/wsl/lib/libnvidia-ml.so.1 --\n",
                                  "rtx4090", NULL);
    assert_int_equal(m->devices.count, 1);
    const plim_device *d = fake_device(m, 0);
    assert_text(d, name, "NVIDIA GeForce RTX 4090");
    assert_text(d, pci_address, "0000:01:00.0");
    assert_text(d, pci_vendor_id, "10de");
    assert_text(d, pci_device_id, "2684");
    assert_text(d, pci_subsystem, "1043:889a");
    assert_known(d, memory_total_bytes, 24564 * MIB);
    assert_known(d, memory_bandwidth_bytes_per_s, 1008096000000);
    assert_unknown(d, driver);
    assert_known(d, available, true);
    plim_machine_free(m);
}

/* A container without /sys: the driver's files and the library are all there is. */
static void container_without_sys(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(MODULE INFORMATION("0000:00:09.0"), "h100", NULL);
    assert_int_equal(m->devices.count, 1);
    assert_known(fake_device(m, 0), memory_total_bytes, 81559 * MIB);
    assert_text(fake_device(m, 0), driver, "nvidia");
    plim_machine_free(m);
    m = fake_detect(MODULE, "h100", NULL); /* not even those: by the library's own numbers */
    assert_int_equal(m->devices.count, 1);
    assert_text(fake_device(m, 0), pci_address, "0000:00:09.0");
    assert_text(fake_device(m, 0), driver, "nvidia");
    plim_machine_free(m);
}

static void gpus_that_are_not_given_to_us(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100X8_FILES FAKE_H100_FILES, "h100", NULL);
    assert_int_equal(m->devices.count, 9);
    assert_known(fake_device_at(m, "0000:00:09.0"), available, true);
    assert_known(fake_device_at(m, "0000:1b:00.0"), available, false);
    assert_unknown(fake_device_at(m, "0000:1b:00.0"), memory_total_bytes);
    plim_machine_free(m);
}

static void other_drivers_load_no_library(void **state)
{
    (void)state;
    /* the fault would be seen: rc18 makes a note */
    plim_machine *m = fake_detect(FAKE_GPU("0000:00:09.0", "2330", "vfio-pci")
                                      FAKE_GPU("0000:01:00.0", "2684", "nouveau"),
                                  "h100", "rc18:nvmlInit_v2");
    assert_int_equal(m->devices.count, 2);
    assert_null(fake_note(m, "nvml"));
    assert_null(fake_note(m, "libnvidia-ml"));
    plim_machine_free(m);
}

/* ---- sleep ----------------------------------------------------------------------------------- */

#define SLEEPER                                                                                    \
    FAKE_H100_FILES                                                                                \
    "-- file /sys/bus/pci/devices/0000:00:09.0/power/runtime_status --\nsuspended\n"

static void sleeping_gpus_are_left_asleep(void **state)
{
    (void)state;
    fake_nvml f = {
        .files = SLEEPER, .machine = "h100", .fault = "rc999:nvmlDeviceGetHandleByIndex"};
    plim_machine *m = fake_nvml_detect(&f);
    const plim_device *d = fake_device(m, 0);
    assert_unknown(d, memory_total_bytes);
    assert_unknown(d, uuid);
    assert_non_null(strstr(fake_note(m, "asleep")->hint, "--wake"));
    plim_machine_free(m);
    f.wake = true;
    m = fake_nvml_detect(&f);
    assert_known(fake_device(m, 0), memory_total_bytes, 81559 * MIB);
    plim_machine_free(m);
}

/* ---- drivers that refuse --------------------------------------------------------------------- */

static void library_and_module_do_not_fit(void **state)
{
    (void)state;
    plim_machine *m =
        fake_detect(FAKE_H100_FILES MODULE INFORMATION("0000:00:09.0"), "h100", "rc18:nvmlInit_v2");
    const plim_device *d = fake_device(m, 0);
    const plim_note *note = fake_note(m, "LIB_RM_VERSION_MISMATCH");
    assert_non_null(note);
    assert_string_equal(note->severity, "error");
    assert_non_null(strstr(note->text, "kernel module 550.54.14, library 590.48.01"));
    assert_non_null(strstr(note->hint, "reboot"));
    assert_known(d, available, false);
    assert_text(d, name, "NVIDIA H100 80GB HBM3"); /* the kernel driver's files know it */
    assert_text(d, uuid, "GPU-6f3a1d00-4c2e-9b57-d1a8-0e5b7c94f210");
    assert_text(d, driver_version, "550.54.14");
    assert_unknown(d, memory_total_bytes);
    plim_machine_free(m);
}

static void init_fails(void **state)
{
    static const struct {
        const char *fault, *text;
    } cases[] = {
        {"rc9:nvmlInit_v2", "9 DRIVER_NOT_LOADED"},   {"rc4:nvmlInit_v2", "4 NO_PERMISSION"},
        {"rc12:nvmlInit_v2", "12 LIBRARY_NOT_FOUND"}, {"rc17:nvmlInit_v2", "17 OPERATING_SYSTEM"},
        {"rc999:nvmlInit_v2", "999 UNKNOWN"},         {"rc77:nvmlInit_v2", "77 error"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_machine *m = fake_detect(FAKE_H100_FILES, "h100", cases[i].fault);
        assert_non_null(fake_note(m, cases[i].text));
        assert_non_null(fake_note(m, cases[i].text)->hint);
        assert_known(fake_device(m, 0), available, false);
        plim_machine_free(m);
    }
}

/* "not found" is what a machine without the library says; a text that is silent says nothing. */
static void no_library(void **state)
{
    (void)state;
    plim_machine *m = fake_nvml_replay(FAKE_H100_FILES "-- lib nvml failed=NOT_FOUND --\n");
    assert_non_null(fake_note(m, "libnvidia-ml.so.1"));
    assert_known(fake_device(m, 0), available, false);
    plim_machine_free(m);
    m = fake_nvml_replay(FAKE_H100_FILES "-- lib nvml failed=VERSION --\n");
    assert_non_null(fake_note(m, "lacks functions"));
    plim_machine_free(m);
    m = fake_nvml_replay(FAKE_H100_FILES);
    assert_int_equal(m->notes.count, 0);
    plim_machine_free(m);
}

static void a_lost_gpu_does_not_take_the_others_along(void **state)
{
    static const struct {
        const char *fault, *text;
    } cases[] = {{"rc15:nvmlDeviceGetHandleByPciBusId_v2:3", "15 GPU_IS_LOST"},
                 {"rc15:nvmlDeviceGetName:3", "15 GPU_IS_LOST"},
                 {"rc15:nvmlDeviceGetMemoryInfo_v2:3", "15 GPU_IS_LOST"},
                 {"rc16:nvmlDeviceGetMemoryInfo_v2:3", "16 RESET_REQUIRED"},
                 {"rc4:nvmlDeviceGetHandleByPciBusId_v2:3", "4 NO_PERMISSION"},
                 {"rc17:nvmlDeviceGetHandleByPciBusId_v2:3", "17 OPERATING_SYSTEM"},
                 {"rc999:nvmlDeviceGetHandleByPciBusId_v2:3", "999 UNKNOWN"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_machine *m = fake_detect(FAKE_H100X8_FILES, "h100x8", cases[i].fault);
        assert_int_equal(m->devices.count, 8);
        for (size_t k = 0; k < 8; k++) {
            const plim_device *d = fake_device(m, k);
            assert_known(d, available, k != 3);
            if (k != 3)
                assert_known(d, memory_total_bytes, 81559 * MIB);
            else
                assert_unknown(d, memory_total_bytes);
        }
        const plim_note *note = fake_note(m, cases[i].text);
        assert_non_null(note);
        assert_string_equal(note->subject, "0000:67:00.0");
        assert_non_null(note->hint);
        plim_machine_free(m);
    }
}

static void lost_without_a_bus_to_look_at(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(MODULE, "h100x8", "rc15:nvmlDeviceGetHandleByIndex_v2:3");
    size_t lost = 0;
    assert_int_equal(m->devices.count, 8);
    for (size_t i = 0; i < 8; i++)
        lost += !fake_device(m, i)->available;
    assert_int_equal(lost, 1);
    plim_machine_free(m);
}

static void memory_alone_is_refused(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100_FILES, "h100",
                                  "rc4:nvmlDeviceGetMemoryInfo_v2,rc4:nvmlDeviceGetMemoryInfo");
    assert_unknown(fake_device(m, 0), memory_total_bytes);
    assert_known(fake_device(m, 0), cores_shading, 16896);
    assert_non_null(fake_note(m, "4 NO_PERMISSION"));
    plim_machine_free(m);
    /* a version that the driver refuses: the first one is asked */
    m = fake_detect(FAKE_H100_FILES, "h100", "rc25:nvmlDeviceGetMemoryInfo_v2");
    assert_known(fake_device(m, 0), memory_total_bytes, 81559 * MIB);
    assert_unknown(fake_device(m, 0), memory_reserved_bytes);
    plim_machine_free(m);
}

static void compute_mode_prohibited(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100_FILES, "prohibited", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_text(d, compute_mode, "prohibited");
    assert_known(d, available, false);
    assert_known(d, memory_total_bytes, 81559 * MIB);
    plim_machine_free(m);
}

static void excluded_by_the_driver(void **state)
{
    (void)state;
    plim_machine *m =
        fake_detect(FAKE_H100_FILES MODULE INFORMATION("0000:00:09.0") "GPU Excluded:\t "
                                                                       "Yes\n",
                    "none", NULL);
    assert_known(fake_device(m, 0), available, false);
    assert_non_null(strstr(fake_device(m, 0)->why_unavailable, "ExcludedGpus"));
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h100),
        cmocka_unit_test(eight_gpus_keep_their_places),
        cmocka_unit_test(mig_slices_stand_behind_their_gpu),
        cmocka_unit_test(gb10_takes_ram),
        cmocka_unit_test(gb10_takes_huge_pages),
        cmocka_unit_test(shared_page_tables_mean_unified_memory),
        cmocka_unit_test(wsl),
        cmocka_unit_test(container_without_sys),
        cmocka_unit_test(gpus_that_are_not_given_to_us),
        cmocka_unit_test(other_drivers_load_no_library),
        cmocka_unit_test(sleeping_gpus_are_left_asleep),
        cmocka_unit_test(library_and_module_do_not_fit),
        cmocka_unit_test(init_fails),
        cmocka_unit_test(no_library),
        cmocka_unit_test(a_lost_gpu_does_not_take_the_others_along),
        cmocka_unit_test(lost_without_a_bus_to_look_at),
        cmocka_unit_test(memory_alone_is_refused),
        cmocka_unit_test(compute_mode_prohibited),
        cmocka_unit_test(excluded_by_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
