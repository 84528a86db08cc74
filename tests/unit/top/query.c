/* Questions to a machine: answers worked out by hand. */
#include "unit/test.h"

#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <string.h>

#define GIB(n) ((uint64_t)(n) << 30)

static plimsoll *context;

static plim_machine *machine_of(const char *spec)
{
    plim_machine *machine;
    assert_int_equal(plim_machine_from_spec(context, spec, NULL, &machine), PLIM_OK);
    return machine;
}

static plim_machine *recorded(const char *name)
{
    char path[512];
    plim_machine *machine;
    plim_detect_options look = PLIM_DETECT_OPTIONS_INIT;
    (void)snprintf(path, sizeof path, "%s/machines/%s.machine", TESTS_DIR, name);
    look.machine_file = path;
    assert_int_equal(plim_machine_detect(context, &look, NULL, NULL, &machine), PLIM_OK);
    return machine;
}

static const char *best_of(const char *spec)
{
    static char name[64];
    plim_machine *machine = machine_of(spec);
    const plim_device *best = plim_machine_best(machine, NULL);
    (void)snprintf(name, sizeof name, "%s", best ? best->name : "none");
    plim_machine_free(machine);
    return name;
}

static void test_the_best_is_not_a_fixed_rank(void **state)
{
    (void)state;
    assert_string_equal(best_of("RTX 4090,RTX 3060"), "RTX 4090");
    assert_string_equal(best_of("RTX 3060,RTX 4090"), "RTX 4090");
    /* a small card of a favoured maker against a large one of another */
    assert_string_equal(best_of("RTX 3060,MI300X"), "MI300X");
    /* 24 GB both: 936 GB/s against 1008 */
    assert_string_equal(best_of("RTX 3090,RTX 4090"), "RTX 4090");
    /* 16 GB each: 560 GB/s against 717 */
    assert_string_equal(best_of("Arc A770,RTX 4080"), "RTX 4080");
    assert_string_equal(best_of("cpu:64GiB"), "none");
}

static void test_ranks_of_the_seed(void **state)
{
    plim_machine *machine = machine_of("RTX 3060,MI300X,M4 Max 64GB,Arc A770");
    static const unsigned ranks[] = {60, 50, 40, 42};
    (void)state;
    for (size_t i = 0; i < COUNT(ranks); i++)
        assert_int_equal(plim_device_rank(machine->devices.items[i]), ranks[i]);
    plim_machine_free(machine);
}

static size_t count_of(const plim_machine *machine, const plim_device_query *query)
{
    size_t count = 0, position = 0;
    while (plim_device_next(machine, query, &position))
        count++;
    return count;
}

static void test_what_is_asked_for(void **state)
{
    plim_machine *machine = machine_of("RTX 4090,RTX 3060,MI300X,cpu:64GiB");
    plim_device_query query = PLIM_DEVICE_QUERY_INIT;
    (void)state;
    assert_int_equal(count_of(machine, NULL), 3);
    query.family = "CUDA"; /* any case */
    assert_int_equal(count_of(machine, &query), 2);
    query.min_memory = GIB(16);
    assert_int_equal(count_of(machine, &query), 1);
    query = (plim_device_query)PLIM_DEVICE_QUERY_INIT;
    query.vendor = "amd";
    assert_int_equal(count_of(machine, &query), 1);
    query.vendor = "am"; /* no part of a name is the name */
    assert_int_equal(count_of(machine, &query), 0);
    query = (plim_device_query)PLIM_DEVICE_QUERY_INIT;
    query.kind = "npu";
    assert_int_equal(count_of(machine, &query), 0);
    plim_machine_free(machine);
}

static void test_memory_is_counted_once(void **state)
{
    plim_memory_totals totals = {.struct_size = sizeof totals};
    plim_machine *machine = machine_of("cuda:24GiB*2,cpu:64GiB");
    (void)state;
    plim_machine_memory_totals(machine, &totals);
    assert_int_equal(totals.host_bytes, GIB(64));
    assert_int_equal(totals.accelerator_bytes, GIB(48));
    assert_int_equal(totals.total_bytes, GIB(112));
    plim_machine_free(machine);
    machine = machine_of("M4 Max 64GB"); /* its GPU has no memory of its own */
    plim_machine_memory_totals(machine, &totals);
    assert_int_equal(totals.accelerator_bytes, 0);
    assert_int_equal(totals.unified_bytes, GIB(64));
    assert_int_equal(totals.total_bytes, GIB(64));
    plim_machine_free(machine);
}

/* A card in slices: the card's memory counts, its slices are what is used. */
static void test_a_card_in_parts(void **state)
{
    plim_memory_totals totals = {.struct_size = sizeof totals};
    plim_machine *machine = recorded("nvidia-h200-mig");
    const plim_device *whole = NULL;
    uint64_t sum = 0, parts = 0;
    (void)state;
    for (size_t i = 0; i < machine->devices.count; i++) {
        const plim_device *d = machine->devices.items[i];
        bool part = PLIM_KNOWN(device, d, parent);
        parts += part;
        sum += part ? 0 : d->memory_total_bytes;
        whole = part ? whole : d;
    }
    assert_true(parts > 1);
    plim_machine_memory_totals(machine, &totals);
    assert_int_equal(totals.accelerator_bytes, sum);
    const plim_device *best = plim_machine_best(machine, NULL);
    assert_non_null(best);
    assert_true(PLIM_KNOWN(device, best, parent));
    plim_device_query all = PLIM_DEVICE_QUERY_INIT;
    all.parts = all.unavailable = true;
    assert_true(plim_device_matches(machine, whole, &all));
    assert_false(plim_device_matches(machine, whole, NULL));
    plim_machine_free(machine);
}

static void test_sizes_as_text(void **state)
{
    uint64_t bytes = 7;
    (void)state;
    assert_true(plim_bytes_parse("24GiB", &bytes));
    assert_int_equal(bytes, GIB(24));
    assert_false(plim_bytes_parse("much", &bytes));
    assert_false(plim_bytes_parse(NULL, &bytes));
    assert_int_equal(bytes, GIB(24));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_is_not_a_fixed_rank),
        cmocka_unit_test(test_ranks_of_the_seed),
        cmocka_unit_test(test_what_is_asked_for),
        cmocka_unit_test(test_memory_is_counted_once),
        cmocka_unit_test(test_a_card_in_parts),
        cmocka_unit_test(test_sizes_as_text),
    };
    if (plim_open(NULL, &context) != PLIM_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    plim_close(context);
    return failed;
}
