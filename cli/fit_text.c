#include "fit_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fill.h"
#include "paint.h"
#include "table.h"
#include "text.h"

enum { LABEL_WIDTH = 10, BAR_WIDTH = 50, MAX_LINE = 4096, PARTS = 4 };

static void print_label(cli_term term, const char *label)
{
    cli_paint(term, CLI_BOLD);
    (void)printf("%-*s", LABEL_WIDTH, label);
    cli_paint(term, CLI_PLAIN);
    (void)putchar(' ');
}

/* A line of which nothing is known is left out. */
static void print_line(cli_term term, const char *label, const char *template, const plim_fit *fit)
{
    char text[MAX_LINE];
    if (!cli_fill(text, sizeof text, template, &plim_record_fit, fit))
        return;
    print_label(term, label);
    cli_wrap(stdout, text, LABEL_WIDTH + 1, LABEL_WIDTH + 1, term.width);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void print_verdict(cli_term term, const plim_fit *fit)
{
    static const struct {
        const char *verdict;
        cli_style style;
    } styles[] = {{"passed", CLI_GOOD}, {"warning", CLI_CAREFUL}, {"failed", CLI_BAD}};
    cli_style style = CLI_BOLD;
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcmp(fit->verdict, styles[i].verdict) == 0)
            style = styles[i].style;
    cli_paint(term, style);
    (void)printf("%-*s", LABEL_WIDTH, fit->verdict);
    cli_paint(term, CLI_PLAIN);
    (void)putchar(' ');
    cli_wrap(stdout, PLIM_KNOWN(fit, fit, reason) ? fit->reason : "", LABEL_WIDTH + 1,
             LABEL_WIDTH + 1, term.width);
}

/* ---- the load lines -------------------------------------------------------------------------- */

static const struct part {
    const char *name;
    cli_style style;
} parts[PARTS] = {{"weights", CLI_FIRST},
                  {"KV cache and state", CLI_SECOND},
                  {"compute", CLI_THIRD},
                  {"driver", CLI_FOURTH}};

static void parts_of(const plim_placement *p, uint64_t bytes[PARTS])
{
    bytes[0] = p->weights_bytes;
    bytes[1] = p->kv_cache_bytes + p->recurrent_state_bytes;
    bytes[2] = p->compute_bytes + p->output_bytes;
    bytes[3] = p->overhead_bytes;
}

static void print_bar(cli_term term, const plim_placement *p, const double marks[2])
{
    uint64_t bytes[PARTS];
    cli_part drawn[PARTS];
    unsigned room = term.width && term.width < BAR_WIDTH + LABEL_WIDTH + 4
                        ? term.width > LABEL_WIDTH + 14 ? term.width - LABEL_WIDTH - 4 : 10
                        : BAR_WIDTH;
    parts_of(p, bytes);
    for (size_t i = 0; i < PARTS; i++)
        drawn[i] = (cli_part){bytes[i], parts[i].style};
    cli_bar bar = {p->budget_bytes, drawn, PARTS, marks, 2, room};
    print_label(term, "");
    cli_bar_draw(term, &bar);
    (void)putchar('\n');
}

static void print_place(cli_term term, const plim_placement *p, const double marks[2])
{
    char text[MAX_LINE];
    print_label(term, p->device);
    (void)cli_fill(text, sizeof text, "[{used_bytes}[ of {budget_bytes}]]~{name}~[{layers#layer}]",
                   &plim_record_placement, p);
    (void)printf("%s", text);
    if (PLIM_KNOWN(placement, p, utilization))
        (void)printf(", %.0f %%", p->utilization * 100);
    (void)putchar('\n');
    if (PLIM_KNOWN(placement, p, budget_bytes) && p->budget_bytes)
        print_bar(term, p, marks);
}

/* What the signs of the bars mean, and how much there is of each. */
static void print_legend(cli_term term, const plim_fit *fit)
{
    uint64_t sums[PARTS] = {0}, bytes[PARTS];
    char text[32];
    const char *gap = "";
    for (size_t i = 0; i < fit->placement.count; i++) {
        parts_of(fit->placement.items[i], bytes);
        for (size_t k = 0; k < PARTS; k++)
            sums[k] += bytes[k];
    }
    print_label(term, "");
    for (size_t k = 0; k < PARTS; k++) {
        if (!sums[k])
            continue;
        (void)printf("%s", gap);
        cli_paint(term, parts[k].style);
        (void)printf("%s", cli_bar_sign(term, k));
        cli_paint(term, CLI_PLAIN);
        (void)printf(" %s %s", parts[k].name, plim_bytes_text(sums[k], text, sizeof text));
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

/* ---- what else would do ---------------------------------------------------------------------- */

/* The most of one thing at a time; what not even the least of would fit is left out. */
static void print_limits(cli_term term, const plim_fit *fit)
{
    char text[MAX_LINE];
    size_t n = 0;
    if (!PLIM_KNOWN(fit, fit, limits))
        return;
    const plim_fit_limits *l = fit->limits;
    const struct {
        const char *before;
        uint64_t value;
        const char *behind;
    } said[] = {
        {"-np ", l->sequences, ""},
        {"-np ", l->full_sequences, " with this context each"},
        {"-ngl ", PLIM_KNOWN(fit_limits, l, gpu_layers) ? l->gpu_layers : 0, ""},
        {"-b ", l->batch, ""},
        {"-ub ", l->ubatch, ""},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i].value)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%" PRIu64 "%s", n ? ", " : "",
                                  said[i].before, said[i].value, said[i].behind);
    if (PLIM_KNOWN(fit_limits, l, kv_type))
        n += (size_t)snprintf(text + n, sizeof text - n, "%sK and V %s", n ? ", " : "", l->kv_type);
    if (!n)
        return;
    print_label(term, "at most");
    cli_wrap(stdout, text, LABEL_WIDTH + 1, LABEL_WIDTH + 1, term.width);
}

static void print_speed(cli_term term, const plim_fit *fit)
{
    char text[MAX_LINE];
    if (!PLIM_KNOWN(fit, fit, speed))
        return;
    const plim_fit_speed *s = fit->speed;
    int n = snprintf(text, sizeof text, "%.1f tokens/s", s->decode_tokens_per_s);
    if (PLIM_KNOWN(fit_speed, s, decode_full_tokens_per_s) && s->read_full_bytes > s->read_bytes)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %.1f with the context full",
                      s->decode_full_tokens_per_s);
    (void)snprintf(text + n, sizeof text - (size_t)n, " (%s)", s->basis);
    print_label(term, "speed");
    cli_wrap(stdout, text, LABEL_WIDTH + 1, LABEL_WIDTH + 1, term.width);
}

enum { LONG_CHANGE = 100 }; /* tensor by tensor: for --explain */

static void print_engine_fit(cli_term term, const plim_fit *fit, bool explain)
{
    if (!PLIM_KNOWN(fit, fit, engine_fit) || !PLIM_KNOWN(engine_fit, fit->engine_fit, change))
        return;
    const char *change = fit->engine_fit->change;
    if (!*change || (!explain && strlen(change) > LONG_CHANGE))
        return;
    print_line(term, "--fit",
               "{engine_fit.change} would be the engine's own choice[: {engine_fit.verdict}, by "
               "this line]",
               fit);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void print_lists(cli_term term, const plim_fit *fit, bool explain)
{
    static const cli_column changes[] = {
        {"change", "{change}", false, false},
        {"verdict", "{verdict}", false, false},
        {"context", "{context}", true, false},
        {"what it does", "{text}", false, true},
    };
    static const cli_column terms[] = {
        {"device", "{device}", false, false},  {"term", "{term}", false, false},
        {"bytes", "{bytes}", true, false},     {"kind", "{kind}", false, false},
        {"formula", "{formula}", false, true},
    };
    if (fit->alternatives.count) {
        (void)printf("\nwhat would help\n");
        cli_table(term, 2, changes, sizeof changes / sizeof *changes, &plim_record_alternative,
                  &fit->alternatives);
    }
    if (explain && fit->explain.count) {
        (void)printf("\nhow it adds up\n");
        cli_table(term, 2, terms, sizeof terms / sizeof *terms, &plim_record_term, &fit->explain);
    }
}

void cli_fit_text(const plim_fit *fit, const double marks[2], cli_term term, bool explain)
{
    print_verdict(term, fit);
    print_line(term, "model",
               "{model.name}~{model.architecture}~"
               "{model.quantization}~{model.tensor_bytes}",
               fit);
    print_line(term, "run",
               "{settings.engine}~[{settings.context#token}]~[{settings.sequences#slot}]~"
               "[K {settings.kv_type_k}]~[V {settings.kv_type_v}]",
               fit);
    if (fit->placement.count)
        print_places(term, fit, marks);
    bool none = PLIM_KNOWN(fit, fit, max_context) && fit->max_context == 0;
    print_line(term, "context",
               none ? "not even the shortest stays under the line"
                    : "[up to {max_context#token} under the line]~[{recommended_context} "
                      "recommended]",
               fit);
    print_limits(term, fit);
    print_speed(term, fit);
    print_line(term, "start", "{command}", fit);
    print_engine_fit(term, fit, explain);
    for (size_t i = 0; i < fit->missing.count; i++) {
        print_label(term, i ? "" : "not known");
        (void)printf("%s\n", fit->missing.items[i]);
    }
    print_lists(term, fit, explain);
}
