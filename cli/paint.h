/* Colours and signs: the few that plimsoll uses, named by what they say. */
#ifndef CLI_PAINT_H
#define CLI_PAINT_H

#include <plimsoll/base.h>

#include "term.h"

typedef enum cli_style {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_FAINT,
    CLI_GOOD,
    CLI_CAREFUL,
    CLI_BAD,
    CLI_FIRST, /* parts of a bar, in order */
    CLI_SECOND,
    CLI_THIRD,
    CLI_FOURTH,
    CLI_FIFTH,
} cli_style;

/* Switches the style of stdout, where it has colour. */
void cli_paint(cli_term term, cli_style style);

enum { CLI_LABEL_WIDTH = 10 };
/* Prints the label of a line in bold, CLI_LABEL_WIDTH columns wide, and a space. */
void cli_label(cli_term term, const char *label);

typedef struct cli_part { /* of a bar */
    uint64_t bytes;
    cli_style style;
} cli_part;

typedef struct cli_bar {
    uint64_t total; /* bytes that the whole bar stands for; parts beyond it make the bar longer */
    const cli_part *parts;
    size_t part_count;
    const double *marks; /* shares of total, drawn as lines across: the load lines */
    size_t mark_count;
    unsigned width; /* columns between the ends */
} cli_bar;

/* Draws "[###==..|..|  ]" without a line end. */
void cli_bar_draw(cli_term term, const cli_bar *bar);
/* The sign that the bar draws part number i with, for a legend. */
const char *cli_bar_sign(cli_term term, size_t i);

#endif
