/* Columns that text takes on a terminal. */
#include "unit/test.h"

#include "cli/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void widths(void **state)
{
    (void)state;
    assert_int_equal(cli_width(""), 0);
    assert_int_equal(cli_width("GPU"), 3);
    assert_int_equal(cli_width("\u00e9\u2013"), 2);
    assert_int_equal(cli_width("e\u0301"), 1);
    assert_int_equal(cli_width("\u4e03\u5f69\u8679"), 6);
    assert_int_equal(cli_width("\U0001f600"), 2);
    assert_int_equal(cli_width("\xff\xc3"), 2);
}

static void cuts(void **state)
{
    (void)state;
    assert_int_equal(cli_fit("abc", 2), 2);
    assert_int_equal(cli_fit("abc", 9), 3);
    assert_int_equal(cli_fit("\u4e03\u5f69", 3), 3); /* half a character is none */
    assert_int_equal(cli_fit("e\u0301x", 1), 3);
}

static void wrapped(const char *text, size_t at, size_t indent, size_t width, const char *expected)
{
    char found[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    cli_wrap(file, text, at, indent, width);
    rewind(file);
    size_t n = fread(found, 1, sizeof found - 1, file);
    found[n] = '\0';
    (void)fclose(file);
    assert_string_equal(found, expected);
}

static void lines(void **state)
{
    (void)state;
    wrapped("", 0, 0, 10, "\n");
    wrapped("a  b ", 0, 0, 0, "a b\n");
    wrapped("one two three", 0, 2, 7, "one two\n  three\n");
    wrapped("one two three", 5, 2, 8, "one\n  two\n  three\n");
    wrapped("unbreakable", 0, 2, 4, "unbreakable\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),
        cmocka_unit_test(cuts),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
