#include "detect.h"

#define RENDER(node, driver)                                                                       \
    "-- file /sys/class/drm/" node "/device/uevent --\nDRIVER=" driver                             \
    "\nOF_COMPATIBLE_0=x\nOF_COMPATIBLE_N=1\n"

static void a_socs_gpu_has_no_address_and_shares_ram(void **state)
{
    (void)state;
    plim_machine *m = detect(RENDER("renderD128", "panthor") DEV NODE("/dev/dri/renderD128", "rw"));
    assert_int_equal(m->devices.count, 1);
    const plim_device *d = device(m, 0);
    assert_text(device, d, kind, "gpu");
    assert_text(device, d, vendor, "Arm");
    assert_text(device, d, driver, "panthor");
    assert_text(device, d, render_node, "renderD128");
    assert_text(device, d, memory_kind, "shared");
    assert_true(d->integrated);
    assert_true(d->available);
    assert_unknown(device, d, pci_address);
    assert_unknown(device, d, memory_total_bytes);
    plim_machine_free(m);
}

static void an_npu_of_a_soc(void **state)
{
    (void)state;
    plim_machine *m = detect("-- file /sys/class/accel/accel0/device/uevent --\nDRIVER=rocket\n");
    assert_text(device, device(m, 0), kind, "npu");
    assert_text(device, device(m, 0), vendor, "Rockchip");
    plim_machine_free(m);
}

static void software_and_pci_nodes_are_no_further_devices(void **state)
{
    (void)state;
    plim_machine *m = detect(RENDER("renderD128", "vgem") RENDER("renderD129", "virtio-pci") RENDER(
        "renderD131", "amdgpu_xcp_drv") "-- file /sys/class/drm/renderD130/device/uevent --\n"
                                        "DRIVER=mgag200\nPCI_ID=102B:0534\n");
    assert_int_equal(m->devices.count, 0);
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socs_gpu_has_no_address_and_shares_ram),
        cmocka_unit_test(an_npu_of_a_soc),
        cmocka_unit_test(software_and_pci_nodes_are_no_further_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
