#include "fit_text.h"

#include <stdio.h>
#include <string.h>

#include "fit_view.h"
#include "paint.h"
#include "text.h"

enum { BAR_WIDTH = 50 };

/* ---- the verdict ----------------------------------------------------------------------------- */

static void print_verdict(cli_term term, const plim_fit *fit)
{
    static const struct {
        const char *verdict;
        cli_style style;
    } marks[] = {{"passed", CLI_GOOD}, {"warning", CLI_CAREFUL}, {"failed", CLI_BAD}};
    cli_style style = CLI_BOLD;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(fit->verdict, marks[i].verdict) == 0)
            style = marks[i].style;
    cli_paint(term, style);
    (void)printf("%-*s", CLI_LABEL_WIDTH, fit->verdict);
    cli_paint(term, CLI_PLAIN);
    (void)putchar(' ');
    cli_wrap(stdout, PLIM_KNOWN(fit, fit, reason) ? fit->reason : "", CLI_LABEL_WIDTH + 1,
             CLI_LABEL_WIDTH + 1, term.width);
}

/* ---- the load lines -------------------------------------------------------------------------- */

static const cli_style styles[CLI_FIT_PARTS] = {CLI_FIRST, CLI_SECOND, CLI_THIRD, CLI_FOURTH,
                                                CLI_FIFTH};

static void print_bar(cli_term term, const plim_placement *p, const double marks[2])
{
    uint64_t bytes[CLI_FIT_PARTS];
    cli_part drawn[CLI_FIT_PARTS];
    unsigned room = term.width && term.width < BAR_WIDTH + CLI_LABEL_WIDTH + 4
                        ? term.width > CLI_LABEL_WIDTH + 14 ? term.width - CLI_LABEL_WIDTH - 4 : 10
                        : BAR_WIDTH;
    cli_fit_parts(p, bytes);
    for (size_t i = 0; i < CLI_FIT_PARTS; i++)
        drawn[i] = (cli_part){bytes[i], styles[i]};
    cli_bar bar = {p->budget_bytes, drawn, CLI_FIT_PARTS, marks, 2, room};
    cli_label(term, "");
    cli_bar_draw(term, &bar);
    (void)putchar('\n');
}

static void print_place(cli_term term, const plim_placement *p, const double marks[2])
{
    char text[CLI_FIT_MAX_TEXT];
    cli_fit_place_text(p, text, sizeof text);
    cli_label(term, p->device);
    (void)printf("%s\n", text);
    if (PLIM_KNOWN(placement, p, budget_bytes) && p->budget_bytes)
        print_bar(term, p, marks);
}

/* What the signs of the bars mean, and how much there is of each. */
static void print_legend(cli_term term, const plim_fit *fit)
{
    uint64_t sums[CLI_FIT_PARTS] = {0}, bytes[CLI_FIT_PARTS];
    char text[32];
    const char *gap = "";
    for (size_t i = 0; i < fit->placement.count; i++) {
        cli_fit_parts(fit->placement.items[i], bytes);
        for (size_t k = 0; k < CLI_FIT_PARTS; k++)
            sums[k] += bytes[k];
    }
    cli_label(term, "");
    for (size_t k = 0; k < CLI_FIT_PARTS; k++) {
        if (!sums[k])
            continue;
        (void)printf("%s", gap);
        cli_paint(term, styles[k]);
        (void)printf("%s", cli_bar_sign(term, k));
        cli_paint(term, CLI_PLAIN);
        (void)printf(" %s %s", cli_fit_part_names[k], plim_bytes_text(sums[k], text, sizeof text));
        gap = "  ";
    }
    (void)putchar('\n');
}

static void print_places(cli_term term, const plim_fit *fit, const double marks[2])
{
    for (size_t i = 0; i < fit->placement.count; i++) {
        const plim_placement *p = fit->placement.items[i];
        if (p->used_bytes)
            print_place(term, p, marks);
    }
    print_legend(term, fit);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void print_lines(cli_term term, const plim_fit *fit, cli_fit_half half, bool explain)
{
    char text[CLI_FIT_MAX_TEXT];
    const char *label;
    for (size_t i = 0; cli_fit_line(fit, half, i, explain, &label, text, sizeof text); i++) {
        if (!*text)
            continue;
        cli_label(term, label);
        cli_wrap(stdout, text, CLI_LABEL_WIDTH + 1, CLI_LABEL_WIDTH + 1, term.width);
    }
}

/* A memory, what it holds, the parts of that: a tree by indentation. */
enum { STEP = 2 };

static void print_term(cli_term term, const plim_term *t, int wide)
{
    enum { BYTES = 10, KIND = 8, DEVICE = 6 };
    char bytes[32];
    int indent = STEP * (int)t->depth;
    int at = printf("  %-*s  %*s%-*s  %*s  %-*s  ", DEVICE, t->depth ? "" : t->device, indent, "",
                    wide - indent, t->term, BYTES, plim_bytes_text(t->bytes, bytes, sizeof bytes),
                    KIND, t->kind);
    unsigned column = at > 0 ? (unsigned)at : 0;
    cli_wrap(stdout, t->formula, column, column, term.width);
}

/* Those of one parent (NULL: the roots), each before its own parts; at most as deep as the parts of
 * a memory's weights. */
static void print_parts(cli_term term, const plim_fit *fit, const plim_term *parent, int wide)
{
    for (size_t i = 0; i < fit->explain.count; i++) {
        const plim_term *t = fit->explain.items[i];
        bool has_parent = PLIM_KNOWN(term, t, parent);
        if (parent ? !has_parent || t->parent != parent->id : has_parent)
            continue;
        print_term(term, t, wide);
        print_parts(term, fit, t, wide);
    }
}

static void print_terms(cli_term term, const plim_fit *fit)
{
    int wide = 0;
    for (size_t i = 0; i < fit->explain.count; i++) {
        const plim_term *t = fit->explain.items[i];
        int width = STEP * (int)t->depth + (int)strlen(t->term);
        wide = width > wide ? width : wide;
    }
    print_parts(term, fit, NULL, wide);
}

static void print_tables(cli_term term, const plim_fit *fit, bool explain)
{
    cli_fit_table table;
    for (size_t i = 0; cli_fit_table_at(fit, i, explain, &table); i++) {
        if (!table.list->count)
            continue;
        (void)printf("\n%s\n", table.title);
        if (table.record == &plim_record_term) {
            print_terms(term, fit);
            continue;
        }
        cli_table(term, 2, table.columns, table.column_count, table.record, table.list);
    }
}

void cli_fit_text(const plim_fit *fit, const double marks[2], cli_term term, bool explain)
{
    print_verdict(term, fit);
    print_lines(term, fit, CLI_FIT_ABOVE, explain);
    if (fit->placement.count)
        print_places(term, fit, marks);
    print_lines(term, fit, CLI_FIT_BELOW, explain);
    print_tables(term, fit, explain);
}
