/* The answer of `plimsoll fit` as one HTML page: no script, nothing from elsewhere, the load lines
 * as SVG, light or dark as the reader's system is. */
#include <stdio.h>
#include <string.h>

#include "fit_text.h"
#include "fit_view.h"
#include "markup.h"

enum { BAR_WIDTH = 640, BAR_HEIGHT = 28, BAR_TOP = 4, SCALE_HEIGHT = 22 };

/* Chosen to be told apart without colour vision, on light and dark. */
static const char *const colours[CLI_FIT_PARTS] = {"#0072b2", "#e69f00", "#009e73", "#999999",
                                                   "#cc79a7"};

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--faint:#667;--edge:#ccd}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#16181c;--faint:#9aa;"
    "--edge:#445}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}\n"
    ".verdict{display:inline-block;padding:.1rem .7rem;border-radius:.3rem;color:#fff;"
    "background:#667}.passed{background:#1a7f37}.warning{background:#9a6700}"
    ".failed{background:#cf222e}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}"
    "dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}\n"
    "code,pre{font:14px/1.4 ui-monospace,monospace}pre{padding:.7rem;border:1px solid var(--edge);"
    "border-radius:.3rem;margin:0;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid var(--edge)}.number{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}\n"
    "svg{width:100%;height:auto;max-width:42rem}svg text{fill:var(--ink);font:12px system-ui,"
    "sans-serif}.key{display:inline-block;width:.8em;height:.8em;margin:0 .4em 0 0;"
    "vertical-align:baseline}.legend span{margin-right:1.2em;white-space:nowrap}\n"
    "footer{margin-top:2rem;color:var(--faint);font-size:.9rem}\n";

/* ---- the load line --------------------------------------------------------------------------- */

/* Where a number of bytes ends on a bar that is as long as the larger of budget and load. */
static double place_of(double bytes, double whole)
{
    return whole > 0 ? bytes / whole * BAR_WIDTH : 0;
}

static void print_marks(const plim_placement *p, const double marks[2], double whole)
{
    for (size_t i = 0; i < 2; i++) {
        double x = place_of((double)p->budget_bytes * marks[i], whole);
        (void)printf("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\" stroke=\"var(--ink)\" "
                     "stroke-width=\"2\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.0f "
                     "%%</text>\n",
                     x, x, BAR_HEIGHT + 2 * BAR_TOP, x, BAR_HEIGHT + SCALE_HEIGHT,
                     i ? "start" : "end", marks[i] * 100);
    }
}

static void print_bar(const plim_placement *p, const double marks[2])
{
    uint64_t bytes[CLI_FIT_PARTS];
    double whole = (double)p->budget_bytes, x = 0;
    if ((double)p->used_bytes > whole)
        whole = (double)p->used_bytes;
    cli_fit_parts(p, bytes);
    (void)printf("<svg viewBox=\"-1 -1 %d %d\" role=\"img\" aria-label=\"", BAR_WIDTH + 2,
                 BAR_HEIGHT + SCALE_HEIGHT + 6);
    cli_html(p->device);
    if (PLIM_KNOWN(placement, p, utilization))
        (void)printf(" filled to %.0f %%", p->utilization * 100);
    (void)printf("\">\n");
    for (size_t i = 0; i < CLI_FIT_PARTS; i++) {
        double width = place_of((double)bytes[i], whole);
        char text[32];
        if (!bytes[i])
            continue;
        (void)printf("<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
                     "<title>%s %s</title></rect>\n",
                     x, BAR_TOP, width, BAR_HEIGHT, colours[i], cli_fit_part_names[i],
                     plim_bytes_text(bytes[i], text, sizeof text));
        x += width;
    }
    (void)printf("<rect x=\"0\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"none\" "
                 "stroke=\"var(--ink)\"/>\n",
                 BAR_TOP, place_of((double)p->budget_bytes, whole), BAR_HEIGHT);
    print_marks(p, marks, whole);
    (void)printf("</svg>\n");
}

static void print_places(const plim_fit *fit, const double marks[2])
{
    char text[CLI_FIT_MAX_TEXT];
    (void)printf("<h2>The load line</h2>\n");
    for (size_t i = 0; i < fit->placement.count; i++) {
        const plim_placement *p = fit->placement.items[i];
        if (!p->used_bytes)
            continue;
        cli_fit_place_text(p, text, sizeof text);
        (void)printf("<p><strong>");
        cli_html(p->device);
        (void)printf("</strong> ");
        cli_html(text);
        (void)printf("</p>\n");
        if (PLIM_KNOWN(placement, p, budget_bytes) && p->budget_bytes)
            print_bar(p, marks);
    }
    (void)printf("<p class=\"legend\">");
    for (size_t i = 0; i < CLI_FIT_PARTS; i++)
        (void)printf("<span><i class=\"key\" style=\"background:%s\"></i>%s</span>", colours[i],
                     cli_fit_part_names[i]);
    (void)printf("</p>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static void print_lines(const plim_fit *fit, cli_fit_half half, bool explain)
{
    char text[CLI_FIT_MAX_TEXT];
    const char *label;
    (void)printf("<dl>\n");
    for (size_t i = 0; cli_fit_line(fit, half, i, explain, &label, text, sizeof text); i++) {
        bool code = strcmp(label, "start") == 0;
        if (!*text)
            continue;
        (void)printf("<dt>%s</dt><dd>%s", label, code ? "<pre>" : "");
        cli_html(text);
        (void)printf("%s</dd>\n", code ? "</pre>" : "");
    }
    (void)printf("</dl>\n");
}

static void print_head(const plim_fit *fit)
{
    const char *name = fit->model && PLIM_KNOWN(model, fit->model, name) ? fit->model->name : "";
    (void)printf("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                 "<title>%s: ",
                 fit->verdict);
    cli_html(name);
    (void)printf("</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1><span class=\"verdict %s\">"
                 "%s</span> ",
                 style, fit->verdict, fit->verdict);
    cli_html(name);
    (void)printf("</h1>\n<p>");
    cli_html(PLIM_KNOWN(fit, fit, reason) ? fit->reason : "");
    (void)printf("</p>\n");
}

void cli_fit_html(const plim_fit *fit, const double marks[2], bool explain)
{
    cli_fit_table table;
    print_head(fit);
    print_lines(fit, CLI_FIT_ABOVE, explain);
    if (fit->placement.count)
        print_places(fit, marks);
    print_lines(fit, CLI_FIT_BELOW, explain);
    for (size_t i = 0; cli_fit_table_at(fit, i, explain, &table); i++) {
        if (!table.list->count)
            continue;
        (void)printf("<h2>%c%s</h2>\n", table.title[0] - 'a' + 'A', table.title + 1);
        cli_html_table(table.columns, table.column_count, table.record, table.list);
    }
    (void)printf("<footer>plimsoll %s</footer>\n</body>\n</html>\n", fit->version);
}
