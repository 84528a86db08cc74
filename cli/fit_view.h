/* What the answer of `plimsoll fit` says, in whatever form it is shown: lines of a label and a
 * text, the parts of a memory's load line, and tables. */
#ifndef CLI_FIT_VIEW_H
#define CLI_FIT_VIEW_H

#include <plimsoll/plimsoll.h>

#include "table.h"

enum { CLI_FIT_PARTS = 5, CLI_FIT_MAX_TEXT = 4096 };

/* Names of what a load line is filled with, in the order in which it is drawn. */
extern const char *const cli_fit_part_names[CLI_FIT_PARTS];
void cli_fit_parts(const plim_placement *place, uint64_t bytes[CLI_FIT_PARTS]);
/* "22.5 GiB of 24.0 GiB, NVIDIA GeForce RTX 4090, 64 layers, 94 %" */
void cli_fit_place_text(const plim_placement *place, char *text, size_t size);

/* Lines before and behind the load lines. */
typedef enum cli_fit_half { CLI_FIT_ABOVE, CLI_FIT_BELOW } cli_fit_half;
/* Line number i of a half (empty text: nothing is known to say); false past the last. */
bool cli_fit_line(const plim_fit *fit, cli_fit_half half, size_t i, bool explain,
                  const char **label, char *text, size_t size);

typedef struct cli_fit_table {
    const char *title;
    const cli_column *columns;
    size_t column_count;
    const plim_record *record;
    const plim_items *list;
} cli_fit_table;
/* Table number i; false past the last. An empty list: nothing to show. */
bool cli_fit_table_at(const plim_fit *fit, size_t i, bool explain, cli_fit_table *out);

#endif
