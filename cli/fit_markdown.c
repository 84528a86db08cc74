/* The answer of `plimsoll fit` as Markdown, for an issue, a wiki, a chat. */
#include <stdio.h>
#include <string.h>

#include "fit_text.h"
#include "fit_view.h"
#include "markup.h"
#include "paint.h"

enum { BAR_WIDTH = 50 };

/* A command is code, everything else is text. */
static void print_line(const char *label, const char *text)
{
    bool code = strcmp(label, "start") == 0 && !strchr(text, '`');
    (void)printf("- %s%s%s", *label ? "**" : "", label, *label ? "**: " : "");
    if (code)
        (void)printf("`%s`", text);
    else
        cli_markdown(text);
    (void)putchar('\n');
}

static void print_lines(const plim_fit *fit, cli_fit_half half, bool explain)
{
    char text[CLI_FIT_MAX_TEXT];
    const char *label;
    for (size_t i = 0; cli_fit_line(fit, half, i, explain, &label, text, sizeof text); i++)
        if (*text)
            print_line(label, text);
}

/* The load line in signs, as on a terminal. */
static void print_places(const plim_fit *fit, const double marks[2])
{
    const cli_term plain = {.width = 0};
    char text[CLI_FIT_MAX_TEXT];
    (void)printf("\n```\n");
    for (size_t i = 0; i < fit->placement.count; i++) {
        const plim_placement *p = fit->placement.items[i];
        uint64_t bytes[CLI_FIT_PARTS];
        cli_part drawn[CLI_FIT_PARTS];
        if (!p->used_bytes)
            continue;
        cli_fit_place_text(p, text, sizeof text);
        (void)printf("%-8s %s\n", p->device, text);
        cli_fit_parts(p, bytes);
        for (size_t k = 0; k < CLI_FIT_PARTS; k++)
            drawn[k] = (cli_part){bytes[k], CLI_PLAIN};
        cli_bar bar = {p->budget_bytes, drawn, CLI_FIT_PARTS, marks, 2, BAR_WIDTH};
        if (PLIM_KNOWN(placement, p, budget_bytes) && p->budget_bytes) {
            (void)printf("%-8s ", "");
            cli_bar_draw(plain, &bar);
            (void)putchar('\n');
        }
    }
    (void)printf("%-8s", "");
    for (size_t k = 0; k < CLI_FIT_PARTS; k++)
        (void)printf(" %s %s%s", cli_bar_sign(plain, k), cli_fit_part_names[k],
                     k + 1 < CLI_FIT_PARTS ? " " : "\n```\n\n");
}

void cli_fit_markdown(const plim_fit *fit, const double marks[2], bool explain)
{
    cli_fit_table table;
    (void)printf("**%s**: ", fit->verdict);
    cli_markdown(PLIM_KNOWN(fit, fit, reason) ? fit->reason : "");
    (void)printf("\n\n");
    print_lines(fit, CLI_FIT_ABOVE, explain);
    if (fit->placement.count)
        print_places(fit, marks);
    print_lines(fit, CLI_FIT_BELOW, explain);
    for (size_t i = 0; cli_fit_table_at(fit, i, explain, &table); i++) {
        if (!table.list->count)
            continue;
        (void)printf("\n### %s\n\n", table.title);
        cli_markdown_table(table.columns, table.column_count, table.record, table.list);
    }
}
