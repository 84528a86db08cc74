#include "paint.h"

#include <stdio.h>

void cli_paint(cli_term term, cli_style style)
{
    static const char *const codes[] = {
        [CLI_PLAIN] = "0",    [CLI_BOLD] = "1",    [CLI_FAINT] = "2",  [CLI_GOOD] = "32",
        [CLI_CAREFUL] = "33", [CLI_BAD] = "31",    [CLI_FIRST] = "34", [CLI_SECOND] = "36",
        [CLI_THIRD] = "35",   [CLI_FOURTH] = "33", [CLI_FIFTH] = "32",
    };
    if (term.color)
        (void)printf("\x1b[%sm", codes[style]);
}

void cli_label(cli_term term, const char *label)
{
    cli_paint(term, CLI_BOLD);
    (void)printf("%-*s", CLI_LABEL_WIDTH, label);
    cli_paint(term, CLI_PLAIN);
    (void)putchar(' ');
}

const char *cli_bar_sign(cli_term term, size_t i)
{
    static const char *const ascii[] = {"#", "=", "+", "-", "~"};
    static const char *const blocks[] = {"\u2588", "\u2593", "\u2592", "\u2591", "\u259e"};
    return (term.utf8 ? blocks : ascii)[i % 5];
}

/* The part that covers this place, part_count for none. */
static size_t part_at(const cli_bar *bar, double bytes)
{
    double end = 0;
    for (size_t i = 0; i < bar->part_count; i++) {
        end += (double)bar->parts[i].bytes;
        if (bytes < end)
            return i;
    }
    return bar->part_count;
}

static bool is_mark(const cli_bar *bar, double from, double to)
{
    for (size_t i = 0; i < bar->mark_count; i++) {
        double at = bar->marks[i] * (double)bar->total;
        if (at >= from && at < to)
            return true;
    }
    return false;
}

void cli_bar_draw(cli_term term, const cli_bar *bar)
{
    double sum = 0, whole = (double)bar->total;
    for (size_t i = 0; i < bar->part_count; i++)
        sum += (double)bar->parts[i].bytes;
    if (sum > whole)
        whole = sum;
    (void)fputs("[", stdout);
    for (unsigned cell = 0; cell < bar->width; cell++) {
        double from = whole * cell / bar->width, to = whole * (cell + 1) / bar->width;
        size_t part = part_at(bar, (from + to) / 2);
        if (is_mark(bar, from, to)) {
            cli_paint(term, CLI_BOLD);
            (void)fputs(term.utf8 ? "\u2503" : "|", stdout);
        } else if (part < bar->part_count) {
            cli_paint(term, bar->parts[part].style);
            (void)fputs(cli_bar_sign(term, part), stdout);
        } else {
            (void)fputs(term.utf8 ? "\u00b7" : ".", stdout);
        }
        cli_paint(term, CLI_PLAIN);
    }
    (void)fputs("]", stdout);
}
