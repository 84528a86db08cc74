/* Distances between names, worked out by hand. */
#include "unit/test.h"

#include "base/near.h"

static size_t far(const char *a, const char *b)
{
    size_t there = pli_distance(pli_s(a), pli_s(b)), back = pli_distance(pli_s(b), pli_s(a));
    assert_int_equal(there, back);
    return there;
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(far("", ""), 0);
    assert_int_equal(far("", "abc"), 3);
    assert_int_equal(far("RTX 4090", "rtx 4090"), 0);
    assert_int_equal(far("kitten", "sitting"), 3);
    assert_int_equal(far("qwen", "qewn"), 1); /* neighbours swapped */
    assert_int_equal(far("lama", "llama"), 1);
    assert_int_equal(far("ab", "ba"), 1);
    assert_int_equal(far("flaw", "lawn"), 2);
}

static void long_names(void **state)
{
    char a[500], b[500];
    (void)state;
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = 'a';
        b[i] = 'b';
    }
    assert_int_equal(pli_distance((pli_str){a, sizeof a}, (pli_str){b, sizeof b}), PLI_NEAR_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(long_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
