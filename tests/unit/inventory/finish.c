#include "inventory/inventory.h"

#include <string.h>

#include "../test.h"

static pli_inventory new_inventory(void)
{
    pli_inventory inv;
    assert_int_equal(pli_inventory_new(NULL, &inv), PLIM_OK);
    return inv;
}

static plim_device *add(pli_inventory *inv, const char *address, const char *uuid)
{
    plim_device *d = pli_add_device(inv);
    assert_non_null(d);
    PLI_SET_STR(device, d, pci_address, address, "bus");
    PLI_SET_STR(device, d, uuid, uuid, "library");
    return d;
}

static void devices_go_by_address_and_parts_behind_the_whole(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    plim_device *soc = add(&inv, NULL, NULL);
    plim_device *far = add(&inv, "10000:01:00.0", NULL);
    plim_device *b = add(&inv, "0000:81:00.0", NULL);
    plim_device *a = add(&inv, "0000:0a:00.0", NULL);
    plim_device *b2 = add(&inv, "0000:81:00.0", "MIG-2"), *b1 = add(&inv, NULL, "MIG-1");
    pli_set_parent(&inv, b2, b);
    pli_set_parent(&inv, b1, b);
    plim_link *link = pli_add_link(&inv);
    pli_set_link_ends(&inv, link, far, a);
    pli_inventory_finish(&inv);
    const plim_device *want[] = {a, b, b2, b1, far, soc};
    assert_int_equal(pli_device_count(&inv), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_ptr_equal(pli_device_at(&inv, i), want[i]);
        assert_int_equal(want[i]->index, i);
    }
    assert_int_equal(b1->parent, 1);
    assert_int_equal(b2->parent, 1);
    assert_int_equal(link->a, 4);
    assert_int_equal(link->b, 0);
    pli_inventory_free(&inv);
}

static void one_device_of_two_probes_is_one_entry(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    plim_device *first = add(&inv, "0000:01:00.0", NULL);
    plim_device *again = add(&inv, "0000:01:00.0", "GPU-1");
    plim_device *part = add(&inv, NULL, "MIG-1");
    PLI_SET(device, first, name, "by the bus", "bus");
    PLI_SET(device, again, name, "by the library", "library");
    PLI_SET(device, again, memory_total_bytes, 17, "library");
    pli_set_parent(&inv, part, again);
    pli_inventory_finish(&inv);
    assert_int_equal(pli_device_count(&inv), 2);
    assert_ptr_equal(pli_device_at(&inv, 0), first);
    assert_string_equal(first->name, "by the bus");
    assert_string_equal(first->uuid, "GPU-1");
    assert_int_equal(first->memory_total_bytes, 17);
    assert_string_equal(PLI_SOURCE(device, first, memory_total_bytes), "library");
    assert_int_equal(part->parent, 0);
    pli_inventory_free(&inv);
}

static void different_ids_keep_devices_apart(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    (void)add(&inv, "0000:01:00.0", "GPU-1");
    (void)add(&inv, "0000:01:00.0", "GPU-2");
    pli_inventory_finish(&inv);
    assert_int_equal(pli_device_count(&inv), 2);
    pli_inventory_free(&inv);
}

static void parents_in_a_circle_are_none(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    plim_device *a = add(&inv, "0000:01:00.0", NULL), *b = add(&inv, "0000:02:00.0", NULL);
    plim_device *c = add(&inv, "0000:03:00.0", NULL);
    pli_set_parent(&inv, a, b);
    pli_set_parent(&inv, b, a);
    pli_set_parent(&inv, c, c);
    pli_inventory_finish(&inv);
    assert_int_equal(pli_device_count(&inv), 3);
    for (size_t i = 0; i < 3; i++) {
        const plim_device *d = pli_device_at(&inv, i);
        assert_int_equal(d->index, i);
        if (pli_is_part(d))
            assert_true(d->parent < i);
    }
    pli_inventory_free(&inv);
}

static void impossible_figures_are_dropped_with_a_note(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    plim_device *d = add(&inv, "0000:01:00.0", NULL);
    PLI_SET(device, d, memory_total_bytes, 100, "x");
    PLI_SET(device, d, memory_used_bytes, 101, "x");
    PLI_SET(device, d, memory_free_bytes, 0, "x");
    pli_inventory_finish(&inv);
    assert_true(PLIM_KNOWN(device, d, memory_total_bytes));
    assert_false(PLIM_KNOWN(device, d, memory_used_bytes));
    assert_false(PLIM_KNOWN(device, d, memory_free_bytes));
    assert_int_equal(inv.machine->notes.count, 1);
    pli_inventory_free(&inv);
}

static void nothing_is_finished_too(void **state)
{
    (void)state;
    pli_inventory inv = new_inventory();
    pli_inventory_finish(&inv);
    assert_int_equal(pli_device_count(&inv), 0);
    pli_inventory_free(&inv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_go_by_address_and_parts_behind_the_whole),
        cmocka_unit_test(one_device_of_two_probes_is_one_entry),
        cmocka_unit_test(different_ids_keep_devices_apart),
        cmocka_unit_test(parents_in_a_circle_are_none),
        cmocka_unit_test(impossible_figures_are_dropped_with_a_note),
        cmocka_unit_test(nothing_is_finished_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
