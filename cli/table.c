#include "table.h"

#include <stdio.h>

#include "fill.h"
#include "paint.h"
#include "text.h"

enum { MAX_COLUMNS = 16, MAX_CELL = 512, GAP = 2, NARROWEST = 8 };

struct layout {
    const cli_column *columns;
    size_t count;
    size_t widths[MAX_COLUMNS]; /* 0: left out */
};

static size_t measure(const cli_column *column, const plim_record *record, const plim_items *list)
{
    char cell[MAX_CELL];
    size_t width = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (cli_fill(cell, sizeof cell, column->cell, record, list->items[i]) == 0)
            continue;
        size_t columns = cli_width(cell);
        width = columns > width ? columns : width;
    }
    if (width == 0)
        return 0;
    size_t title = cli_width(column->title);
    return title > width ? title : width;
}

/* Takes from the widest column that may give until the line fits. */
static void narrow(struct layout *layout, size_t indent, size_t limit)
{
    for (;;) {
        size_t total = indent, widest = MAX_COLUMNS;
        for (size_t i = 0; i < layout->count; i++) {
            size_t width = layout->widths[i];
            total += width ? width + GAP : 0;
            if (layout->columns[i].narrows && width > NARROWEST &&
                (widest == MAX_COLUMNS || width > layout->widths[widest]))
                widest = i;
        }
        if (total <= limit + GAP || widest == MAX_COLUMNS)
            return;
        layout->widths[widest]--;
    }
}

/* *pending: blanks owed before the next text, so that no line ends in blanks. */
static void print_cell(cli_term term, const char *text, size_t width, bool right, size_t *pending)
{
    size_t columns = cli_width(text), bytes = cli_fit(text, width);
    const char *more = "";
    if (columns > width) {
        more = term.utf8 ? "\xe2\x80\xa6" : ".";
        bytes = cli_fit(text, width - 1);
        columns = width;
    }
    if (*text) {
        cli_repeat(stdout, " ", *pending + (right ? width - columns : 0));
        (void)printf("%.*s%s", (int)bytes, text, more);
        *pending = (right ? 0 : width - columns) + GAP;
    } else {
        *pending += width + GAP;
    }
}

static const char *or_dash(cli_term term, const char *cell)
{
    return *cell ? cell : term.utf8 ? "\u2013" : "-";
}

static void print_titles(cli_term term, size_t indent, const struct layout *layout)
{
    size_t pending = indent;
    cli_paint(term, CLI_FAINT);
    for (size_t i = 0; i < layout->count; i++)
        if (layout->widths[i])
            print_cell(term, layout->columns[i].title, layout->widths[i], layout->columns[i].right,
                       &pending);
    cli_paint(term, CLI_PLAIN);
    (void)putchar('\n');
}

void cli_table(cli_term term, size_t indent, const cli_column *columns, size_t count,
               const plim_record *record, const plim_items *list)
{
    struct layout layout = {columns, count < MAX_COLUMNS ? count : MAX_COLUMNS, {0}};
    char cell[MAX_CELL];
    if (list->count == 0)
        return;
    for (size_t i = 0; i < layout.count; i++)
        layout.widths[i] = measure(&columns[i], record, list);
    if (term.width)
        narrow(&layout, indent, term.width);
    print_titles(term, indent, &layout);
    for (size_t k = 0; k < list->count; k++) {
        size_t pending = indent;
        for (size_t i = 0; i < layout.count; i++) {
            if (!layout.widths[i])
                continue;
            (void)cli_fill(cell, sizeof cell, columns[i].cell, record, list->items[k]);
            print_cell(term, or_dash(term, cell), layout.widths[i], columns[i].right, &pending);
        }
        (void)putchar('\n');
    }
}
