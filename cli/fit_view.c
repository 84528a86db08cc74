#include "fit_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fill.h"

/* ---- a memory -------------------------------------------------------------------------------- */

const char *const cli_fit_part_names[CLI_FIT_PARTS] = {"weights", "KV cache and state", "compute",
                                                       "driver", "loaded beside it"};

void cli_fit_parts(const plim_placement *place, uint64_t bytes[CLI_FIT_PARTS])
{
    bytes[0] = place->weights_bytes;
    bytes[1] = place->kv_cache_bytes + place->recurrent_state_bytes;
    bytes[2] = place->compute_bytes + place->output_bytes;
    bytes[3] = place->overhead_bytes;
    bytes[4] = place->draft_bytes + place->projector_bytes + place->adapters_bytes +
               place->prompt_cache_bytes;
}

void cli_fit_place_text(const plim_placement *place, char *text, size_t size)
{
    size_t n = cli_fill(text, size, "[{used_bytes}[ of {budget_bytes}]]~{name}~[{layers#layer}]",
                        &plim_record_placement, place);
    if (PLIM_KNOWN(placement, place, utilization) && n < size)
        (void)snprintf(text + n, size - n, ", %.0f %%", place->utilization * 100);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Fills text; what is not known leaves it empty. */
typedef void line_fn(const plim_fit *fit, bool explain, char *text, size_t size);

static void model_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    (void)explain;
    (void)cli_fill(text, size,
                   "{model.name}~{model.architecture}~{model.quantization}~{model.tensor_bytes}",
                   &plim_record_fit, fit);
}

static void run_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    (void)explain;
    (void)cli_fill(text, size,
                   "{settings.engine}~[{settings.context#token}]~[{settings.sequences#slot}]~"
                   "[K {settings.kv_type_k}]~[V {settings.kv_type_v}]",
                   &plim_record_fit, fit);
}

static void context_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    bool none = PLIM_KNOWN(fit, fit, max_context) && fit->max_context == 0;
    (void)explain;
    (void)cli_fill(text, size,
                   none ? "not even the shortest stays under the line"
                        : "[up to {max_context#token} under the line]~[{recommended_context} "
                          "recommended]",
                   &plim_record_fit, fit);
    if (none)
        (void)snprintf(text, size, "not even the shortest stays under the line");
}

/* The most of one thing at a time; what not even the least of would fit is left out. */
static void limits_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    size_t n = 0;
    (void)explain;
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
            n += (size_t)snprintf(text + n, size - n, "%s%s%" PRIu64 "%s", n ? ", " : "",
                                  said[i].before, said[i].value, said[i].behind);
    if (PLIM_KNOWN(fit_limits, l, kv_type))
        n += (size_t)snprintf(text + n, size - n, "%sK and V %s", n ? ", " : "", l->kv_type);
}

static void speed_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    (void)explain;
    if (!PLIM_KNOWN(fit, fit, speed))
        return;
    const plim_fit_speed *s = fit->speed;
    int n = snprintf(text, size, "%.1f tokens/s", s->decode_tokens_per_s);
    if (PLIM_KNOWN(fit_speed, s, decode_full_tokens_per_s) && s->read_full_bytes > s->read_bytes)
        n += snprintf(text + n, size - (size_t)n, ", %.1f with the context full",
                      s->decode_full_tokens_per_s);
    if (PLIM_KNOWN(fit_speed, s, prefill_tokens_per_s))
        n += snprintf(text + n, size - (size_t)n, ", prompts %.0f", s->prefill_tokens_per_s);
    (void)snprintf(text + n, size - (size_t)n, " (%s)", s->basis);
}

static void command_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    (void)explain;
    (void)cli_fill(text, size, "{command}", &plim_record_fit, fit);
}

static void engine_line(const plim_fit *fit, bool explain, char *text, size_t size)
{
    enum { LONG_CHANGE = 100 }; /* tensor by tensor: for --explain */
    if (!PLIM_KNOWN(fit, fit, engine_fit) || !PLIM_KNOWN(engine_fit, fit->engine_fit, change))
        return;
    const char *change = fit->engine_fit->change;
    if (*change && (explain || strlen(change) <= LONG_CHANGE))
        (void)cli_fill(text, size,
                       "{engine_fit.change} would be the engine's own choice[: "
                       "{engine_fit.verdict}, by this line]",
                       &plim_record_fit, fit);
}

static const struct line {
    const char *label;
    line_fn *fill;
} above[] = {{"model", model_line}, {"run", run_line}}, below[] = {{"context", context_line},
                                                                   {"at most", limits_line},
                                                                   {"speed", speed_line},
                                                                   {"start", command_line},
                                                                   {"--fit", engine_line}};

bool cli_fit_line(const plim_fit *fit, cli_fit_half half, size_t i, bool explain,
                  const char **label, char *text, size_t size)
{
    const struct line *lines = half == CLI_FIT_ABOVE ? above : below;
    size_t count =
        half == CLI_FIT_ABOVE ? sizeof above / sizeof *above : sizeof below / sizeof *below;
    size_t missing = half == CLI_FIT_BELOW ? fit->missing.count : 0;
    *text = '\0';
    if (i < count) {
        *label = lines[i].label;
        lines[i].fill(fit, explain, text, size);
        return true;
    }
    if (i - count >= missing)
        return false;
    *label = i == count ? "not known" : "";
    (void)snprintf(text, size, "%s", fit->missing.items[i - count]);
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const cli_column changes[] = {
    {"change", "{change}", CLI_LEFT, CLI_FIXED},
    {"verdict", "{verdict}", CLI_LEFT, CLI_FIXED},
    {"context", "{context}", CLI_RIGHT, CLI_FIXED},
    {"what it does", "{text}", CLI_LEFT, CLI_NARROWS},
};
static const cli_column terms[] = {
    {"device", "{device}", CLI_LEFT, CLI_FIXED},     {"term", "{term}", CLI_LEFT, CLI_FIXED},
    {"bytes", "{bytes}", CLI_RIGHT, CLI_FIXED},      {"kind", "{kind}", CLI_LEFT, CLI_FIXED},
    {"formula", "{formula}", CLI_LEFT, CLI_NARROWS},
};

bool cli_fit_table_at(const plim_fit *fit, size_t i, bool explain, cli_fit_table *out)
{
    static const plim_items none = {NULL, 0};
    switch (i) {
    case 0:
        *out = (cli_fit_table){"what would help", changes, sizeof changes / sizeof *changes,
                               &plim_record_alternative, &fit->alternatives};
        return true;
    case 1:
        *out = (cli_fit_table){"how it adds up", terms, sizeof terms / sizeof *terms,
                               &plim_record_term, explain ? &fit->explain : &none};
        return true;
    default:
        return false;
    }
}
