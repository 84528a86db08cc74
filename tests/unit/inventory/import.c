/* Machine documents that must be refused, and how that is said; and what is read of good ones. */
#include "unit/test.h"

#include <plimsoll/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#define SCHEMA "\"schema\": \"plimsoll.machine/1\""

static plim_status import(const char *text, size_t length, plim_error *error, plim_machine **m)
{
    plimsoll *context;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    plim_status status = plim_machine_from_json(context, text, length, error, m);
    plim_close(context);
    return status;
}

static void refusals_name_the_place(void **state)
{
    static const struct {
        const char *text;
        plim_status status;
        const char *what;
    } cases[] = {
        {"", PLIM_PARSE, "not JSON: input length is 0"},
        {"[1]", PLIM_VERSION, "it names no schema"},
        {"{\"schema\": 1}", PLIM_VERSION, "it names no schema"},
        {"{\"schema\": \"plimsoll.model/1\"}", PLIM_VERSION,
         "its schema is \"plimsoll.model/1\", not \"plimsoll.machine/1\""},
        {"{" SCHEMA ", \"os\": 1}", PLIM_PARSE, "os is no object"},
        {"{" SCHEMA ", \"os\": {\"name\": 1}}", PLIM_PARSE, "os.name is no text"},
        {"{" SCHEMA ", \"cpu\": {\"caches\": {\"l2\": []}}}", PLIM_PARSE,
         "cpu.caches.l2 is no object"},
        {"{" SCHEMA ", \"cpu\": {\"caches\": 2}}", PLIM_PARSE, "cpu.caches is no object"},
        {"{" SCHEMA ", \"cpu\": {\"isa\": \"avx2\"}}", PLIM_PARSE, "cpu.isa is no list"},
        {"{" SCHEMA ", \"cpu\": {\"isa\": [\"avx2\", 2]}}", PLIM_PARSE, "cpu.isa[1] is no text"},
        {"{" SCHEMA ", \"cpu\": {\"max_freq_khz\": [1.5]}}", PLIM_PARSE,
         "cpu.max_freq_khz[0] is no whole number of 64 bits without a sign"},
        {"{" SCHEMA ", \"cpu\": {\"quota_cpus\": \"4\"}}", PLIM_PARSE,
         "cpu.quota_cpus is no number"},
        {"{" SCHEMA ", \"memory\": {\"total_bytes\": -1}}", PLIM_PARSE,
         "memory.total_bytes is no whole number of 64 bits without a sign"},
        {"{" SCHEMA ", \"memory\": {\"total_bytes\": 18446744073709551616}}", PLIM_PARSE,
         "memory.total_bytes is no whole number of 64 bits without a sign"},
        {"{" SCHEMA ", \"memory\": {\"total_bytes\": NaN}}", PLIM_PARSE, NULL},
        {"{" SCHEMA ", \"memory\": {\"pressure\": {\"some_avg10\": 1e999}}}", PLIM_PARSE, NULL},
        {"{" SCHEMA ", \"devices\": {}}", PLIM_PARSE, "devices is no list"},
        {"{" SCHEMA ", \"devices\": [{}, {\"available\": 1}]}", PLIM_PARSE,
         "devices[1].available is neither true nor false"},
        {"{" SCHEMA ", \"devices\": [{\"numa_node\": 9223372036854775808}]}", PLIM_PARSE,
         "devices[0].numa_node is no whole number of 64 bits"},
        {"{" SCHEMA ", \"devices\": [{\"sources\": [1]}]}", PLIM_PARSE,
         "devices[0].sources is no object"},
        {"{" SCHEMA ", \"devices\": [{\"sources\": {\"name\": 1}}]}", PLIM_PARSE,
         "devices[0].sources.name is no text"},
        {"{" SCHEMA ", \"timing\": {\"probes\": {\"a\": -1}}}", PLIM_PARSE,
         "timing.probes.a is no whole number of 64 bits without a sign"},
        {"{" SCHEMA ", \"os\": {\"name\": \"a\", \"name\": \"b\"}}", PLIM_PARSE,
         "os.name is there twice"},
        {"{" SCHEMA ", \"os\": {}, \"os\": {}}", PLIM_PARSE, "os is there twice"},
        {"{" SCHEMA ", \"devices\": [{\"index\": 1}]}", PLIM_PARSE,
         "devices[0].index is not its place"},
        {"{" SCHEMA ", \"devices\": [{\"parent\": 0}]}", PLIM_PARSE,
         "devices[0].parent is no device before it"},
        {"{" SCHEMA ", \"links\": [{\"a\": 0}]}", PLIM_PARSE,
         "links[0] joins a device that is not there"},
        {"{" SCHEMA ", \"os\": {\"name\": \"\xff\"}}", PLIM_PARSE, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_error error = PLIM_ERROR_INIT;
        plim_machine *m = NULL;
        assert_int_equal(import(cases[i].text, strlen(cases[i].text), &error, &m), cases[i].status);
        assert_null(m);
        assert_int_equal(error.status, cases[i].status);
        assert_string_equal(error.subject, "machine document");
        if (cases[i].what)
            assert_string_equal(error.what, cases[i].what);
    }
}

/* "{schema, key: [item, item ...]}" with n items; freed by the caller. */
static char *with_list(const char *key, const char *item, size_t n)
{
    char *text = malloc(100 + n * (strlen(item) + 1)), *end = text;
    assert_non_null(text);
    end += sprintf(end, "{" SCHEMA ", \"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s%s", i ? "," : "", item);
    (void)sprintf(end, "]}");
    return text;
}

static void lists_end_somewhere(void **state)
{
    static const struct {
        const char *key;
        size_t n;
        plim_status status;
        const char *what;
    } cases[] = {
        {"devices", PLI_MAX_DEVICES, PLIM_OK, ""},
        {"devices", PLI_MAX_DEVICES + 1, PLIM_LIMIT, "1025 devices, at most 1024"},
        {"notes", PLI_MAX_NOTES + 1, PLIM_LIMIT, "1001 notes, at most 1000"},
        {"storage", PLI_MAX_LIST + 1, PLIM_LIMIT, "storage is too long a list"},
        {"devices", 1000000, PLIM_LIMIT, "devices is too long a list"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_error error = PLIM_ERROR_INIT;
        plim_machine *m = NULL;
        char *text = with_list(cases[i].key, "{}", cases[i].n);
        assert_int_equal(import(text, strlen(text), &error, &m), cases[i].status);
        assert_string_equal(error.what, cases[i].what);
        plim_machine_free(m);
        free(text);
    }
}

static void what_is_read(void **state)
{
    static const char text[] =
        "{" SCHEMA ", \"new\": [1], \"os\": {\"name\": \"a\\u001b[31m\\u0000b\", \"kernel\": null},"
        " \"memory\": {\"pressure\": {\"some_avg10\": 4}}, \"memory.total_bytes\": 5,"
        " \"devices\": [{\"name\": \"x\", \"sources\": {\"name\": \"nvml\", \"uuid\": \"none\"}}]}";
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *m;
    (void)state;
    assert_int_equal(import(text, sizeof text - 1, &error, &m), PLIM_OK);
    /* control characters do not reach a terminal */
    assert_string_equal(m->os->name, "a?[31m?b");
    /* null is unknown */
    assert_false(PLIM_KNOWN(os, m->os, kernel));
    /* 4 is as good a number as 4.0 */
    assert_true(PLIM_KNOWN(memory, m->memory, pressure_some_avg10));
    assert_true(m->memory->pressure_some_avg10 > 3.9 && m->memory->pressure_some_avg10 < 4.1);
    /* a dot in a key is a character, not a path */
    assert_false(PLIM_KNOWN(memory, m->memory, total_bytes));
    const plim_device *d = m->devices.items[0];
    assert_string_equal(d->head.source[PLIM_F_device_name], "nvml");
    assert_null(d->head.source[PLIM_F_device_uuid]);
    plim_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(lists_end_somewhere),
        cmocka_unit_test(what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
