/* CPU lists and masks, as the kernel writes them. */
#include "unit/test.h"

#include "base/cpuset.h"
#include "base/limits.h"

static void lists(void **state)
{
    pli_arena *a = pli_arena_new(NULL, PLI_MAX_ARENA);
    pli_cpuset s;
    (void)state;
    assert_true(pli_cpuset_parse_list(a, pli_s("0-3,8,10-11\n"), &s));
    assert_int_equal(pli_cpuset_count(&s), 7);
    assert_true(pli_cpuset_has(&s, 8) && !pli_cpuset_has(&s, 9) && !pli_cpuset_has(&s, 100000));
    assert_string_equal(pli_cpuset_list(a, &s), "0-3,8,10-11");
    assert_true(pli_cpuset_parse_list(a, pli_s("63-64,1023"), &s)); /* across words */
    assert_string_equal(pli_cpuset_list(a, &s), "63-64,1023");
    assert_int_equal(pli_cpuset_next(&s, 65), 1023);
    assert_true(pli_cpuset_next(&s, 1024) == SIZE_MAX);
    assert_true(pli_cpuset_parse_list(a, pli_s("\n"), &s) && pli_cpuset_count(&s) == 0);
    assert_string_equal(pli_cpuset_list(a, &s), "");
    static const char *const bad[] = {
        "3-1", "a", "0-", "-1", "0,,1", "0-99999999", "18446744073709551616", "1 2"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(pli_cpuset_parse_list(a, pli_s(bad[i]), &s));
    pli_arena_free(a);
}

static void masks(void **state)
{
    pli_arena *a = pli_arena_new(NULL, PLI_MAX_ARENA);
    pli_cpuset s, t;
    (void)state;
    assert_true(pli_cpuset_parse_mask(a, pli_s("00000001,0000000f"), &s));
    assert_string_equal(pli_cpuset_list(a, &s), "0-3,32");
    assert_true(pli_cpuset_parse_list(a, pli_s("0-3,32"), &t));
    assert_true(pli_cpuset_equal(&s, &t));
    assert_true(pli_cpuset_parse_list(a, pli_s("2-40"), &t));
    pli_cpuset_and(&s, &t);
    assert_string_equal(pli_cpuset_list(a, &s), "2-3,32");
    assert_false(pli_cpuset_parse_mask(a, pli_s("xyz"), &s));
    assert_false(pli_cpuset_parse_mask(a, pli_s(""), &s));
    pli_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(masks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
