/* Seconds since 1970 as UTC text, without the C library's time zones: gmtime_r() reads
 * /etc/localtime, and a result depends on nothing but the machine that was asked. */
#ifndef PLI_DATE_H
#define PLI_DATE_H

#include <stdbool.h>
#include <stdint.h>

#define PLI_DATE_SIZE 21 /* "2026-11-21T16:18:54Z" and a NUL */

/* False from the year 10000 on. */
bool pli_date_text(uint64_t seconds, char text[PLI_DATE_SIZE]);

#endif
