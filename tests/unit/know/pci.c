#include "know/pci.h"

#include <string.h>

#include "../test.h"

/* The rows as they stand, for what the lookups take for granted. */
static const struct row {
    unsigned vendor, device;
    int revision;
    const char *name;
} gpus[] = {
#define GPU(v, d, name) {0x##v, 0x##d, -1, name},
#define GPU_REV(v, d, r, name) {0x##v, 0x##d, 0x##r, name},
#include "know/pci_gpus.def"
#undef GPU
#undef GPU_REV
};

static void gpu_names_ascend(void **state)
{
    (void)state;
    for (size_t i = 1; i < COUNT(gpus); i++) {
        const struct row *a = &gpus[i - 1], *b = &gpus[i];
        int order = a->vendor != b->vendor   ? (int)a->vendor - (int)b->vendor
                    : a->device != b->device ? (int)a->device - (int)b->device
                                             : a->revision - b->revision;
        if (order >= 0)
            fail_msg("row %zu: %04x:%04x is not behind the row before", i, b->vendor, b->device);
    }
}

static void every_gpu_name_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(gpus); i++) {
        const struct row *g = &gpus[i];
        const char *name = pli_pci_gpu_name((uint16_t)g->vendor, (uint16_t)g->device, g->revision);
        assert_string_equal(name, g->name);
    }
}

/* Ids that tables of other tools give to the wrong product (facts: seeds.md 1(d)). */
static void ids_that_others_confuse(void **state)
{
    static const struct row rows[] = {
        {0x10de, 0x2782, -1, "GeForce RTX 4070 Ti"},
        {0x10de, 0x2705, -1, "GeForce RTX 4070 Ti SUPER"},
        {0x10de, 0x2786, -1, "GeForce RTX 4070"},
        {0x10de, 0x2803, -1, "GeForce RTX 4060 Ti"},
        {0x10de, 0x2805, -1, "GeForce RTX 4060 Ti 16GB"},
        {0x10de, 0x2324, -1, "H800"},
        {0x10de, 0x2331, -1, "H100 PCIe"},
        {0x10de, 0x20b0, -1, "A100 SXM4 40GB"},
        {0x10de, 0x20b2, -1, "A100 SXM4 80GB"},
        {0x10de, 0x20b5, -1, "A100 PCIe 80GB"},
        {0x10de, 0x20f1, -1, "A100 PCIe 40GB"},
        {0x1002, 0x744c, 0xc8, "Radeon RX 7900 XTX"},
        {0x1002, 0x744c, 0xcc, "Radeon RX 7900 XT"},
        {0x1002, 0x747e, 0xc8, "Radeon RX 7800 XT"},
        {0x1002, 0x7448, 0x00, "Radeon Pro W7900"},
        {0x8086, 0x56a0, -1, "Arc A770"},
        {0x8086, 0x56a1, -1, "Arc A750"},
        {0x8086, 0x56a5, -1, "Arc A380"},
        {0x8086, 0x5690, -1, "Arc A770M"},
        {0x8086, 0x56c0, -1, "Data Center GPU Flex 170"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name =
            pli_pci_gpu_name((uint16_t)rows[i].vendor, (uint16_t)rows[i].device, rows[i].revision);
        assert_non_null(name);
        assert_string_equal(name, rows[i].name);
    }
    assert_non_null(strstr(pli_pci_gpu_name(0x1002, 0x74a1, -1), "MI300X"));
    assert_non_null(strstr(pli_pci_gpu_name(0x1002, 0x7408, -1), "MI250X"));
    assert_non_null(strstr(pli_pci_gpu_name(0x1002, 0x740f, -1), "MI210"));
}

static void what_is_not_known_has_no_name(void **state)
{
    (void)state;
    assert_null(pli_pci_gpu_name(0x10de, 0x0001, -1));
    assert_null(pli_pci_gpu_name(0xffff, 0xffff, 0));
    assert_null(pli_pci_gpu_name(0, 0, 0));
    assert_null(pli_pci_vendor_name(0x1234));
    assert_null(pli_pci_role_of(0x1a03, 0x2000, 0, 0x030000).kind);
}

static void an_unknown_revision_takes_the_chips_name(void **state)
{
    (void)state;
    const char *chip = pli_pci_gpu_name(0x1002, 0x744c, -1);
    assert_string_equal(pli_pci_gpu_name(0x1002, 0x744c, 0x01), chip);
    assert_non_null(strstr(chip, "7900 XT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpu_names_ascend),
        cmocka_unit_test(every_gpu_name_is_found),
        cmocka_unit_test(ids_that_others_confuse),
        cmocka_unit_test(what_is_not_known_has_no_name),
        cmocka_unit_test(an_unknown_revision_takes_the_chips_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
