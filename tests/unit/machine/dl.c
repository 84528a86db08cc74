/* Loading libraries: names in turn, required and optional symbols. libm stands in for a vendor. */
#include "machine/machine.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "machine/libs.h"
#include "machine/live.h"

static const char *const libm[] = {"libplimsoll-none.so.9", "libm.so.6", NULL};

static void later_names_are_tried(void **state)
{
    (void)state;
    static const pli_lib_symbol wanted[] = {{"cos", true}, {"plimsoll_no_such", false}};
    static const pli_lib lib = {"math", libm, wanted, 2};
    pli_symbol symbols[2];
    if (pli_dl_load(&lib, symbols) == PLIM_NOT_FOUND)
        skip(); /* not glibc */
    assert_non_null(symbols[0]);
    assert_null(symbols[1]);
    double (*cosine)(double) = (double (*)(double))symbols[0];
    assert_true(cosine(0) == 1.0);
}

static void a_required_symbol_is_required(void **state)
{
    (void)state;
    static const pli_lib_symbol wanted[] = {{"cos", true}, {"plimsoll_no_such", true}};
    static const pli_lib lib = {"math", libm, wanted, 2};
    pli_symbol symbols[2];
    plim_status status = pli_dl_load(&lib, symbols);
    if (status == PLIM_NOT_FOUND)
        skip();
    assert_int_equal(status, PLIM_VERSION);
}

static void an_absent_library_is_not_found(void **state)
{
    (void)state;
    static const char *const names[] = {"libplimsoll-none.so.9", "/nowhere/libx.so.1", NULL};
    static const pli_lib_symbol wanted[] = {{"cos", true}};
    static const pli_lib lib = {"none", names, wanted, 1};
    pli_symbol symbols[1];
    memset(symbols, 0xff, sizeof symbols);
    assert_int_equal(pli_dl_load(&lib, symbols), PLIM_NOT_FOUND);
    assert_null(symbols[0]);
}

static void the_rows_are_versioned(void **state)
{
    (void)state;
    assert_string_equal(pli_sonames_nvml[0], "libnvidia-ml.so.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_names_are_tried),
        cmocka_unit_test(a_required_symbol_is_required),
        cmocka_unit_test(an_absent_library_is_not_found),
        cmocka_unit_test(the_rows_are_versioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
