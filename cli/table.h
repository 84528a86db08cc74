/* Tables: columns are rows "title, template"; lines are the records of a list. A column in which
 * nothing is known is left out. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <plimsoll/base.h>

#include "term.h"

typedef struct cli_column {
    const char *title;
    const char *cell; /* template, fill.h */
    bool right;       /* aligned at the right */
    bool narrows;     /* may be cut where the terminal is too narrow */
} cli_column;

/* Prints the table with `indent` blanks before each line; nothing for an empty list. */
void cli_table(cli_term term, size_t indent, const cli_column *columns, size_t count,
               const plim_record *record, const plim_items *list);

#endif
