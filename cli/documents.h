/* Documents that are no library result: records of the command's own. */
#ifndef CLI_DOCUMENTS_H
#define CLI_DOCUMENTS_H

#include <plimsoll/plimsoll.h>

#include <plimsoll/records_begin.h>
#include "documents.def"
#include <plimsoll/records_numbers.h>
#include "documents.def"
#include <plimsoll/records_end.h>

/* Sets a field and its known bit. */
#define CLI_SET(rec, r, member_, value_)                                                           \
    ((r)->member_ = (value_), (r)->head.known[PLIM_F_##rec##_##member_ / 64] |=                    \
                              UINT64_C(1) << (PLIM_F_##rec##_##member_ % 64))

#endif
