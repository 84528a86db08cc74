/* A driver from before the functions with a suffix: the oldest forms are enough. */
#include "../test.h"
#include "fake_nvml.h"

static void look(const char *files)
{
    fake_nvml f = {.files = files, .machine = "k20", .isolate = true};
    plim_machine *m = fake_nvml_detect(&f);
    assert_non_null(m);
    assert_int_equal(m->devices.count, 1);
    const plim_device *d = fake_device(m, 0);
    assert_string_equal(d->name, "Tesla K20m");
    assert_string_equal(d->driver_version, "304.137");
    assert_string_equal(d->compute_capability, "3.5");
    assert_string_equal(d->arch, "kepler");
    assert_string_equal(d->pci_address, "0000:02:00.0");
    assert_int_equal(d->memory_total_bytes, 4799 * MIB);
    assert_int_equal(d->memory_free_bytes, 4787 * MIB);
    assert_int_equal(d->memory_used_bytes, 12 * MIB);
    assert_int_equal(d->telemetry_temperature_c, 27);
    assert_false(PLIM_KNOWN(device, d, memory_reserved_bytes));
    assert_false(PLIM_KNOWN(device, d, memory_bus_width_bits));
    assert_false(PLIM_KNOWN(device, d, cores_shading));
    assert_false(PLIM_KNOWN(device, d, mig_enabled));
    assert_int_equal(m->notes.count, 0);
    plim_machine_free(m);
}

static void by_pci_address(void **state)
{
    (void)state;
    look(FAKE_GPU("0000:02:00.0", "1028", "nvidia"));
}

static void by_number(void **state)
{
    (void)state;
    look("-- file /proc/driver/nvidia/version --\n"
         "NVRM version: NVIDIA UNIX x86_64 Kernel Module  304.137  Thu Sep 14 13:37:30 PDT 2017\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_pci_address),
        cmocka_unit_test(by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
