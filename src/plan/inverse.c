#include "inverse.h"

#include <math.h>

bool pli_try(const pli_case *base, const pli_setup *setup, pli_plan *plan, pli_verdict *verdict)
{
    if (pli_place_weights(base->shape, setup, base->sites, plan) ||
        pli_place_context(base->shape, setup, base->sites, plan))
        return false;
    pli_judge(base->shape, setup, base->sites, plan, verdict);
    return true;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Between two numbers of which only the lower stays under the line. Memory grows almost evenly, so
 * the line is met where a straight line meets it; every third guess is the middle, so that the
 * search ends soon whatever the curve. */
static uint64_t next_guess(uint64_t low, double at_low, uint64_t high, double at_high, double line,
                           unsigned round)
{
    double part = 0.5;
    if (round % 3 != 2 && at_high < HUGE_VAL && at_high > at_low)
        part = (line - at_low) / (at_high - at_low);
    uint64_t guess = low + (uint64_t)(part * (double)(high - low));
    return guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
}

bool pli_largest(pli_load_fn *load, void *context, uint64_t low, uint64_t high, double line,
                 uint64_t *out)
{
    double at_high = load(context, high);
    *out = high;
    if (at_high <= line)
        return true;
    double at_low = low < high ? load(context, low) : HUGE_VAL;
    if (!(at_low <= line))
        return false;
    for (unsigned round = 0; high - low > 1; round++) {
        uint64_t guess = next_guess(low, at_low, high, at_high, line, round);
        double at = load(context, guess);
        if (at <= line) {
            low = guess;
            at_low = at;
        } else {
            high = guess;
            at_high = at;
        }
    }
    *out = low;
    return true;
}

typedef struct searching {
    const pli_case *base;
    const pli_setup *setup;
    pli_plan plan; /* its weights are placed, where they do not change */
    uint64_t limit;
} searching;

static double load_of(const searching *s, const pli_setup *setup)
{
    pli_verdict verdict;
    pli_judge(s->base->shape, setup, s->base->sites, &s->plan, &verdict);
    return verdict.utilization_known ? verdict.utilization : HUGE_VAL;
}

/* The same weights, another context. */
static double load_with(searching *s, const pli_setup *setup)
{
    if (pli_place_context(s->base->shape, setup, s->base->sites, &s->plan))
        return HUGE_VAL;
    return load_of(s, setup);
}

/* ---- context --------------------------------------------------------------------------------- */

static double load_at_context(void *context, uint64_t steps)
{
    searching *s = context;
    pli_setup with = *s->setup;
    if (pli_setup_context(&with, pli_smaller(steps * PLI_CONTEXT_STEP, s->limit), NULL))
        return HUGE_VAL;
    return load_with(s, &with);
}

bool pli_max_context(const pli_case *base, const pli_setup *setup, uint64_t *out)
{
    const pli_shape *shape = base->shape;
    uint64_t limit = shape->trained ? shape->trained : setup->context, steps;
    searching s = {.base = base, .setup = setup};
    s.limit = setup->context_given ? pli_larger(limit, setup->context) : limit;
    *out = 0;
    if (!base->verdict->utilization_known || pli_place_weights(shape, setup, base->sites, &s.plan))
        return false;
    if (pli_largest(load_at_context, &s, 1, (s.limit + PLI_CONTEXT_STEP - 1) / PLI_CONTEXT_STEP,
                    setup->line_warning, &steps))
        *out = pli_smaller(steps * PLI_CONTEXT_STEP, s.limit);
    return true;
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Of the devices alone: what they do not take, the host must, so it is asked afterwards. */
static double load_at_layers(void *context, uint64_t layers)
{
    searching *s = context;
    const pli_sites *sites = s->base->sites;
    pli_setup with = *s->setup;
    double most = 0, u;
    with.gpu_layers = layers;
    if (pli_place_weights(s->base->shape, &with, sites, &s->plan) ||
        pli_place_context(s->base->shape, &with, sites, &s->plan))
        return HUGE_VAL;
    for (size_t i = 0; i < sites->devices; i++) {
        if (!pli_utilization(&s->plan, sites, i, &u))
            return HUGE_VAL;
        most = u > most ? u : most;
    }
    return most;
}

bool pli_max_layers(const pli_case *base, const pli_setup *setup, uint64_t *out)
{
    searching s = {.base = base, .setup = setup};
    pli_setup with = *setup;
    if (!pli_largest(load_at_layers, &s, 0, base->shape->layers + 1, setup->line_warning, out))
        return false;
    with.gpu_layers = *out;
    (void)load_at_layers(&s, *out);
    return load_of(&s, &with) <= setup->line_warning;
}

/* ---- slots and batches ----------------------------------------------------------------------- */

#define MOST_SLOTS 256u /* the engine's own limit */
#define BATCH_STEP 64u  /* tokens */
#define LARGEST_BATCH ((uint64_t)1 << 20)

static double load_at_slots(void *context, uint64_t slots)
{
    searching *s = context;
    pli_setup with = *s->setup;
    with.sequences = slots;
    if (pli_setup_context(&with, s->setup->context, NULL))
        return HUGE_VAL;
    return load_with(s, &with);
}

/* Each slot with the context that one has now. */
static double load_at_full_slots(void *context, uint64_t slots)
{
    searching *s = context;
    pli_setup with = *s->setup;
    uint64_t each = pli_smaller(s->setup->context_per_sequence, s->limit);
    with.sequences = slots;
    if (pli_setup_context(&with, pli_mul_sat(slots, each), NULL))
        return HUGE_VAL;
    return load_with(s, &with);
}

static double load_at_ubatch(void *context, uint64_t steps)
{
    searching *s = context;
    pli_setup with = *s->setup;
    with.ubatch_asked = pli_smaller(steps * BATCH_STEP, s->limit);
    with.batch_asked = pli_larger(with.batch_asked, with.ubatch_asked);
    if (pli_setup_context(&with, s->setup->context, NULL))
        return HUGE_VAL;
    return load_with(s, &with);
}

static double load_at_batch(void *context, uint64_t steps)
{
    searching *s = context;
    pli_setup with = *s->setup;
    with.batch_asked = pli_smaller(steps * BATCH_STEP, s->limit);
    if (pli_setup_context(&with, s->setup->context, NULL))
        return HUGE_VAL;
    return load_with(s, &with);
}

static uint64_t largest(searching *s, pli_load_fn *load, uint64_t high)
{
    uint64_t found;
    return pli_largest(load, s, 1, high, s->setup->line_warning, &found) ? found : 0;
}

static uint64_t largest_batch(searching *s, pli_load_fn *load)
{
    s->limit = pli_smaller(s->setup->context, LARGEST_BATCH);
    uint64_t steps = largest(s, load, (s->limit + BATCH_STEP - 1) / BATCH_STEP);
    return pli_smaller(steps * BATCH_STEP, s->limit);
}

/* ---- cache types ----------------------------------------------------------------------------- */

bool pli_use_cache_type(const pli_case *base, const char *name, pli_setup *setup)
{
    const pli_quant *type = pli_quant_by_name(pli_s(name));
    const pli_shape *shape = base->shape;
    uint64_t value = shape->latent ? 0 : shape->value_length;
    if (!type || !base->plan->cache_count || shape->key_length % type->block_elements ||
        value % type->block_elements)
        return false;
    if (type->block_elements > 1 && !setup->flash && setup->flash_given)
        return false;
    setup->flash |= type->block_elements > 1;
    setup->type_k = setup->type_v = type;
    return true;
}

/* The most precise that stays under the line. */
static const pli_quant *best_cache_type(searching *s)
{
    static const char *const types[] = {"f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        pli_setup with = *s->setup;
        if (pli_use_cache_type(s->base, types[i], &with) &&
            !pli_setup_context(&with, s->setup->context, NULL) &&
            load_with(s, &with) <= with.line_warning)
            return with.type_k;
    }
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool pli_limits_find(const pli_case *base, pli_limits *out)
{
    searching s = {.base = base, .setup = base->setup, .plan = *base->plan};
    *out = (pli_limits){.context = base->max_context};
    if (!base->verdict->utilization_known)
        return false;
    out->sequences = largest(&s, load_at_slots, MOST_SLOTS);
    s.limit = base->shape->trained ? base->shape->trained : UINT32_MAX;
    out->full_sequences = largest(&s, load_at_full_slots, MOST_SLOTS);
    out->ubatch = largest_batch(&s, load_at_ubatch);
    out->batch = largest_batch(&s, load_at_batch);
    out->kv_type = best_cache_type(&s);
    out->layers_known = base->sites->devices > 0;
    if (out->layers_known && !pli_max_layers(base, base->setup, &out->gpu_layers))
        out->layers_known = false;
    return true;
}
