/* Records to JSON and back, and JSON that must be refused. */
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/record.h"
#include "inventory/inventory.h"

static plim_status read_text(const char *text, plim_error *error)
{
    yyjson_doc *doc;
    plim_status status = pli_json_read(NULL, text, strlen(text), 1000, "x", error, &doc);
    yyjson_doc_free(doc);
    return status;
}

static void refusals(void **state)
{
    plim_error e = PLIM_ERROR_INIT;
    char deep[2 * PLI_MAX_JSON_DEPTH + 3];
    (void)state;
    assert_int_equal(read_text("{\"a\": 1}", &e), PLIM_OK);
    assert_int_equal(read_text("{\"a\": }", &e), PLIM_PARSE);
    assert_int_equal(e.offset, 6);
    assert_string_equal(e.subject, "x");
    memset(deep, '[', PLI_MAX_JSON_DEPTH);
    memset(deep + PLI_MAX_JSON_DEPTH, ']', PLI_MAX_JSON_DEPTH);
    deep[2 * PLI_MAX_JSON_DEPTH] = '\0';
    assert_int_equal(read_text(deep, &e), PLIM_OK);
    memset(deep, '[', PLI_MAX_JSON_DEPTH + 1);
    assert_int_equal(read_text(deep, &e), PLIM_LIMIT);
    assert_int_equal(e.offset, PLI_MAX_JSON_DEPTH);
    /* brackets in a string are no levels */
    assert_int_equal(read_text("\"[[[[[[[\\\"[[[\"", &e), PLIM_OK);
    char *large = calloc(1, 1002);
    memset(large, ' ', 1001);
    assert_int_equal(read_text(large, &e), PLIM_LIMIT);
    free(large);
}

static void unknown_is_absent_and_zero_is_not(void **state)
{
    pli_inventory inv;
    plim_machine *m;
    char *text;
    (void)state;
    assert_int_equal(pli_inventory_new(NULL, &inv), PLIM_OK);
    plim_device *d = pli_add_device(&inv);
    PLI_SET(device, d, memory_used_bytes, 0, "nvml");
    PLI_SET(device, d, numa_node, -1, "sysfs");
    PLI_FORGET(device, d, numa_node);
    assert_int_equal(pli_inventory_freeze(&inv, &m), PLIM_OK);
    assert_int_equal(plim_machine_to_json(m, 0, &text, NULL), PLIM_OK);
    assert_non_null(strstr(text, "\"memory\":{\"used_bytes\":0}"));
    assert_non_null(strstr(text, "\"sources\":{\"memory.used_bytes\":\"nvml\"}"));
    assert_null(strstr(text, "numa_node"));
    assert_null(strstr(text, "total_bytes"));
    plim_text_free(text);
    plim_machine_free(m);
}

static const char document[] =
    "{\"schema\":\"plimsoll.machine/1\",\"version\":\"0.1.0\",\"cpu\":{\"brand\":\"A  "
    "B\",\"quota_cpus\":2.5,"
    "\"core_kinds\":[{\"kind\":\"P\",\"cpus\":\"0-3\",\"count\":4}],\"isa\":[\"avx2\",\"amx_int8\"]"
    ","
    "\"caches\":{\"l2\":{\"instances\":2,\"total_bytes\":4194304,\"sizes\":[{\"size_bytes\":"
    "2097152,\"count\":2}]}},"
    "\"max_freq_khz\":[5000000,3000000]},\"devices\":[{\"index\":0,\"pci\":{\"address\":\"0000:03:"
    "00.0\"},"
    "\"memory\":{\"total_bytes\":18446744073709551615},\"numa_node\":-7,\"telemetry\":{\"power_w\":"
    "12.25},"
    "\"sources\":{\"memory.total_bytes\":\"nvml\"}}],\"links\":[],\"notes\":[],"
    "\"timing\":{\"total_us\":5,\"probes\":{\"x\":5}}}";

static void in_is_out(void **state)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_machine *m;
    char *text;
    (void)state;
    assert_int_equal(plim_machine_from_json(NULL, document, strlen(document), &e, &m), PLIM_OK);
    const plim_device *d = m->devices.items[0];
    assert_true(d->memory_total_bytes == UINT64_MAX && d->numa_node == -7);
    assert_true(PLIM_KNOWN(device, d, numa_node) && !PLIM_KNOWN(device, d, name));
    assert_int_equal(m->cpu->l2->instances, 2);
    assert_null(m->cpu->l3);
    assert_int_equal(plim_machine_to_json(m, 0, &text, NULL), PLIM_OK);
    assert_string_equal(text, document);
    plim_text_free(text);
    plim_machine_free(m);
}

static void wrong_types_are_named(void **state)
{
    static const struct {
        const char *json, *path;
    } cases[] = {
        {"{\"schema\":\"plimsoll.machine/1\",\"devices\":[{},{\"memory\":{\"total_bytes\":-1}}]}",
         "devices[1].memory.total_bytes"},
        {"{\"schema\":\"plimsoll.machine/1\",\"cpu\":{\"isa\":[1]}}", "cpu.isa"},
        {"{\"schema\":\"plimsoll.machine/1\",\"cpu\":7}", "cpu"},
        {"{\"schema\":\"plimsoll.machine/1\",\"timing\":{\"probes\":{\"a\":\"b\"}}}",
         "timing.probes"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_error e = PLIM_ERROR_INIT;
        plim_machine *m = NULL;
        assert_int_equal(plim_machine_from_json(NULL, cases[i].json, strlen(cases[i].json), &e, &m),
                         PLIM_PARSE);
        assert_null(m);
        assert_non_null(strstr(e.what, cases[i].path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(unknown_is_absent_and_zero_is_not),
        cmocka_unit_test(in_is_out),
        cmocka_unit_test(wrong_types_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
