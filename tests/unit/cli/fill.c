/* Templates: what is known is said, what is not drops out with the words around it. */
#include "unit/test.h"

#include "cli/fill.h"

#include <plimsoll/machine.h>
#include <string.h>

static const char document[] =
    "{\"schema\": \"plimsoll.machine/1\", \"cpu\": {\"sockets\": 1, \"physical_cores\": 8,"
    " \"isa\": [\"avx2\", \"fma\"]}, \"memory\": {\"total_bytes\": 1073741824,"
    " \"swap_total_bytes\": 0}, \"environment\": {\"kubernetes\": true, \"wsl\": false},"
    " \"storage\": [{\"name\": \"sda\", \"kind\": \"hdd\"}, {\"name\": \"sdb\"}],"
    " \"devices\": [{\"name\": \"G\", \"memory\": {\"total_bytes\": 1048576},"
    " \"sources\": {\"memory.total_bytes\": \"table\", \"name\": \"table\"}}]}";

static plim_machine *machine;

static int set_up(void **state)
{
    plimsoll *context;
    (void)state;
    if (plim_open(NULL, &context) != PLIM_OK)
        return 1;
    plim_status status =
        plim_machine_from_json(context, document, sizeof document - 1, NULL, &machine);
    plim_close(context);
    return status != PLIM_OK;
}

static int tear_down(void **state)
{
    (void)state;
    plim_machine_free(machine);
    return 0;
}

static void templates(void **state)
{
    static const struct {
        const char *template, *text;
    } cases[] = {
        {"{cpu.sockets#socket}, {cpu.physical_cores#core}", "1 socket, 8 cores"},
        {"{cpu.isa}", "avx2 fma"},
        {"{cpu.brand/cpu.vendor/cpu.sockets}", "1"},
        {"[{cpu.brand} with ]{cpu.sockets}", "1"},
        {"{cpu.brand}~{cpu.sockets}~{cpu.vendor}~{cpu.physical_cores}", "1, 8"},
        {"[a {cpu.sockets}[ of {cpu.brand}] b]", "a 1 b"},
        {"{environment.kubernetes?Kubernetes}~{environment.wsl?WSL}", "Kubernetes"},
        {"{memory.total_bytes}[ and {memory.swap_total_bytes} swap]", "1.00 GiB and 0 B swap"},
        {"{memory.total_bytes}[ and {memory.swap_total_bytes+} swap]", "1.00 GiB"},
        {"<storage|; |{name}[ {kind}]>", "sda hdd; sdb"},
        {"<devices||{name} {memory.total_bytes}>", "G 1.00 MiB (nominal)"},
        {"words {cpu.brand} alone", ""},
        {"{nothing.such}", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        size_t n = cli_fill(text, sizeof text, cases[i].template, &plim_record_machine, machine);
        assert_int_equal(n, strlen(cases[i].text));
        if (n)
            assert_string_equal(text, cases[i].text);
    }
}

static void what_is_too_long_is_cut(void **state)
{
    char text[8];
    (void)state;
    assert_int_equal(cli_fill(text, sizeof text, "{cpu.isa}", &plim_record_machine, machine), 7);
    assert_string_equal(text, "avx2...");
}

/* Brackets that do not match are no reason to read beyond the end. */
static void broken_templates(void **state)
{
    static const char *const templates[] = {"{",
                                            "[",
                                            "<",
                                            "<|",
                                            "<storage",
                                            "[{",
                                            "]",
                                            "{}",
                                            "<||>",
                                            "{cpu.sockets#",
                                            "<storage|{name}"};
    char text[64];
    (void)state;
    for (size_t i = 0; i < COUNT(templates); i++)
        (void)cli_fill(text, sizeof text, templates[i], &plim_record_machine, machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates),
        cmocka_unit_test(what_is_too_long_is_cut),
        cmocka_unit_test(broken_templates),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
