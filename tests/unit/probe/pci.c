#include "detect.h"

#define A100(address, driver) PCI(address, "30200", "10DE:20B0", "10DE:134F", driver)
#define MI300X(address, driver) PCI(address, "120000", "1002:74A1", "1002:74A1", driver)

static void identity_comes_from_uevent(void **state)
{
    (void)state;
    plim_machine *m = detect(
        A100("0000:07:00.0", "DRIVER=nvidia\n") //
        ATTRIBUTE("0000:07:00.0", "revision", "0xa1") ATTRIBUTE("0000:07:00.0", "numa_node", "3")
            LINK("0000:07:00.0", "iommu_group", "../../../iommu_groups/17"));
    assert_int_equal(m->devices.count, 1);
    const plim_device *d = device(m, 0);
    assert_text(device, d, kind, "gpu");
    assert_text(device, d, family, "cuda");
    assert_text(device, d, vendor, "NVIDIA");
    assert_text(device, d, name, "A100 SXM4 40GB");
    assert_text(device, d, pci_address, "0000:07:00.0");
    assert_text(device, d, pci_vendor_id, "10de");
    assert_text(device, d, pci_device_id, "20b0");
    assert_text(device, d, pci_class, "030200");
    assert_text(device, d, pci_subsystem, "10de:134f");
    assert_text(device, d, pci_revision, "a1");
    assert_text(device, d, driver, "nvidia");
    assert_text(device, d, iommu_group, "17");
    assert_number(device, d, numa_node, 3);
    assert_unknown(device, d, memory_total_bytes);
    plim_machine_free(m);
}

static void identity_comes_from_attributes_where_uevent_lacks_it(void **state)
{
    (void)state;
    plim_machine *m = detect(
        ATTRIBUTE("0000:04:00.0", "vendor", "0x10de") //
        ATTRIBUTE("0000:04:00.0", "device", "0x15f8") ATTRIBUTE("0000:04:00.0", "class", "0x030200")
            ATTRIBUTE("0000:04:00.0", "numa_node", "-1")
                LINK("0000:04:00.0", "driver", "../../../bus/pci/drivers/nouveau"));
    const plim_device *d = device(m, 0);
    assert_text(device, d, pci_device_id, "15f8");
    assert_text(device, d, driver, "nouveau");
    assert_unknown(device, d, pci_subsystem);
    assert_unknown(device, d, numa_node); /* -1 is no node */
    assert_false(d->available);           /* nouveau runs no CUDA */
    plim_machine_free(m);
}

static void what_only_shows_pictures_is_left_out(void **state)
{
    (void)state;
    plim_machine *m = detect(
        PCI("0000:63:00.0", "30000", "1A03:2000", "1A03:2000", "DRIVER=ast\n")        /* ASPEED */
        PCI("0000:0b:00.0", "30000", "102B:0534", "1028:04FE", "DRIVER=mgag200\n")    /* Matrox */
        PCI("0000:00:01.0", "30000", "1234:1111", "1AF4:1100", "DRIVER=bochs-drm\n")  /* QEMU */
        PCI("0000:00:02.0", "30000", "1013:00B8", "1AF4:1100", "DRIVER=cirrus\n")     /* QEMU */
        PCI("0000:00:03.0", "38000", "1AF4:1050", "1AF4:1100", "DRIVER=virtio-pci\n") /* QEMU */
        PCI("0000:00:04.0", "30000", "1B36:0100", "1AF4:1100", "DRIVER=qxl\n")        /* QEMU */
        PCI("0000:00:0f.0", "30000", "15AD:0405", "15AD:0405", "DRIVER=vmwgfx\n")     /* VMware */
        PCI("0000:00:08.0", "30000", "1414:5353", "0000:0000", "DRIVER=hyperv_drm\n") /* Hyper-V */
        PCI("0000:05:00.0", "30000", "19E5:1711", "19E5:1711", "DRIVER=hibmc-drm\n")  /* iBMC */
        PCI("0000:6b:00.0", "b4000", "8086:4940", "8086:0000", "DRIVER=4xxx\n")       /* QAT */
        PCI("0000:00:03.5", "b4000", "10DE:0AA3", "1028:0271", "")                    /* chipset */
        PCI("0000:01:00.1", "40300", "10DE:22BA", "1462:5110", "DRIVER=snd_hda\n")    /* sound */
        PCI("0000:c5:00.0", "68000", "10DE:22A3", "10DE:1796", "DRIVER=nvidia-nvswitch\n")
            PCI("0000:31:00.0", "120000", "19E5:A250", "0000:0000", "DRIVER=hisi_zip\n")
                PCI("0000:00:06.0", "20000", "1AE0:0042", "1AE0:0058", "DRIVER=gvnic\n")
                    PCI("0000:00:1f.0", "10802", "1AE0:001F", "1AE0:001F", "DRIVER=nvme\n"));
    assert_int_equal(m->devices.count, 0);
    assert_int_equal(m->notes.count, 0);
    plim_machine_free(m);
}

static void accelerators_of_every_class_are_found(void **state)
{
    static const struct {
        const char *text, *kind, *family, *vendor;
    } rows[] = {
        {PCI("0000:00:0b.0", "120000", "8086:7D1D", "8086:7270", "DRIVER=intel_vpu\n"), "npu",
         "intel_npu", "Intel"},
        {PCI("0000:c5:00.1", "118000", "1022:17F0", "1022:17F0", "DRIVER=amdxdna\n"), "npu", "xdna",
         "AMD"},
        {MI300X("0000:0c:00.0", "DRIVER=amdgpu\n"), "gpu", "rocm", "AMD"},
        {PCI("0000:83:00.0", "b4000", "8086:225C", "8086:2500", "DRIVER=mic\n"), "asic", "mic",
         "Intel"},
        {PCI("0000:02:00.0", "b4000", "1BCF:001C", "1BCF:001C", "DRIVER=ve_drv\n"), "asic", "ve",
         "NEC"},
        {PCI("0000:04:00.0", "ff00", "1AC1:089A", "1AC1:089A", "DRIVER=apex\n"), "tpu", "edgetpu",
         "Google"},
        {PCI("0000:00:04.0", "88000", "1AE0:0027", "1AE0:004F", "DRIVER=gasket\n"), "tpu", "tpu",
         "Google"},
        {PCI("0000:33:00.0", "120000", "1DA3:1020", "1DA3:1020", "DRIVER=habanalabs\n"), "asic",
         "gaudi", "Habana"},
        {PCI("0000:a0:1c.0", "120000", "1D0F:7164", "1D0F:0000", "DRIVER=neuron\n"), "asic",
         "neuron", "Amazon"},
        {PCI("0000:c1:00.0", "120000", "19E5:D802", "0200:0100", "DRIVER=devdrv_device_driver\n"),
         "npu", "ascend", "Huawei"},
        {PCI("0000:01:00.0", "120000", "1E52:401E", "1E52:0014", "DRIVER=tenstorrent\n"), "asic",
         "tenstorrent", "Tenstorrent"},
        {PCI("0000:03:00.0", "30000", "1ED5:0201", "1ED5:1001", "DRIVER=mtgpu\n"), "gpu", "musa",
         "Moore Threads"},
        {PCI("0000:3d:00.0", "38000", "1D94:6211", "1D94:0001", "DRIVER=hydcu\n"), "gpu", "dcu",
         "Hygon"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_machine *m = detect(rows[i].text);
        assert_int_equal(m->devices.count, 1);
        const plim_device *d = device(m, 0);
        assert_text(device, d, kind, rows[i].kind);
        assert_text(device, d, family, rows[i].family);
        assert_text(device, d, vendor, rows[i].vendor);
        assert_true(d->available);
        plim_machine_free(m);
    }
}

static void a_gpu_without_a_display_class_has_its_name(void **state)
{
    (void)state;
    plim_machine *m = detect(MI300X("0000:0c:00.0", "DRIVER=amdgpu\n"));
    assert_text(device, device(m, 0), name, "Instinct MI300X");
    plim_machine_free(m);
}

static void an_unknown_makers_accelerator_is_listed(void **state)
{
    (void)state;
    plim_machine *m = detect(PCI("0000:09:00.0", "120000", "EEEE:0001", "0000:0000", ""));
    const plim_device *d = device(m, 0);
    assert_text(device, d, kind, "npu");
    assert_text(device, d, family, "unknown");
    assert_unknown(device, d, vendor);
    assert_unknown(device, d, name);
    assert_unknown(device, d, pci_subsystem);
    plim_machine_free(m);
}

static void an_unknown_makers_display_is_not_for_use(void **state)
{
    (void)state;
    plim_machine *m =
        detect(PCI("0000:01:00.0", "30000", "0014:7A25", "0014:7A25", "DRIVER=loongson\n"));
    assert_text(device, device(m, 0), family, "unknown");
    assert_false(device(m, 0)->available);
    plim_machine_free(m);
}

static void the_board_tells_tpu_generations_apart(void **state)
{
    (void)state;
    plim_machine *m = detect(PCI("0000:00:04.0", "88000", "1AE0:0027", "1AE0:004E", "")   //
                             PCI("0000:00:05.0", "88000", "1AE0:0027", "1AE0:004F", "")   //
                             PCI("0000:00:06.0", "88000", "1AE0:0063", "1AE0:004F", "")); //
    assert_text(device, device(m, 0), name, "TPU v2");
    assert_text(device, device(m, 1), name, "TPU v3");
    assert_text(device, device(m, 2), name, "TPU v5e");
    plim_machine_free(m);
}

static void what_keeps_a_device_from_use_is_said(void **state)
{
    static const struct {
        const char *driver, *why;
    } rows[] = {
        {"", "no driver is bound to it"},
        {"DRIVER=vfio-pci\n", "given to virtual machines by vfio-pci"},
        {"DRIVER=nouveau\n", "the nouveau driver does not run CUDA"},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(text, sizeof text, "%s%s%s",
                 "-- file /sys/bus/pci/devices/0000:07:00.0/uevent --\n", rows[i].driver,
                 "PCI_CLASS=30200\nPCI_ID=10DE:20B0\n");
        plim_machine *m = detect(text);
        const plim_device *d = device(m, 0);
        assert_true(PLIM_KNOWN(device, d, available));
        assert_false(d->available);
        assert_text(device, d, why_unavailable, rows[i].why);
        plim_machine_free(m);
    }
}

static void a_missing_driver_is_a_note_with_a_hint(void **state)
{
    (void)state;
    plim_machine *m = detect(A100("0000:07:00.0", ""));
    const plim_note *note = note_about(m, "0000:07:00.0");
    assert_non_null(note);
    assert_string_equal(note->text, "NVIDIA A100 SXM4 40GB has no driver");
    assert_non_null(note->hint);
    plim_machine_free(m);
}

static void a_cloud_tpu_is_used_through_vfio(void **state)
{
    (void)state;
#define TPU                                                                                        \
    PCI("0000:00:05.0", "120000", "1AE0:006F", "1AE0:0000", "DRIVER=vfio-pci\n")                   \
    LINK("0000:00:05.0", "iommu_group", "../../../kernel/iommu_groups/2")
    plim_machine *m = detect(TPU DEV NODE("/dev/vfio/2", "rw"));
    assert_true(device(m, 0)->available);
    plim_machine_free(m);
    m = detect(TPU DEV NODE("/dev/vfio/2", "r"));
    assert_false(device(m, 0)->available);
    plim_machine_free(m);
#undef TPU
}

#define RX7900                                                                                     \
    PCI("0000:03:00.0", "30000", "1002:744C", "1DA2:E471", "DRIVER=amdgpu\n")                      \
    ATTRIBUTE("0000:03:00.0", "revision", "0xc8")                                                  \
    ATTRIBUTE("0000:03:00.0", "drm/card1/dev", "226:1")                                            \
    ATTRIBUTE("0000:03:00.0", "drm/renderD128/dev", "226:128")

static void the_revision_tells_products_of_one_chip_apart(void **state)
{
    (void)state;
    plim_machine *m = detect(RX7900);
    assert_text(device, device(m, 0), name, "Radeon RX 7900 XTX");
    assert_text(device, device(m, 0), card, "card1");
    assert_text(device, device(m, 0), render_node, "renderD128");
    plim_machine_free(m);
}

static void a_node_that_may_not_be_opened_keeps_a_device_from_use(void **state)
{
    (void)state;
    plim_machine *m = detect(RX7900 DEV NODE("/dev/dri/renderD128", "rw"));
    assert_true(device(m, 0)->available);
    assert_null(note_about(m, "0000:03:00.0"));
    plim_machine_free(m);

    m = detect(RX7900 DEV NODE("/dev/dri/renderD128", "r"));
    assert_false(device(m, 0)->available);
    assert_text(device, device(m, 0), why_unavailable, "no permission to open /dev/dri/renderD128");
    assert_string_equal(note_about(m, "0000:03:00.0")->hint, "add yourself to group render");
    plim_machine_free(m);

    m = detect(RX7900 DEV); /* a container that was not given the node */
    assert_false(device(m, 0)->available);
    assert_text(device, device(m, 0), why_unavailable, "/dev/dri/renderD128 is not here");
    plim_machine_free(m);

    m = detect(RX7900); /* a tree without /dev says nothing of nodes */
    assert_true(device(m, 0)->available);
    plim_machine_free(m);
}

static void virtual_functions_are_parts(void **state)
{
    (void)state;
    plim_machine *m =
        detect(PCI("0000:4d:00.0", "38000", "8086:56C0", "8086:4905", "DRIVER=i915\n") //
               PCI("0000:4d:00.1", "38000", "8086:56C0", "8086:4905", "DRIVER=vfio-pci\n")
                   LINK("0000:4d:00.1", "physfn", "../0000:4d:00.0"));
    assert_int_equal(m->devices.count, 2);
    assert_unknown(device, device(m, 0), parent);
    assert_true(device(m, 0)->available);
    assert_number(device, device(m, 1), parent, 0);
    assert_text(device, device(m, 1), partition, "virtual function");
    assert_false(device(m, 1)->available);
    plim_machine_free(m);
}

static void a_second_head_is_no_second_device(void **state)
{
    (void)state;
    plim_machine *m = detect(PCI("0000:01:00.0", "30000", "1002:7149", "1002:0000", "") //
                             PCI("0000:01:00.1", "38000", "1002:7169", "1002:0001", "")
                             /* ... but one in another slot is */
                             PCI("0000:02:00.0", "38000", "1002:6900", "1028:083A", ""));
    assert_int_equal(m->devices.count, 2);
    assert_text(device, device(m, 1), pci_address, "0000:02:00.0");
    plim_machine_free(m);
}

#define PCIE(speed, width, max_speed, max_width)                                                   \
    A100("0000:07:00.0", "DRIVER=nvidia\n")                                                        \
    ATTRIBUTE("0000:07:00.0", "current_link_speed", speed)                                         \
    ATTRIBUTE("0000:07:00.0", "current_link_width", width)                                         \
    ATTRIBUTE("0000:07:00.0", "max_link_speed", max_speed)                                         \
    ATTRIBUTE("0000:07:00.0", "max_link_width", max_width)

static void the_link_is_what_the_function_reports(void **state)
{
    (void)state;
    plim_machine *m = detect(PCIE("2.5 GT/s PCIe", "16", "16.0 GT/s PCIe", "16"));
    assert_number(device, device(m, 0), pcie_current_gen, 1);
    assert_number(device, device(m, 0), pcie_current_width, 16);
    assert_number(device, device(m, 0), pcie_max_gen, 4);
    assert_number(device, device(m, 0), pcie_max_width, 16);
    /* 16 GT/s x 128/130 / 8 bits x 16 lanes = 31.5 GB/s */
    assert_number(device, device(m, 0), pcie_bandwidth_bytes_per_s, 31507692304);
    plim_machine_free(m);

    m = detect(PCIE("8 GT/s", "8", "64.0 GT/s PCIe", "32")); /* an old kernel's text, a new link */
    assert_number(device, device(m, 0), pcie_current_gen, 3);
    assert_number(device, device(m, 0), pcie_max_gen, 6);
    plim_machine_free(m);

    m = detect(PCIE("Unknown", "0", "Unknown speed", "255"));
    assert_unknown(device, device(m, 0), pcie_current_gen);
    assert_unknown(device, device(m, 0), pcie_current_width);
    assert_unknown(device, device(m, 0), pcie_max_gen);
    assert_unknown(device, device(m, 0), pcie_max_width);
    assert_unknown(device, device(m, 0), pcie_bandwidth_bytes_per_s);
    plim_machine_free(m);

    m = detect(PCIE("2.5 GT/s PCIe", "63", "2.5 GT/s PCIe", "1")); /* behind a card's own switch */
    assert_unknown(device, device(m, 0), pcie_current_width);
    assert_number(device, device(m, 0), pcie_max_width, 1);
    assert_unknown(device, device(m, 0), pcie_bandwidth_bytes_per_s);
    plim_machine_free(m);
}

static void a_sleeping_device_is_not_asked_for_its_link(void **state)
{
    (void)state;
    plim_machine *m = detect(PCIE("16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16")
                                 ATTRIBUTE("0000:07:00.0", "power/runtime_status", "suspended"));
    assert_text(device, device(m, 0), power_state, "suspended");
    assert_true(device(m, 0)->available);
    assert_unknown(device, device(m, 0), pcie_max_gen);
    plim_machine_free(m);
}

static void nonsense_is_no_device(void **state)
{
    (void)state;
    plim_machine *m = detect("-- file /sys/bus/pci/devices/0000:01:00.0/uevent --\n"
                             "PCI_CLASS=99999999\nPCI_ID=10DE:20B0\n"
                             "-- file /sys/bus/pci/devices/0000:02:00.0/uevent --\n"
                             "PCI_CLASS=30000\nPCI_ID=10DE\n"
                             "-- file /sys/bus/pci/devices/0000:03:00.0/uevent --\n"
                             "PCI_CLASS=30000\nPCI_ID=110DE:20B0\n"
                             "-- file /sys/bus/pci/devices/0000:04:00.0/uevent hex --\n00 ff fe\n");
    assert_int_equal(m->devices.count, 0);
    plim_machine_free(m);
}

static void a_bus_that_may_not_be_listed_is_a_note(void **state)
{
    (void)state;
    plim_machine *m = detect("-- dir /sys/bus/pci/devices failed=PERMISSION --\n");
    assert_non_null(note_about(m, "/sys/bus/pci/devices"));
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_comes_from_uevent),
        cmocka_unit_test(identity_comes_from_attributes_where_uevent_lacks_it),
        cmocka_unit_test(what_only_shows_pictures_is_left_out),
        cmocka_unit_test(accelerators_of_every_class_are_found),
        cmocka_unit_test(a_gpu_without_a_display_class_has_its_name),
        cmocka_unit_test(an_unknown_makers_accelerator_is_listed),
        cmocka_unit_test(an_unknown_makers_display_is_not_for_use),
        cmocka_unit_test(the_board_tells_tpu_generations_apart),
        cmocka_unit_test(what_keeps_a_device_from_use_is_said),
        cmocka_unit_test(a_missing_driver_is_a_note_with_a_hint),
        cmocka_unit_test(a_cloud_tpu_is_used_through_vfio),
        cmocka_unit_test(the_revision_tells_products_of_one_chip_apart),
        cmocka_unit_test(a_node_that_may_not_be_opened_keeps_a_device_from_use),
        cmocka_unit_test(virtual_functions_are_parts),
        cmocka_unit_test(a_second_head_is_no_second_device),
        cmocka_unit_test(the_link_is_what_the_function_reports),
        cmocka_unit_test(a_sleeping_device_is_not_asked_for_its_link),
        cmocka_unit_test(nonsense_is_no_device),
        cmocka_unit_test(a_bus_that_may_not_be_listed_is_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
