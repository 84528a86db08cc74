/* Options of older and newer programs. */
#include "../test.h"

#include "base/options.h"

struct options {
    size_t struct_size;
    int first, second;
};

static const struct options defaults = {sizeof defaults, 1, 2};

static void same_version(void **state)
{
    struct options to = defaults, from = {sizeof from, 10, 20};
    (void)state;
    assert_true(pli_options_take(&to, sizeof to, &from));
    assert_int_equal(to.first, 10);
    assert_int_equal(to.second, 20);
    to = defaults;
    assert_true(pli_options_take(&to, sizeof to, NULL));
    assert_int_equal(to.first, 1);
}

static void older_program(void **state)
{
    struct options to = defaults, from = {offsetof(struct options, second), 10, 20};
    (void)state;
    assert_true(pli_options_take(&to, sizeof to, &from));
    assert_int_equal(to.first, 10);
    assert_int_equal(to.second, 2);
    assert_int_equal(to.struct_size, sizeof to);
}

static void newer_program(void **state)
{
    struct {
        struct options known;
        int third;
    } from = {{sizeof from, 10, 20}, 30};
    struct options to = defaults;
    (void)state;
    assert_true(pli_options_take(&to, sizeof to, &from));
    assert_int_equal(to.second, 20);
    assert_int_equal(to.struct_size, sizeof to);
}

static void not_initialised(void **state)
{
    struct options to = defaults, from = {0, 10, 20};
    (void)state;
    assert_false(pli_options_take(&to, sizeof to, &from));
    assert_int_equal(to.first, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_version),
        cmocka_unit_test(older_program),
        cmocka_unit_test(newer_program),
        cmocka_unit_test(not_initialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
