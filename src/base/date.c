#include "date.h"

#include <stdio.h>

#define DAYS_PER_ERA 146097u /* 400 years, after which the calendar repeats */
#define DAYS_TO_1970 719468u /* from 1 March of the year 0 */
#define LAST_SECOND 253402300799u

/* Years begin in March here, so that the leap day is the last one of its year. The arithmetic is
 * Howard Hinnant's civil_from_days (https://howardhinnant.github.io/date_algorithms.html). */
bool pli_date_text(uint64_t seconds, char text[PLI_DATE_SIZE])
{
    if (seconds > LAST_SECOND)
        return false;
    unsigned days = (unsigned)(seconds / 86400) + DAYS_TO_1970, time = (unsigned)(seconds % 86400);
    unsigned day_of_era = days % DAYS_PER_ERA;
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March */
    unsigned day = day_of_year - (153 * month + 2) / 5 + 1;
    unsigned year = year_of_era + days / DAYS_PER_ERA * 400 + (month >= 10);
    (void)snprintf(text, PLI_DATE_SIZE, "%04u-%02u-%02uT%02u:%02u:%02uZ", year % 10000,
                   (month + 2) % 12 + 1, day, time / 3600, time / 60 % 60, time % 60);
    return true;
}
