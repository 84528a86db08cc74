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

static double fullest(const pli_search *s, const pli_setup *with)
{
    const pli_sites *sites = s->base->sites;
    double most = 0, u;
    pli_verdict verdict;
    if (!s->devices) {
        pli_judge(s->base->shape, with, sites, &s->plan, &verdict);
        return verdict.utilization_known ? verdict.utilization : HUGE_VAL;
    }
    for (size_t i = 0; i < sites->devices; i++) {
        if (!pli_utilization(&s->plan, sites, i, &u))
            return HUGE_VAL;
        most = u > most ? u : most;
    }
    return most;
}

/* How full the fullest memory is at n, at least: without buffers of intermediate results, which
 * take most of the time. HUGE_VAL: unknown, or refused. */
static double at_least(pli_search *s, uint64_t n, pli_setup *with)
{
    const pli_shape *shape = s->base->shape;
    *with = *s->setup;
    if (!s->apply(s, n, with) ||
        (s->weights && pli_place_weights(shape, with, s->base->sites, &s->plan)) ||
        pli_place_stored(shape, with, s->base->sites, &s->plan))
        return HUGE_VAL;
    return fullest(s, with);
}

/* Where it grows evenly, the line is met where a straight line meets it; every third guess is the
 * middle, so that the search ends soon whatever the curve. */
static uint64_t next_guess(uint64_t low, double at_low, uint64_t high, double at_high, double line,
                           unsigned round)
{
    double part = 0.5;
    if (round % 3 != 2 && at_high < HUGE_VAL && at_high > at_low && line > at_low)
        part = (line - at_low) / (at_high - at_low);
    uint64_t guess = low + (uint64_t)(part * (double)(high - low));
    return guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
}

/* The largest n up to high that is under the line as far as at_least() can tell; low where none
 * above it is. */
static uint64_t most_at_least(pli_search *s, uint64_t low, uint64_t high, double line)
{
    pli_setup with;
    double at_high = at_least(s, high, &with);
    if (at_high <= line || low >= high)
        return high;
    double at_low = at_least(s, low, &with);
    for (unsigned round = 0; high - low > 1; round++) {
        uint64_t guess = next_guess(low, at_low, high, at_high, line, round);
        double at = at_least(s, guess, &with);
        if (at <= line) {
            low = guess;
            at_low = at;
        } else {
            high = guess;
            at_high = at;
        }
    }
    return low;
}

/* Guesses with what is cheap, and the buffers as large as at the last n that was judged; only
 * guesses are judged in full. */
bool pli_largest(pli_search *s, uint64_t low, uint64_t high, uint64_t *out)
{
    double line = s->setup->line_warning, buffers = 0;
    uint64_t good = low, bad = high + 1; /* good is so only if any */
    bool any = false;
    for (unsigned round = 0; bad - good > (any ? 1 : 0); round++) {
        uint64_t from = any ? good + 1 : low;
        uint64_t n = round % 4 == 3 ? from + (bad - 1 - from) / 2
                                    : most_at_least(s, from, bad - 1, line - buffers);
        pli_setup with;
        double least = at_least(s, n, &with), at = least;
        if (least <= line) {
            bool placed = !pli_place_compute(s->base->shape, &with, s->base->sites, &s->plan);
            at = placed ? fullest(s, &with) : HUGE_VAL;
            buffers = at < HUGE_VAL ? at - least : buffers;
        }
        if (at <= line) {
            any = true;
            good = n;
        } else if (n == low) {
            return false;
        } else {
            bad = n;
        }
    }
    *out = good;
    return any;
}

/* ---- context --------------------------------------------------------------------------------- */

static bool apply_context(pli_search *s, uint64_t steps, pli_setup *with)
{
    uint64_t tokens = pli_smaller(steps * PLI_CONTEXT_STEP, s->limit);
    return pli_setup_context(with, tokens, NULL) == PLIM_OK;
}

bool pli_max_context(const pli_case *base, const pli_setup *setup, uint64_t *out)
{
    const pli_shape *shape = base->shape;
    uint64_t limit = shape->trained ? shape->trained : setup->context, steps;
    pli_search s = {.base = base, .setup = setup, .apply = apply_context};
    s.limit = setup->context_given ? pli_larger(limit, setup->context) : limit;
    *out = 0;
    if (!base->verdict->utilization_known || pli_place_weights(shape, setup, base->sites, &s.plan))
        return false;
    if (pli_largest(&s, 1, (s.limit + PLI_CONTEXT_STEP - 1) / PLI_CONTEXT_STEP, &steps))
        *out = pli_smaller(steps * PLI_CONTEXT_STEP, s.limit);
    return true;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static bool apply_layers(pli_search *s, uint64_t layers, pli_setup *with)
{
    (void)s;
    with->gpu_layers = layers;
    return true;
}

bool pli_max_layers(const pli_case *base, const pli_setup *setup, uint64_t *out)
{
    pli_search s = {
        .base = base, .setup = setup, .apply = apply_layers, .weights = true, .devices = true};
    pli_setup with = *setup;
    pli_verdict verdict;
    if (!pli_largest(&s, 0, base->shape->layers + 1, out))
        return false;
    with.gpu_layers = *out;
    return pli_try(base, &with, &s.plan, &verdict) && verdict.utilization_known &&
           verdict.utilization <= setup->line_warning;
}

/* ---- slots and batches ----------------------------------------------------------------------- */

#define MOST_SLOTS 256u /* the engine's own limit */
#define BATCH_STEP 64u  /* tokens */
#define LARGEST_BATCH ((uint64_t)1 << 20)

static bool apply_slots(pli_search *s, uint64_t slots, pli_setup *with)
{
    with->sequences = slots;
    return pli_setup_context(with, s->setup->context, NULL) == PLIM_OK;
}

/* Each slot with the context that one has now. */
static bool apply_full_slots(pli_search *s, uint64_t slots, pli_setup *with)
{
    uint64_t each = pli_smaller(s->setup->context_per_sequence, s->limit);
    with->sequences = slots;
    return pli_setup_context(with, pli_mul_sat(slots, each), NULL) == PLIM_OK;
}

static bool apply_batch(pli_search *s, uint64_t steps, pli_setup *with)
{
    with->batch_asked = pli_smaller(steps * BATCH_STEP, s->limit);
    return pli_setup_context(with, s->setup->context, NULL) == PLIM_OK;
}

static bool apply_ubatch(pli_search *s, uint64_t steps, pli_setup *with)
{
    with->ubatch_asked = pli_smaller(steps * BATCH_STEP, s->limit);
    with->batch_asked = pli_larger(with->batch_asked, with->ubatch_asked);
    return pli_setup_context(with, s->setup->context, NULL) == PLIM_OK;
}

typedef bool apply_fn(pli_search *s, uint64_t n, pli_setup *with);

static uint64_t largest(pli_search *s, apply_fn *apply, uint64_t high)
{
    uint64_t found;
    s->apply = apply;
    return pli_largest(s, 1, high, &found) ? found : 0;
}

static uint64_t largest_batch(pli_search *s, apply_fn *apply)
{
    s->limit = pli_smaller(s->setup->context, LARGEST_BATCH);
    uint64_t steps = largest(s, apply, (s->limit + BATCH_STEP - 1) / BATCH_STEP);
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

static const char *const cache_types[] = {"f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"};
#define CACHE_TYPES (sizeof cache_types / sizeof *cache_types)

/* n counts from the smallest. */
static bool apply_cache_type(pli_search *s, uint64_t n, pli_setup *with)
{
    return pli_use_cache_type(s->base, cache_types[CACHE_TYPES - n], with) &&
           pli_setup_context(with, s->setup->context, NULL) == PLIM_OK;
}

/* The most precise that stays under the line; each is tried, since some may be refused. */
static const pli_quant *best_cache_type(pli_search *s)
{
    s->apply = apply_cache_type;
    for (uint64_t n = CACHE_TYPES; n > 0; n--) {
        uint64_t found;
        if (pli_largest(s, n, n, &found))
            return pli_quant_by_name(pli_s(cache_types[CACHE_TYPES - n]));
    }
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool pli_limits_find(const pli_case *base, pli_limits *out)
{
    pli_search s = {.base = base, .setup = base->setup, .plan = *base->plan};
    *out = (pli_limits){.context = base->max_context};
    if (!base->verdict->utilization_known)
        return false;
    out->sequences = largest(&s, apply_slots, MOST_SLOTS);
    s.limit = base->shape->trained ? base->shape->trained : UINT32_MAX;
    out->full_sequences = largest(&s, apply_full_slots, MOST_SLOTS);
    out->ubatch = largest_batch(&s, apply_ubatch);
    out->batch = largest_batch(&s, apply_batch);
    out->kv_type = best_cache_type(&s);
    out->layers_known =
        base->sites->devices > 0 && pli_max_layers(base, base->setup, &out->gpu_layers);
    return true;
}
