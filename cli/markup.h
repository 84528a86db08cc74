/* Tables and texts in markup: the same columns as cli_table() prints. */
#ifndef CLI_MARKUP_H
#define CLI_MARKUP_H

#include "table.h"

/* Text as HTML on stdout: <, >, & and quotes escaped. */
void cli_html(const char *text);
/* A <table> of a list's records; columns of which nothing is known are left out. Nothing for an
 * empty list. */
void cli_html_table(const cli_column *columns, size_t count, const plim_record *record,
                    const plim_items *list);
/* Text as Markdown on stdout: what would be taken for markup is escaped, lines become one. */
void cli_markdown(const char *text);
void cli_markdown_table(const cli_column *columns, size_t count, const plim_record *record,
                        const plim_items *list);

#endif
