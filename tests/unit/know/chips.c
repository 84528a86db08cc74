/* The table of chips against figures that their makers publish, and the laws of its rows. */
#include "unit/test.h"

#include <string.h>

#include "know/chips.h"

#define GB UINT64_C(1000000000)
#define TERA UINT64_C(1000000000000)

static const pli_chip *chip(const char *name)
{
    const pli_chip *found = pli_chip_find(pli_s(name));
    if (!found)
        fail_msg("%s", name);
    return found;
}

/* Data sheets: 312 TFLOPS and 624 TOPS of an A100, 989 and 1979 of an H100 SXM, 1307 of an MI300X;
 * white papers: 165.2, 330.3 and 660.6 of an RTX 4090. All without sparsity. */
static void published(void **state)
{
    (void)state;
    assert_int_equal(chip("A100 80GB")->fp16, 312 * TERA);
    assert_int_equal(chip("A100 80GB")->int8, 624 * TERA);
    assert_int_equal(chip("A100 80GB")->bandwidth_bytes_per_s, 2039 * GB);
    assert_int_equal(chip("H100 SXM")->fp16 / TERA, 989);
    assert_int_equal(chip("H100 SXM")->fp8 / TERA, 1978);
    assert_int_equal(chip("MI300X")->fp16 / TERA, 1307);
    assert_int_equal(chip("MI300X")->bandwidth_bytes_per_s, 5300 * GB);
    assert_int_equal(chip("RTX 4090")->fp16 / TERA, 165);
    assert_int_equal(chip("RTX 4090")->fp8 / TERA, 330);
    assert_int_equal(chip("RTX 4090")->int8 / TERA, 660);
    assert_int_equal(chip("RTX 4090")->bandwidth_bytes_per_s, 1008 * GB);
    assert_int_equal(chip("RTX 5090")->bandwidth_bytes_per_s, 1792 * GB);
    assert_int_equal(chip("GB10")->bandwidth_bytes_per_s, 273 * GB);
    assert_int_equal(chip("M4 Max")->bandwidth_bytes_per_s, 546 * GB);
    assert_int_equal(chip("M4 Max")->fp16, 0); /* its maker does not say */
}

static void rows(void **state)
{
    const pli_chip *c;
    size_t count = 0;
    (void)state;
    for (; (c = pli_chip_at(count)) != NULL; count++) {
        pli_str others = pli_s(c->others), other = pli_s(c->name);
        do {
            const pli_chip *found = other.n ? pli_chip_find(other) : c;
            if (found != c)
                fail_msg("%.*s finds %s, not %s", (int)other.n, other.p, found ? found->name : "-",
                         c->name);
        } while (pli_next_part(&others, '|', &other));
        assert_true(c->bandwidth_bytes_per_s >= 60 * GB && c->bandwidth_bytes_per_s <= 8000 * GB);
        assert_true((c->fp16 || c->fp8 || c->int8) == (c->source != NULL));
        assert_true(c->memory_bytes || c->unified);
        /* twice as many of half the width, or none at all */
        if (c->fp8 && c->fp16 && (c->fp8 < c->fp16 || c->fp8 / 21 * 10 > c->fp16))
            fail_msg("%s", c->name);
    }
    assert_true(count >= 120);
}

static void names(void **state)
{
    static const char *const none[] = {"",
                                       "RTX",
                                       "NVIDIA",
                                       "RTX 9999",
                                       "H",
                                       "GPU",
                                       "a name that is much longer than that of any chip there is "
                                       "or ever was in any table"};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(pli_chip_find(pli_s(none[i])));
    assert_ptr_equal(chip("nvidia geforce rtx-4090"), chip("4090"));
    assert_ptr_equal(chip("7900 XTX"), chip("AMD Radeon RX 7900 XTX"));
    assert_true(chip("RTX 4090 Laptop") != chip("RTX 4090"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published),
        cmocka_unit_test(rows),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
