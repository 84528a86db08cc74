/* Dates against `date -u -d @SECONDS`. */
#include "../test.h"

#include "base/date.h"

static void known_dates(void **state)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } known[] = {
        {0, "1970-01-01T00:00:00Z"},          {86399, "1970-01-01T23:59:59Z"},
        {951782400, "2000-02-29T00:00:00Z"}, /* leap day of a year that 400 divides */
        {951868800, "2000-03-01T00:00:00Z"},  {1000000000, "2001-09-09T01:46:40Z"},
        {1709210096, "2024-02-29T12:34:56Z"}, {1735689599, "2024-12-31T23:59:59Z"},
        {4107542399, "2100-02-28T23:59:59Z"}, /* no leap year */
        {4107542400, "2100-03-01T00:00:00Z"}, {253402300799, "9999-12-31T23:59:59Z"},
    };
    char text[PLI_DATE_SIZE];
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        assert_true(pli_date_text(known[i].seconds, text));
        assert_string_equal(text, known[i].text);
    }
}

static void beyond(void **state)
{
    char text[PLI_DATE_SIZE];
    (void)state;
    assert_false(pli_date_text(253402300800, text));
    assert_false(pli_date_text(UINT64_MAX, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_dates), cmocka_unit_test(beyond)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
