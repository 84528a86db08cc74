/* The answer to "does it fit": the plan's numbers as records, and the public functions. */
#include <inttypes.h>
#include <string.h>

#include "../base/context.h"
#include "../base/limits.h"
#include "../base/options.h"
#include "../base/status.h"
#include "../model/purpose.h"
#include "advice.h"
#include "agree.h"
#include "engine_fit.h"
#include "explain.h"
#include "extras.h"
#include "extras_tell.h"
#include "graph.h"
#include "placement.h"
#include "speed.h"
#include "settings.h"

typedef struct fit_result {
    plim_fit pub; /* first */
    pli_arena *arena;
} fit_result;

typedef struct fitting {
    pli_arena *arena;
    plim_fit *fit;
    const pli_model *model;
    pli_shape shape;
    pli_setup setup;
    pli_sites sites;
    pli_plan plan;
    pli_verdict verdict;
} fitting;

/* ---- records --------------------------------------------------------------------------------- */

static void write_memory(fitting *f)
{
    plim_fit_memory *r = PLI_NEW(f->arena, fit_memory);
    pli_share sum = {0};
    if (!r)
        return;
    for (size_t i = 0; i <= f->sites.devices; i++) {
        const pli_share *load = &f->plan.at[i];
        sum.weights += load->weights;
        sum.kv += load->kv;
        sum.state += load->state;
        sum.compute += load->compute;
        sum.output += load->output;
        sum.overhead += load->overhead;
        sum.used += load->used;
    }
    PLI_SET(fit_memory, r, weights_bytes, sum.weights, NULL);
    PLI_SET(fit_memory, r, kv_cache_bytes, sum.kv, NULL);
    PLI_SET(fit_memory, r, recurrent_state_bytes, sum.state, NULL);
    PLI_SET(fit_memory, r, compute_bytes, sum.compute, NULL);
    PLI_SET(fit_memory, r, output_bytes, sum.output, NULL);
    PLI_SET(fit_memory, r, overhead_bytes, sum.overhead, NULL);
    PLI_SET(fit_memory, r, total_bytes, sum.used, NULL);
    pli_extras_tell_memory(&f->plan, &f->sites, r);
    PLI_SET(fit, f->fit, memory, r, NULL);
}

static void write_budget(fitting *f, const pli_site *site, plim_placement *r)
{
    if (site->device && PLIM_KNOWN(device, site->device, name))
        PLI_SET_STR(placement, r, name, pli_strdup(f->arena, site->device->name), NULL);
    if (site->budget_known)
        PLI_SET(placement, r, budget_bytes, site->budget, NULL);
    if (site->free_known)
        PLI_SET(placement, r, free_bytes, site->free, NULL);
    if (site->total_known)
        PLI_SET(placement, r, total_bytes, site->total, NULL);
    if (site->source)
        PLI_SET_STR(placement, r, budget_source, pli_strdup(f->arena, site->source), NULL);
}

static void write_place(fitting *f, size_t i)
{
    const pli_share *load = &f->plan.at[i];
    plim_placement *r = PLI_NEW(f->arena, placement);
    double u;
    if (!r)
        return;
    PLI_SET_STR(placement, r, device, pli_strdup(f->arena, f->sites.at[i].name), NULL);
    write_budget(f, &f->sites.at[i], r);
    PLI_SET(placement, r, layers, load->layers, NULL);
    PLI_SET(placement, r, weights_bytes, load->weights, NULL);
    PLI_SET(placement, r, kv_cache_bytes, load->kv, NULL);
    PLI_SET(placement, r, recurrent_state_bytes, load->state, NULL);
    PLI_SET(placement, r, compute_bytes, load->compute, NULL);
    PLI_SET(placement, r, compute_kind, pli_certainty_name(load->compute_kind), NULL);
    PLI_SET(placement, r, output_bytes, load->output, NULL);
    PLI_SET(placement, r, overhead_bytes, load->overhead, NULL);
    PLI_SET(placement, r, used_bytes, load->used, NULL);
    pli_extras_tell_place(load, r);
    if (pli_utilization(&f->plan, &f->sites, i, &u) && !f->sites.at[i].unlimited)
        PLI_SET(placement, r, utilization, u, NULL);
    (void)pli_items_add(f->arena, &f->fit->placement, r);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *percent_text(const fitting *f, double u)
{
    return pli_printf(f->arena, "%.0f %%", u * 100);
}

static const char *reason_of(fitting *f)
{
    const pli_verdict *v = &f->verdict;
    const pli_site *worst = &f->sites.at[v->worst];
    const char *u = percent_text(f, v->utilization), *line = percent_text(f, f->setup.line_warning);
    if (!u || !line)
        return NULL;
    if (v->mark == PLI_UNKNOWN)
        return "what is free on a memory that would be used is not known";
    if (v->too_short && v->utilization <= f->setup.line_warning)
        return pli_printf(f->arena,
                          "a sequence gets %" PRIu64 " tokens of the %" PRIu64
                          " that the model was trained for",
                          f->setup.context_per_sequence, f->shape.trained);
    if (v->mark == PLI_FAILED && !v->utilization_known)
        return "a memory that would be used is smaller than what it would hold";
    if (v->mark == PLI_FAILED)
        return pli_printf(f->arena, "%s would be filled to %s of its budget; the line is at %s%s",
                          worst->name, u, line, v->loads ? " (it would still load)" : "");
    if (v->utilization == 0)
        return "nothing bounds the memory it would use";
    return pli_printf(f->arena, "%s is filled to %s of its budget", worst->name, u);
}

static void write_missing(fitting *f)
{
    plim_strs list = {NULL, 0};
    const char *name =
        PLIM_KNOWN(model, &f->model->pub, architecture) ? f->model->pub.architecture : "?";
    if (f->shape.lacking)
        (void)pli_strs_add(f->arena, &list,
                           pli_printf(f->arena, "the model's %s", f->shape.lacking));
    else if (f->shape.arch->flags & PLI_ARCH_UNKNOWN)
        (void)pli_strs_add(
            f->arena, &list,
            pli_printf(f->arena, "architecture %s: judged as plain grouped-query attention", name));
    else if (f->shape.arch->flags & PLI_ARCH_INEXACT)
        (void)pli_strs_add(f->arena, &list,
                           pli_printf(f->arena, "cache rules of architecture %s", name));
    if (f->sites.left_out)
        (void)pli_strs_add(f->arena, &list,
                           pli_printf(f->arena, "%zu devices beyond the engine's limit of %u",
                                      f->sites.left_out, PLI_MAX_PLAN_DEVICES));
    for (size_t i = 0; i <= f->sites.devices; i++)
        if (pli_needed(&f->plan, &f->sites, i) && !f->sites.at[i].budget_known &&
            !f->sites.at[i].unlimited)
            (void)pli_strs_add(f->arena, &list,
                               pli_printf(f->arena, "free memory of %s", f->sites.at[i].name));
    if (list.count)
        PLI_SET(fit, f->fit, missing, list, NULL);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static const char *basis_of(fitting *f, const pli_speed *speed)
{
    return pli_printf(
        f->arena, "upper bound: %s bytes read a token, at the %s%s",
        f->shape.experts ? "active experts', state's and shared weights'" : "weights' and state's",
        speed->nominal ? "nominal bandwidth of the chip table" : "bandwidth that the devices tell",
        speed->measured_host ? " and the host's as given" : "");
}

static void write_speed(fitting *f)
{
    pli_speed speed;
    if (!pli_speed_find(&f->shape, &f->setup, &f->sites, &f->plan, &speed))
        return;
    plim_fit_speed *r = PLI_NEW(f->arena, fit_speed);
    if (!r)
        return;
    PLI_SET(fit_speed, r, decode_tokens_per_s, speed.decode, NULL);
    PLI_SET_STR(fit_speed, r, basis, basis_of(f, &speed), NULL);
    PLI_SET(fit_speed, r, decode_full_tokens_per_s, speed.decode_full, NULL);
    double prefill;
    if (pli_prefill_find(&f->shape, &f->setup, &f->sites, &f->plan, &prefill)) {
        PLI_SET(fit_speed, r, prefill_tokens_per_s, prefill, NULL);
        PLI_SET(fit_speed, r, prefill_basis,
                "upper bound: two operations a weight, at the chip table's matrix operations",
                NULL);
    }
    PLI_SET(fit_speed, r, read_bytes, speed.read, NULL);
    PLI_SET(fit_speed, r, read_full_bytes, speed.read_full, NULL);
    PLI_SET(fit, f->fit, speed, r, NULL);
}

/* ---- what else would do ---------------------------------------------------------------------- */

static void write_limits(fitting *f, const pli_case *base)
{
    pli_limits limits;
    if (!pli_limits_find(base, &limits))
        return;
    plim_fit_limits *r = PLI_NEW(f->arena, fit_limits);
    if (!r)
        return;
    PLI_SET(fit_limits, r, context, limits.context, NULL);
    PLI_SET(fit_limits, r, sequences, limits.sequences, NULL);
    PLI_SET(fit_limits, r, full_sequences, limits.full_sequences, NULL);
    if (limits.layers_known)
        PLI_SET(fit_limits, r, gpu_layers, limits.gpu_layers, NULL);
    PLI_SET(fit_limits, r, batch, limits.batch, NULL);
    PLI_SET(fit_limits, r, ubatch, limits.ubatch, NULL);
    if (limits.kv_type)
        PLI_SET_STR(fit_limits, r, kv_type, pli_type_text(f->arena, limits.kv_type->name), NULL);
    PLI_SET(fit, f->fit, limits, r, NULL);
}

static void write_engine_fit(fitting *f, const pli_case *base)
{
    pli_engine_fit found;
    if (!pli_engine_fit_find(base, &found))
        return;
    plim_engine_fit *r = PLI_NEW(f->arena, engine_fit);
    const pli_setup *s = &found.setup;
    const pli_verdict *v = &found.verdict;
    if (!r)
        return;
    PLI_SET_STR(engine_fit, r, change, pli_engine_fit_flags(base, &found), NULL);
    PLI_SET(engine_fit, r, context, s->context, NULL);
    PLI_SET(engine_fit, r, gpu_layers, found.plan.offloaded, NULL);
    if (s->shares && s->shares != f->setup.shares)
        PLI_SET_STR(engine_fit, r, tensor_split, pli_split_text(f->arena, s, ""), NULL);
    if (s->overrides_text)
        PLI_SET(engine_fit, r, overrides, s->overrides_text, NULL);
    PLI_SET(engine_fit, r, verdict, pli_grade_name(v->mark), NULL);
    if (v->loads_known)
        PLI_SET(engine_fit, r, loads, v->loads, NULL);
    if (v->utilization_known)
        PLI_SET(engine_fit, r, utilization, v->utilization, NULL);
    if (found.why)
        PLI_SET(engine_fit, r, gives_up, found.why, NULL);
    PLI_SET(fit, f->fit, engine_fit, r, NULL);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void write_verdict(fitting *f)
{
    const pli_verdict *v = &f->verdict;
    PLI_SET(fit, f->fit, verdict, pli_grade_name(v->mark), NULL);
    if (v->loads_known)
        PLI_SET(fit, f->fit, loads, v->loads, NULL);
    if (v->utilization_known)
        PLI_SET(fit, f->fit, utilization, v->utilization, NULL);
    PLI_SET_STR(fit, f->fit, reason, reason_of(f), NULL);
}

/* The contexts, the changes and the command. */
static plim_status write_advice(fitting *f)
{
    uint64_t most = 0, context = f->setup.context_given ? f->setup.context : f->shape.trained;
    pli_case base = {f->arena, &f->shape, &f->setup, &f->sites, &f->plan, &f->verdict, 0};
    if (pli_max_context(&base, &f->setup, &most)) {
        PLI_SET(fit, f->fit, max_context, most, NULL);
        PLI_SET(fit, f->fit, recommended_context, most / 5 * 4 + most % 5 * 4 / 5, NULL);
        if (f->verdict.mark == PLI_FAILED && !f->setup.context_given && most)
            context = f->fit->recommended_context;
    }
    base.max_context = most;
    PLI_SET_STR(fit, f->fit, command,
                pli_command(f->arena, &f->shape, &f->setup, &f->sites,
                            context ? context : f->setup.context),
                NULL);
    write_limits(f, &base);
    write_engine_fit(f, &base);
    plim_status status = pli_alternatives(&base, &f->fit->alternatives);
    pli_mark(&f->fit->head, PLIM_F_fit_alternatives, NULL);
    return status;
}

/* A model of which only the tensors are known. */
static plim_status write_unjudged(fitting *f)
{
    plim_fit_memory *memory = PLI_NEW(f->arena, fit_memory);
    if (memory && PLIM_KNOWN(model, &f->model->pub, tensor_bytes)) {
        PLI_SET(fit_memory, memory, weights_bytes, f->model->pub.tensor_bytes, NULL);
        PLI_SET(fit, f->fit, memory, memory, NULL);
    }
    PLI_SET(fit, f->fit, verdict, pli_grade_name(PLI_UNKNOWN), NULL);
    PLI_SET(fit, f->fit, reason, "the file does not say how its layers are built", NULL);
    write_missing(f);
    return PLIM_OK;
}

static plim_status judge(fitting *f, const plim_machine *machine, const plim_fit_options *options,
                         plim_error *error)
{
    pli_purpose purpose = pli_model_purpose(f->model);
    if (purpose != PLI_IS_MODEL)
        return pli_fail(error, PLIM_INVALID, f->model->path, PLIM_NO_OFFSET,
                        "it is %s, not a model: %s", pli_purpose_what(purpose),
                        pli_purpose_where(purpose));
    plim_status status = pli_shape_read(f->arena, f->model, error, &f->shape);
    if (!status)
        status = pli_shape_agrees(&f->shape, error);
    if (!status && f->shape.lacking)
        return write_unjudged(f);
    if (!status)
        status = pli_shape_for_engine(&f->shape, options, error);
    if (!status)
        status = pli_setup_read(f->arena, &f->shape, options, error, &f->setup);
    if (status)
        return status;
    f->shape.graph = pli_graph_new(f->arena);
    pli_sites_read(machine, &f->sites);
    status = pli_resolve(f->arena, &f->shape, &f->sites, error, &f->setup);
    if (!status)
        status = pli_extras_read(f->arena, &f->shape, &f->sites, options, error, &f->setup);
    if (!status && (pli_place_weights(&f->shape, &f->setup, &f->sites, &f->plan) ||
                    pli_place_context(&f->shape, &f->setup, &f->sites, &f->plan)))
        status = pli_fail(error, PLIM_LIMIT, f->model->path, PLIM_NO_OFFSET,
                          "the header's figures multiply to more than 2^64 bytes");
    if (status)
        return status;
    pli_judge(&f->shape, &f->setup, &f->sites, &f->plan, &f->verdict);
    PLI_SET(fit, f->fit, settings, pli_settings_record(f->arena, &f->setup, f->plan.offloaded),
            NULL);
    write_memory(f);
    for (size_t i = 0; i <= f->sites.devices; i++)
        write_place(f, i);
    pli_mark(&f->fit->head, PLIM_F_fit_placement, NULL);
    write_verdict(f);
    write_speed(f);
    write_missing(f);
    status = write_advice(f);
    (void)pli_explain(f->arena, &f->shape, &f->setup, &f->sites, &f->plan, &f->fit->explain);
    pli_mark(&f->fit->head, PLIM_F_fit_explain, NULL);
    return status;
}

static plim_fit *new_fit(pli_arena *arena, const pli_model *model)
{
    fit_result *result = pli_alloc(arena, sizeof *result);
    const char **source = pli_alloc_array(arena, plim_record_fit.field_count, sizeof *source);
    if (!result || !source)
        return NULL;
    plim_fit *fit = &result->pub;
    result->arena = arena;
    fit->head.source = source;
    PLI_SET(fit, fit, schema, "plimsoll.fit/1", NULL);
    PLI_SET(fit, fit, version, PLIM_VERSION_TEXT, NULL);
    const plim_model *copy = pli_record_copy(arena, &plim_record_model, &model->pub);
    if (copy)
        PLI_SET(fit, fit, model, copy, NULL);
    return fit;
}

plim_status plim_fit_model(plimsoll *context, const plim_machine *machine, const plim_model *model,
                           const plim_fit_options *options, plim_error *error, plim_fit **out)
{
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    *out = NULL;
    if (!machine || !model || !pli_options_take(&with, sizeof with, options))
        return pli_fail(error, PLIM_INVALID, "fit", PLIM_NO_OFFSET,
                        "machine, model and options are needed");
    pli_arena *arena = pli_arena_new(pli_context_allocator(context), PLI_MAX_ARENA);
    fitting *f = arena ? pli_alloc(arena, sizeof *f) : NULL;
    plim_status status = PLIM_NOMEM;
    if (f && (f->fit = new_fit(arena, pli_model_of(model))) != NULL) {
        f->arena = arena;
        f->model = pli_model_of(model);
        status = judge(f, machine, &with, error);
        *out = f->fit;
    }
    if (!status && pli_arena_failed(arena))
        status = PLIM_NOMEM;
    if (status == PLIM_NOMEM)
        (void)pli_fail(error, PLIM_NOMEM, "fit", PLIM_NO_OFFSET, "out of memory");
    if (status) {
        *out = NULL;
        pli_arena_free(arena);
    }
    return status;
}

void plim_fit_free(plim_fit *fit)
{
    if (fit)
        pli_arena_free(((fit_result *)(void *)fit)->arena);
}

plim_status plim_fit_to_json(const plim_fit *fit, unsigned flags, char **text, size_t *length)
{
    return plim_record_to_json(&plim_record_fit, fit, flags, text, length);
}
