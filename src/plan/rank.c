/* What can this machine run, best first: each model of the catalogue in the best quantization that
 * stays under the line, by the same functions that judge one file. */
#include <stdlib.h>
#include <string.h>

#include "../base/context.h"
#include "../base/limits.h"
#include "../base/options.h"
#include "../base/record.h"
#include "../base/status.h"
#include "../model/build.h"
#include "../model/catalogue.h"
#include "graph.h"
#include "inverse.h"
#include "speed.h"

#define MOST_MIXTURES 16u
#define EXPERTS_ON_HOST "\\.ffn_(up|down|gate)_(ch|)exps=CPU"

static const char order_text[] =
    "passed before warning, whole on the accelerators before partly on the host, 4 bits a weight "
    "or "
    "more before fewer; then by size, which is the geometric mean of all and of active parameters, "
    "halved for each year of age";

typedef enum way { WHOLE, EXPERTS, PARTLY, WAYS } way;

/* What is tried, the best first; the first that holds decides. */
static const struct attempt {
    way way;
    bool four_bits;
    pli_grade grade;
} attempts[] = {
    {WHOLE, true, PLI_PASSED},   {EXPERTS, true, PLI_PASSED},  {WHOLE, true, PLI_WARNING},
    {PARTLY, true, PLI_PASSED},  {WHOLE, false, PLI_PASSED},   {EXPERTS, true, PLI_WARNING},
    {WHOLE, false, PLI_WARNING}, {EXPERTS, false, PLI_PASSED},
};
#define ATTEMPTS (sizeof attempts / sizeof *attempts)

/* One model in one quantization, placed in one way. */
typedef struct trial {
    bool judged;
    pli_shape shape;
    pli_setup setup;
    pli_plan plan;
    pli_verdict verdict;
    uint64_t tensor_bytes;
} trial;

typedef struct candidate {
    const pli_known_model *known;
    const pli_mixture *mixture[MOST_MIXTURES];
    size_t mixtures;
    pli_model *model;
    const pli_mixture *drawn; /* the quantization that model has now */
    trial *trial[MOST_MIXTURES][WAYS];
} candidate;

typedef struct ranking {
    pli_arena *arena;
    const plim_allocator *allocator;
    const plim_fit_options *options;
    pli_sites sites;
    plim_error *error;
    plim_status status;
    uint64_t room; /* bytes that all memories may take together; UINT64_MAX: unknown, unlimited */
    uint64_t device_room; /* ... the devices alone */
} ranking;

/* ---- a trial --------------------------------------------------------------------------------- */

static bool has_four_bits(const pli_mixture *mixture)
{
    const pli_quant *type = pli_quant_at(mixture->type);
    return 8 * type->block_bytes >= 4 * type->block_elements;
}

static void set_room(ranking *r)
{
    for (size_t i = 0; i <= r->sites.devices; i++) {
        const pli_site *site = &r->sites.at[i];
        bool bounded = site->budget_known && !site->unlimited;
        r->device_room = r->room;
        r->room = pli_add_sat(r->room, bounded ? site->budget : UINT64_MAX);
    }
}

static plim_fit_options options_of(const ranking *r, const candidate *c, way way_,
                                   const char *const *overrides)
{
    plim_fit_options with = *r->options;
    uint64_t trained = pli_model_number(c->model, "%s.context_length", PLI_MIN_CONTEXT);
    if (!with.context)
        with.context = pli_smaller(trained, PLI_MIN_CONTEXT);
    if (way_ == EXPERTS)
        with.overrides = overrides;
    return with;
}

/* The model's tensors in this quantization; what they are called stays. */
static void requantize(ranking *r, candidate *c, const pli_mixture *mixture)
{
    if (c->drawn == mixture)
        return;
    pli_known_model_quantize(c->known, mixture, c->model);
    if (!c->drawn)
        r->status = pli_model_finish(c->model, r->error);
    c->drawn = mixture;
}

static bool has_overrides(const ranking *r)
{
    return r->options->overrides && r->options->overrides[0];
}

static bool applies(const ranking *r, const candidate *c, way way_)
{
    if (way_ == WHOLE)
        return true;
    if (!r->sites.devices || r->options->gpu_layers >= 0 || has_overrides(r))
        return false;
    return way_ == PARTLY || pli_model_number(c->model, "%s.expert_count", 0) > 0;
}

/* As many layers on the devices as stay under the line. */
static void take_layers(const ranking *r, trial *t)
{
    pli_case base = {r->arena, &t->shape, &t->setup, &r->sites, &t->plan, &t->verdict, 0};
    uint64_t layers;
    if (!t->verdict.utilization_known || !pli_max_layers(&base, &t->setup, &layers) || !layers)
        return;
    t->setup.gpu_layers = layers;
    t->setup.gpu_layers_given = true;
    t->judged = pli_try(&base, &t->setup, &t->plan, &t->verdict);
}

static void judge(ranking *r, candidate *c, way way_, trial *t)
{
    static const char *const overrides[] = {EXPERTS_ON_HOST, NULL};
    pli_arena *arena = c->model->arena;
    plim_fit_options with = options_of(r, c, way_, overrides);
    plim_status status = pli_shape_read(arena, c->model, r->error, &t->shape);
    if (!status)
        status = pli_setup_read(arena, &t->shape, &with, r->error, &t->setup);
    t->shape.graph = pli_graph_new(arena);
    if (!status)
        status = pli_resolve(arena, &t->shape, &r->sites, r->error, &t->setup);
    if (status) {
        r->status = status;
        return;
    }
    pli_case base = {r->arena, &t->shape, &t->setup, &r->sites, &t->plan, &t->verdict, 0};
    t->judged = pli_try(&base, &t->setup, &t->plan, &t->verdict);
    if (way_ == PARTLY && t->judged)
        take_layers(r, t);
}

/* Bytes of all tensors. *input: those that stay on the host whatever is offloaded. */
static uint64_t bytes_of(const pli_model *model, uint64_t *input)
{
    uint64_t bytes = 0;
    *input = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        bytes = pli_add_sat(bytes, model->tensors[i].bytes);
        if (pli_contains(pli_s(model->tensors[i].name), "token_embd"))
            *input = pli_add_sat(*input, model->tensors[i].bytes);
    }
    return bytes;
}

/* May it fit, by its tensors alone? Saves drawing graphs of what is far too large. */
static bool may_fit(const ranking *r, way way_, uint64_t bytes, uint64_t input)
{
    if (way_ == WHOLE && r->sites.devices && r->options->gpu_layers < 0 && !has_overrides(r))
        return bytes - input <= r->device_room;
    return bytes <= r->room;
}

/* Judged once. NULL: it does not apply, or memory ran out. */
static trial *try_it(ranking *r, candidate *c, size_t mixture, way way_)
{
    trial *t = c->trial[mixture][way_];
    uint64_t input;
    if (t || !applies(r, c, way_))
        return t;
    requantize(r, c, c->mixture[mixture]);
    t = r->status ? NULL : pli_alloc(c->model->arena, sizeof *t);
    if (!t)
        return NULL;
    c->trial[mixture][way_] = t;
    t->tensor_bytes = bytes_of(c->model, &input);
    if (may_fit(r, way_, t->tensor_bytes, input))
        judge(r, c, way_, t);
    else
        t->verdict = (pli_verdict){.mark = PLI_FAILED};
    return t;
}

/* ---- records --------------------------------------------------------------------------------- */

static const char *placement_of(const ranking *r, way way_, const trial *t)
{
    if (!r->sites.devices || !t->setup.gpu_layers)
        return "host";
    return way_ == EXPERTS  ? "experts on the host"
           : way_ == PARTLY ? "partly on the host"
                            : "accelerators";
}

static void write_flags(const ranking *r, way way_, const trial *t, plim_ranked_model *m)
{
    if (way_ == EXPERTS)
        PLI_SET(ranked_model, m, flags, "--cpu-moe", NULL);
    else if (way_ == PARTLY)
        PLI_SET_STR(ranked_model, m, flags,
                    pli_printf(r->arena, "-ngl %llu", (unsigned long long)t->setup.gpu_layers),
                    NULL);
}

static void write_context(const ranking *r, const trial *t, plim_ranked_model *m)
{
    pli_case base = {r->arena, &t->shape, &t->setup, &r->sites, &t->plan, &t->verdict, 0};
    pli_setup setup = t->setup;
    pli_speed speed;
    uint64_t most;
    PLI_SET(ranked_model, m, context, t->setup.context, NULL);
    if (pli_max_context(&base, &setup, &most) && most)
        PLI_SET(ranked_model, m, max_context, most, NULL);
    if (pli_speed_find(&t->shape, &t->setup, &r->sites, &t->plan, &speed)) {
        PLI_SET(ranked_model, m, decode_tokens_per_s, speed.decode, NULL);
        PLI_SET(ranked_model, m, nominal, speed.nominal, NULL);
    }
}

static plim_ranked_model *write_model(ranking *r, candidate *c, size_t mixture, way way_,
                                      const trial *t)
{
    plim_ranked_model *m = PLI_NEW(r->arena, ranked_model);
    if (!m)
        return NULL;
    requantize(r, c, c->mixture[mixture]);
    PLI_SET(ranked_model, m, name, c->known->name, "table");
    PLI_SET(ranked_model, m, title, c->known->title, "table");
    PLI_SET(ranked_model, m, architecture, c->known->architecture, "table");
    PLI_SET(ranked_model, m, released, c->known->released, "table");
    PLI_SET(ranked_model, m, source, c->known->source, "table");
    PLI_SET(ranked_model, m, parameters, c->known->parameters, "table");
    if (PLIM_KNOWN(model, &c->model->pub, active_parameters))
        PLI_SET(ranked_model, m, active_parameters, c->model->pub.active_parameters, NULL);
    PLI_SET(ranked_model, m, quantization, c->mixture[mixture]->name, NULL);
    PLI_SET(ranked_model, m, tensor_bytes, t->tensor_bytes, NULL);
    PLI_SET(ranked_model, m, verdict, pli_grade_name(t->verdict.mark), NULL);
    if (!t->judged)
        return m;
    PLI_SET(ranked_model, m, placement, placement_of(r, way_, t), NULL);
    if (t->verdict.utilization_known)
        PLI_SET(ranked_model, m, utilization, t->verdict.utilization, NULL);
    write_flags(r, way_, t, m);
    write_context(r, t, m);
    return m;
}

/* ---- one model ------------------------------------------------------------------------------- */

/* The first attempt that holds, in the best quantization for it; ATTEMPTS: none. */
static size_t choose(ranking *r, candidate *c, size_t *mixture)
{
    for (size_t a = 0; a < ATTEMPTS; a++)
        for (size_t k = 0; k < c->mixtures && !r->status; k++) {
            const trial *t;
            if (has_four_bits(c->mixture[k]) == attempts[a].four_bits &&
                (t = try_it(r, c, k, attempts[a].way)) != NULL && t->judged &&
                t->verdict.mark == attempts[a].grade) {
                *mixture = k;
                return a;
            }
        }
    return ATTEMPTS;
}

static bool open_candidate(ranking *r, const pli_known_model *known, candidate *c)
{
    memset(c, 0, sizeof *c);
    c->known = known;
    while (c->mixtures < MOST_MIXTURES &&
           (c->mixture[c->mixtures] = pli_known_model_mixture(known, c->mixtures)) != NULL)
        c->mixtures++;
    r->status = pli_known_model_draw(r->allocator, known, r->error, &c->model);
    return r->status == PLIM_OK;
}

static void close_candidate(ranking *r, candidate *c)
{
    if (!r->status && pli_arena_failed(c->model->arena))
        r->status = PLIM_NOMEM;
    plim_model_free(&c->model->pub);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct place {
    plim_ranked_model *model;
    size_t attempt;
    double size; /* doublings */
} place;

/* Years since 2000, from YYYY-MM-DD. */
static double years_of(const char *date)
{
    uint64_t year = 0, month = 1;
    pli_str rest = pli_s(date), part;
    if (pli_next_part(&rest, '-', &part))
        (void)pli_parse_u64(part, &year);
    if (pli_next_part(&rest, '-', &part))
        (void)pli_parse_u64(part, &month);
    return (double)year - 2000 + ((double)month - 1) / 12;
}

/* log2(n) of n >= 1, to 2^-40, by squaring: libm's is one more library that every start of the
 * command would load. */
static double doublings(double n)
{
    double whole = 0, part = 0;
    for (; n >= 2; n /= 2)
        whole++;
    for (double bit = 0.5; bit > 1e-12; bit /= 2) {
        n *= n;
        if (n < 2)
            continue;
        n /= 2;
        part += bit;
    }
    return whole + part;
}

static double size_of(const plim_ranked_model *m)
{
    double all = (double)m->parameters;
    double active =
        PLIM_KNOWN(ranked_model, m, active_parameters) ? (double)m->active_parameters : all;
    return (doublings(all) + doublings(active)) / 2 + years_of(m->released);
}

static int by_rank(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->size < y->size || x->size > y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(x->model->name, y->model->name);
}

static void rank_all(ranking *r, plim_models *out)
{
    const pli_known_model *known;
    place *places = NULL;
    size_t count = 0, all = 0;
    for (; !r->status && (known = pli_known_model_at(all)) != NULL; all++) {
        candidate c;
        size_t mixture;
        if (!open_candidate(r, known, &c))
            return;
        size_t attempt = choose(r, &c, &mixture);
        place *grown = pli_grow_array(r->arena, places, count, sizeof *places);
        places = grown ? grown : places;
        if (attempt < ATTEMPTS && grown) {
            way way_ = attempts[attempt].way;
            plim_ranked_model *m = write_model(r, &c, mixture, way_, c.trial[mixture][way_]);
            if (m)
                places[count++] = (place){m, attempt, size_of(m)};
        }
        close_candidate(r, &c);
    }
    if (count)
        qsort(places, count, sizeof *places, by_rank);
    for (size_t i = 0; i < count; i++)
        (void)pli_items_add(r->arena, &out->models, places[i].model);
    PLI_SET(models, out, left_out, all - count, NULL);
}

/* How this quantization is best placed. */
static way best_way(ranking *r, candidate *c, size_t mixture)
{
    for (size_t a = 0; a < ATTEMPTS; a++) {
        const trial *t = try_it(r, c, mixture, attempts[a].way);
        if (t && t->judged && t->verdict.mark == attempts[a].grade)
            return attempts[a].way;
    }
    return WHOLE;
}

/* One model in all its quantizations, each placed in the best way. */
static void rank_one(ranking *r, const pli_known_model *known, const pli_mixture *named,
                     plim_models *out)
{
    candidate c;
    if (!open_candidate(r, known, &c))
        return;
    if (named) {
        c.mixture[0] = named;
        c.mixtures = 1;
    }
    size_t chosen, attempt = choose(r, &c, &chosen);
    for (size_t k = 0; k < c.mixtures && !r->status; k++) {
        way way_ = attempt < ATTEMPTS && k == chosen ? attempts[attempt].way : best_way(r, &c, k);
        const trial *t = try_it(r, &c, k, way_);
        plim_ranked_model *m = t ? write_model(r, &c, k, way_, t) : NULL;
        if (!m)
            break;
        if (attempt < ATTEMPTS)
            PLI_SET(ranked_model, m, best, k == chosen, NULL);
        (void)pli_items_add(r->arena, &out->models, m);
    }
    close_candidate(r, &c);
}

typedef struct models_result {
    plim_models pub;
    pli_arena *arena;
} models_result;

static plim_models *new_models(pli_arena *arena)
{
    models_result *result = pli_alloc(arena, sizeof *result);
    const char **source = pli_alloc_array(arena, plim_record_models.field_count, sizeof *source);
    if (!result || !source)
        return NULL;
    result->arena = arena;
    result->pub.head.source = source;
    PLI_SET(models, &result->pub, schema, "plimsoll.models/1", NULL);
    PLI_SET(models, &result->pub, version, PLIM_VERSION_TEXT, NULL);
    PLI_SET(models, &result->pub, order, order_text, NULL);
    pli_mark(&result->pub.head, PLIM_F_models_models, NULL);
    return &result->pub;
}

static plim_status rank(ranking *r, const plim_machine *machine, const char *name, plim_models *out)
{
    const pli_known_model *known = NULL;
    const pli_mixture *mixture = NULL;
    const pli_generation *generation = pli_generation_find(r->options->engine);
    if (name && !(known = pli_known_model_find(pli_s(name), &mixture)))
        return pli_known_model_unknown(name, r->error);
    if (generation)
        PLI_SET_STR(models, out, engine, pli_printf(r->arena, "llama.cpp@%s", generation->name),
                    NULL);
    pli_sites_read(machine, &r->sites);
    set_room(r);
    if (known)
        rank_one(r, known, mixture, out);
    else
        rank_all(r, out);
    return r->status;
}

plim_status plim_models_rank(plimsoll *context, const plim_machine *machine,
                             const plim_fit_options *options, const char *name, plim_error *error,
                             plim_models **out)
{
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    if (!out)
        return PLIM_INVALID;
    *out = NULL;
    if (!machine || !pli_options_take(&with, sizeof with, options))
        return pli_fail(error, PLIM_INVALID, "models", PLIM_NO_OFFSET,
                        "machine and options are needed");
    const plim_allocator *allocator = pli_context_allocator(context);
    pli_arena *arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    plim_models *models = arena ? new_models(arena) : NULL;
    ranking *r = models ? pli_alloc(arena, sizeof *r) : NULL;
    plim_status status = PLIM_NOMEM;
    if (r) {
        *r = (ranking){.arena = arena, .allocator = allocator, .options = &with, .error = error};
        status = rank(r, machine, name, models);
    }
    if (!status && pli_arena_failed(arena))
        status = PLIM_NOMEM;
    if (status == PLIM_NOMEM)
        (void)pli_fail(error, PLIM_NOMEM, "models", PLIM_NO_OFFSET, "out of memory");
    if (!status)
        *out = models;
    else if (arena)
        pli_arena_free(arena);
    return status;
}

void plim_models_free(plim_models *models)
{
    if (models)
        pli_arena_free(((models_result *)(void *)models)->arena);
}

plim_status plim_models_to_json(const plim_models *models, unsigned flags, char **text,
                                size_t *length)
{
    return plim_record_to_json(&plim_record_models, models, flags, text, length);
}
