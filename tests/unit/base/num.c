/* Checked numbers: what is a number, what is too large, what is none. */
#include "unit/test.h"

#include <math.h>

#include "base/num.h"

static void whole_numbers(void **state)
{
    uint64_t v = 7;
    (void)state;
    assert_true(pli_parse_u64(pli_s(" 42\n"), &v));
    assert_int_equal(v, 42);
    assert_true(pli_parse_u64(pli_s("18446744073709551615"), &v));
    assert_true(v == UINT64_MAX);
    v = 7;
    static const char *const bad[] = {
        "", " ", "-1", "+1", "1 2", "0x10", "18446744073709551616", "1e3", "12a", "1.0"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(pli_parse_u64(pli_s(bad[i]), &v));
    assert_int_equal(v, 7); /* a failure leaves it alone */
}

static void signed_numbers(void **state)
{
    int64_t v = 7;
    (void)state;
    assert_true(pli_parse_i64(pli_s("-9223372036854775808"), &v));
    assert_true(v == INT64_MIN);
    assert_true(pli_parse_i64(pli_s("9223372036854775807"), &v));
    assert_true(v == INT64_MAX);
    assert_true(pli_parse_i64(pli_s("-1"), &v));
    assert_int_equal(v, -1);
    assert_false(pli_parse_i64(pli_s("9223372036854775808"), &v));
    assert_false(pli_parse_i64(pli_s("-9223372036854775809"), &v));
    assert_false(pli_parse_i64(pli_s("- 1"), &v));
    assert_false(pli_parse_i64(pli_s("--1"), &v));
}

static void hexadecimal(void **state)
{
    uint64_t v = 7;
    (void)state;
    assert_true(pli_parse_hex(pli_s("0x10de"), &v));
    assert_int_equal(v, 0x10de);
    assert_true(pli_parse_hex(pli_s("FFFFFFFFFFFFFFFF"), &v));
    assert_true(v == UINT64_MAX);
    assert_false(pli_parse_hex(pli_s("10000000000000000"), &v));
    assert_false(pli_parse_hex(pli_s("0x"), &v));
    assert_false(pli_parse_hex(pli_s("0xg"), &v));
}

static void decimals(void **state)
{
    double v = 7;
    (void)state;
    assert_true(pli_parse_f64(pli_s("-2.5"), &v));
    assert_true(fabs(v + 2.5) < 1e-12);
    assert_true(pli_parse_f64(pli_s("1.5e-3"), &v));
    assert_true(fabs(v - 0.0015) < 1e-12);
    static const char *const bad[] = {"",      ".",  "1,5", "nan",   "inf",
                                      "1e999", "1e", "e5",  "1.2.3", "-"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(pli_parse_f64(pli_s(bad[i]), &v));
}

static void sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"24GiB", UINT64_C(25769803776)},
        {"24576MiB", UINT64_C(25769803776)},
        {"24g", UINT64_C(25769803776)},
        {"1024", 1024},
        {"64K", 65536},
        {"22.5 GiB", UINT64_C(24159191040)},
        {"1.5TiB", UINT64_C(1649267441664)},
        {"0.5kb", 512},
        {"16777215TiB", UINT64_C(18446742974197923840)},
    };
    static const char *const bad[] = {
        "", "GiB", "-1GiB", "1GiBs", "16777216TiB", "1..5G", "99999999999999999999", "1XB"};
    uint64_t v = 7;
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(pli_parse_size(pli_s(good[i].text), &v));
        assert_true(v == good[i].bytes);
    }
    v = 7;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(pli_parse_size(pli_s(bad[i]), &v));
    assert_int_equal(v, 7);
}

static void sums_and_products(void **state)
{
    uint64_t v = 7;
    (void)state;
    assert_false(pli_add(UINT64_MAX, 1, &v));
    assert_false(pli_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &v));
    assert_int_equal(v, 7);
    assert_true(pli_mul(UINT64_C(1) << 32, UINT64_C(0xffffffff), &v));
    assert_true(v == UINT64_C(0xffffffff00000000));
    assert_true(pli_round_up(257, 256, &v));
    assert_int_equal(v, 512);
    assert_false(pli_round_up(UINT64_MAX, 256, &v));
    assert_false(pli_round_up(1, 0, &v));
    assert_true(pli_sub_sat(1, 2) == 0 && pli_add_sat(UINT64_MAX, 2) == UINT64_MAX);
    assert_true(pli_mul_sat(UINT64_MAX, 2) == UINT64_MAX);
}

static void loads(void **state)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    assert_true(pli_load(bytes, 4, false) == 0x04030201);
    assert_true(pli_load(bytes, 4, true) == 0x01020304);
    assert_true(pli_load(bytes, 8, true) == UINT64_C(0x0102030405060708));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers), cmocka_unit_test(signed_numbers),
        cmocka_unit_test(hexadecimal),   cmocka_unit_test(decimals),
        cmocka_unit_test(sizes),         cmocka_unit_test(sums_and_products),
        cmocka_unit_test(loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
