/* Every known figure of a record, one after the other, whatever the record. */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include <plimsoll/base.h>

typedef struct cli_leaf {
    const char *path; /* "devices[0000:01:00.0].memory.total_bytes" */
    const plim_field *field;
    const void *record; /* that holds the field */
    const char *source; /* who said it; NULL: nobody is named */
} cli_leaf;

/* In the order of the rows; an empty list is a leaf. Stops when visit returns false. */
bool cli_walk(const plim_record *record, const void *r, bool (*visit)(void *user, const cli_leaf *),
              void *user);

#endif
