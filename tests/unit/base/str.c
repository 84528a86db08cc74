/* Views: lines, words, parts, key and value, and text from drivers that must not reach a terminal
 * as it is. */
#include "unit/test.h"

#include <string.h>

#include "base/str.h"

static void lines(void **state)
{
    pli_str rest = pli_s("one\r\n\ntwo"), line;
    (void)state;
    assert_true(pli_next_line(&rest, &line) && pli_eq(line, "one"));
    assert_true(pli_next_line(&rest, &line) && line.n == 0);
    assert_true(pli_next_line(&rest, &line) && pli_eq(line, "two"));
    assert_false(pli_next_line(&rest, &line));
    rest = pli_s("");
    assert_false(pli_next_line(&rest, &line));
}

static void words_and_parts(void **state)
{
    pli_str rest = pli_s("  a \tbc  "), word;
    (void)state;
    assert_true(pli_next_word(&rest, &word) && pli_eq(word, "a"));
    assert_true(pli_next_word(&rest, &word) && pli_eq(word, "bc"));
    assert_false(pli_next_word(&rest, &word));
    rest = pli_s("x,,y,");
    assert_true(pli_next_part(&rest, ',', &word) && pli_eq(word, "x"));
    assert_true(pli_next_part(&rest, ',', &word) && word.n == 0);
    assert_true(pli_next_part(&rest, ',', &word) && pli_eq(word, "y"));
    assert_true(pli_next_part(&rest, ',', &word) && word.n == 0); /* behind the last comma */
    assert_false(pli_next_part(&rest, ',', &word));
}

static void values(void **state)
{
    pli_str value;
    (void)state;
    assert_true(pli_find_value(pli_s("MemTotal:  17 kB\nMemFree: 5 kB\n"), "MemFree", ':', &value));
    assert_true(pli_eq(value, "5 kB"));
    assert_false(pli_find_value(pli_s("MemTotal:  17 kB\n"), "Mem", ':', &value));
    assert_int_equal(value.n, 0);
    assert_true(pli_contains_nocase(pli_s("VMware SVGA"), "vmware"));
    assert_false(pli_contains(pli_s("abc"), "abcd"));
    assert_true(pli_ends(pli_s("x.gguf"), ".gguf") && !pli_ends(pli_s("f"), ".gguf"));
}

static void utf8(void **state)
{
    (void)state;
    assert_true(pli_utf8_valid(pli_s("Intel\xc2\xae \xe2\x82\xac \xf0\x9f\x9a\xa2")));
    static const char *const bad[] = {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                      "\xe2\x82", "\x80",         "\xf0\x80\x80\x80"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(pli_utf8_valid(pli_s(bad[i])));
}

static void cleaning(void **state)
{
    char out[64], tiny[4];
    (void)state;
    (void)pli_clean(pli_s("RTX\x1b[31m 4090\x07"), out, sizeof out);
    assert_string_equal(out, "RTX?[31m 4090?");
    /* bad byte, C1 control, letter */
    (void)pli_clean(pli_s("a\xff\xc2\x9b\xc3\xa9"), out, sizeof out);
    assert_string_equal(out, "a??\xc3\xa9");
    assert_true(pli_is_clean(pli_s("\xc3\xa9t\xc3\xa9")));
    assert_true(pli_is_clean(pli_s("")));
    assert_false(pli_is_clean(pli_s("a\xff")));
    assert_false(pli_is_clean(pli_s("RTX\x1b[31m")));
    assert_false(pli_is_clean(pli_s("a\xc2\x9b")));
    /* no half character */
    assert_int_equal(pli_clean(pli_s("ab\xe2\x82\xac"), tiny, sizeof tiny), 2);
    assert_string_equal(tiny, "ab");
    static const char field[4] = {'a', 'b', 'c', 'd'};
    assert_int_equal(pli_field_str(field, sizeof field).n, 4); /* without a terminator */
    assert_int_equal(pli_field_str("ab\0d", 4).n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines), cmocka_unit_test(words_and_parts), cmocka_unit_test(values),
        cmocka_unit_test(utf8),  cmocka_unit_test(cleaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
