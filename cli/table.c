#include "table.h"

#include <stdio.h>

#include "fill.h"
#include "paint.h"
#include "text.h"

enum { MAX_COLUMNS = 16, MAX_CELL = 512, GAP = 2, NARROW = 20, NARROWEST = 8 };

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
    if (width == 0 && column->squeeze != CLI_FIXED)
        return 0;
    size_t title = cli_width(column->title);
    return title > width ? title : width;
}

static size_t total_width(const struct layout *layout, size_t indent)
{
    size_t total = indent;
    for (size_t i = 0; i < layout->count; i++)
        total += layout->widths[i] ? layout->widths[i] + GAP : 0;
    return total > GAP ? total - GAP : 0;
}

/* The widest column that may give and is wider than `least`, count for none. */
static size_t widest(const struct layout *layout, size_t least)
{
    size_t best = layout->count;
    for (size_t i = 0; i < layout->count; i++)
        if (layout->columns[i].squeeze == CLI_NARROWS && layout->widths[i] > least) {
            best = i;
            least = layout->widths[i];
        }
    return best;
}

/* The last column that may go, count for none. */
static size_t last_to_drop(const struct layout *layout)
{
    for (size_t i = layout->count; i-- > 0;)
        if (layout->columns[i].squeeze == CLI_DROPS && layout->widths[i])
            return i;
    return layout->count;
}

/* Texts are cut a little, then columns go, then texts are cut a lot. */
static void squeeze(struct layout *layout, size_t indent, size_t limit)
{
    while (total_width(layout, indent) > limit) {
        size_t i = widest(layout, NARROW), last = last_to_drop(layout);
        if (i == layout->count && last < layout->count) {
            layout->widths[last] = 0;
            continue;
        }
        if (i == layout->count)
            i = widest(layout, NARROWEST);
        if (i == layout->count)
            return;
        layout->widths[i]--;
    }
}

/* *pending: blanks owed before the next text, so that no line ends in blanks. */
static void print_cell(cli_term term, const char *text, size_t width, cli_align align,
                       size_t *pending)
{
    size_t columns = cli_width(text), bytes = cli_fit(text, width);
    const char *more = "";
    if (columns > width) {
        more = term.utf8 ? "\xe2\x80\xa6" : ".";
        bytes = cli_fit(text, width - 1);
        columns = width;
    }
    if (*text) {
        cli_repeat(stdout, " ", *pending + (align == CLI_RIGHT ? width - columns : 0));
        (void)printf("%.*s%s", (int)bytes, text, more);
        *pending = (align == CLI_RIGHT ? 0 : width - columns) + GAP;
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
            print_cell(term, layout->columns[i].title, layout->widths[i], layout->columns[i].align,
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
        squeeze(&layout, indent, term.width);
    print_titles(term, indent, &layout);
    for (size_t k = 0; k < list->count; k++) {
        size_t pending = indent;
        for (size_t i = 0; i < layout.count; i++) {
            if (!layout.widths[i])
                continue;
            (void)cli_fill(cell, sizeof cell, columns[i].cell, record, list->items[k]);
            print_cell(term, or_dash(term, cell), layout.widths[i], columns[i].align, &pending);
        }
        (void)putchar('\n');
    }
}
