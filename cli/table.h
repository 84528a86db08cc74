/* Tables: columns are rows "title, template"; lines are the records of a list. What is unknown is a
 * dash; a column of which nothing is known is left out unless it is fixed. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <plimsoll/base.h>

#include "term.h"

typedef enum cli_align { CLI_LEFT, CLI_RIGHT } cli_align;
/* What a column does where the terminal is too narrow. */
typedef enum cli_squeeze { CLI_FIXED, CLI_NARROWS, CLI_DROPS } cli_squeeze;

typedef struct cli_column {
    const char *title;
    const char *cell; /* template, fill.h */
    cli_align align;
    cli_squeeze squeeze;
} cli_column;

/* Prints the table with `indent` blanks before each line; nothing for an empty list. */
void cli_table(cli_term term, size_t indent, const cli_column *columns, size_t count,
               const plim_record *record, const plim_items *list);

#endif
