/* Filling a plim_error. */
#ifndef PLI_STATUS_H
#define PLI_STATUS_H

#include <plimsoll/base.h>

#include "platform.h"

/* Sets *error (NULL is allowed) and returns status: `return pli_fail(err, PLIM_PARSE, name, 17,
 * "bad magic %08x", m);` */
plim_status pli_fail(plim_error *error, plim_status status, const char *subject, uint64_t offset,
                     const char *format, ...) PLI_PRINTF(5, 6);
/* Status of a failed call of this system. */
plim_status pli_status_of_errno(int number);

#endif
