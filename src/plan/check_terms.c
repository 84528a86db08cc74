/* The comparison of a plan with a load log. */
#include "check.h"

#include <string.h>

#define ROUNDING 5243u /* bytes by which "0.01 MiB" may be off */

static uint64_t bytes_of(pli_amount amount)
{
    return pli_mul_sat(amount.hundredths, PLI_MIB(1)) / 100;
}

static size_t site_of(const pli_check *c, pli_str buffer)
{
    size_t devices = c->sites.devices,
           at = pli_log_is_host(buffer) ? devices : pli_log_accelerator(&c->log, buffer);
    return pli_smaller(at, devices);
}

static const struct {
    const char *name;
    size_t offset; /* in pli_share */
} terms[PLI_LOG_TERMS] = {
    {"weights", offsetof(pli_share, weights)},       {"kv_cache", offsetof(pli_share, kv)},
    {"recurrent_state", offsetof(pli_share, state)}, {"compute", offsetof(pli_share, compute)},
    {"output", offsetof(pli_share, output)},         {"context", offsetof(pli_share, kv)}};

static bool is_fork(const pli_check *c)
{
    return c->setup.generation->build == 0;
}

static uint64_t predicted(const pli_check *c, size_t site, size_t term)
{
    uint64_t value;
    memcpy(&value, (const char *)&c->plan.at[site] + terms[term].offset, sizeof value);
    /* a fork's buffers of the cache hold the state of recurrent layers, too */
    if (term == PLI_LOG_MEMORY || (is_fork(c) && term == PLI_LOG_KV))
        value = pli_add_sat(value, c->plan.at[site].state);
    return value;
}

/* The sum that an engine prints of a cache: without what a backend pads. */
static uint64_t predicted_sum(const pli_check *c, size_t term)
{
    uint64_t sum = 0;
    const pli_shape *shape = &c->shape;
    for (size_t i = 0; term == PLI_LOG_KV && i < c->plan.cache_count; i++) {
        const pli_cache *cache = &c->plan.cache[i];
        uint64_t tokens = pli_mul_sat(cache->cells, c->setup.streams);
        sum = pli_add_sat(sum,
                          pli_mul_sat(tokens, pli_add_sat(cache->key_bytes, cache->value_bytes)));
    }
    if (term == PLI_LOG_STATE)
        sum = pli_mul_sat(pli_mul_sat(c->plan.state_layers, c->setup.sequences * sizeof(float)),
                          pli_add_sat(shape->state_conv, shape->state_scan));
    return sum;
}

/* How sure the figure of a term is. */
static pli_certainty certainty(const pli_check *c, size_t site, size_t term)
{
    pli_certainty kind = PLI_EXACT;
    if (c->shape.arch->flags & (PLI_ARCH_UNKNOWN | PLI_ARCH_INEXACT))
        kind = PLI_ESTIMATE;
    if (is_fork(c) && term != PLI_LOG_STATE) /* how its buffers are padded, nobody checked */
        kind = PLI_ESTIMATE;
    if (term == PLI_LOG_WEIGHTS && (c->plan.weights_estimated || (c->rearranged && !c->where)))
        kind = PLI_ESTIMATE;
    if (term == PLI_LOG_COMPUTE && c->plan.at[site].compute_kind > kind)
        kind = c->plan.at[site].compute_kind;
    return kind;
}

static bool is_predicted(const pli_check *c, size_t term)
{
    if (term == PLI_LOG_OUTPUT)
        return c->shape.vocabulary > 0;
    return term != PLI_LOG_WEIGHTS || c->model->tensor_count > 0;
}

static bool agrees(uint64_t bytes, pli_amount logged)
{
    uint64_t text = bytes_of(logged), below = (uint64_t)logged.parts * ROUNDING;
    uint64_t above = below + PLI_MIB(logged.wholes);
    return bytes <= pli_add_sat(text, above) && pli_add_sat(bytes, below) >= text;
}

static plim_check_term *add_term(pli_check *c, const char *device, size_t term, pli_amount logged,
                                 uint64_t bytes, pli_certainty kind, const char *result)
{
    plim_check_term *r = PLI_NEW(c->arena, check_term);
    if (!r)
        return NULL;
    PLI_SET_STR(check_term, r, device, device ? pli_strdup(c->arena, device) : NULL, NULL);
    PLI_SET(check_term, r, term, terms[term].name, NULL);
    if (is_predicted(c, term)) {
        PLI_SET(check_term, r, predicted_bytes, bytes, NULL);
        PLI_SET(check_term, r, kind, pli_certainty_name(kind), NULL);
    }
    PLI_SET(check_term, r, logged_bytes, bytes_of(logged), NULL);
    PLI_SET(check_term, r, rounding_bytes,
            (uint64_t)logged.parts * ROUNDING + PLI_MIB(logged.wholes), NULL);
    PLI_SET(check_term, r, result, result, NULL);
    (void)pli_items_add(c->arena, &c->check->terms, r);
    return r;
}

static const char *result_of(const pli_check *c, size_t term, uint64_t bytes, pli_amount logged,
                             pli_certainty kind)
{
    if (!is_predicted(c, term))
        return "not predicted";
    if (agrees(bytes, logged))
        return "same";
    return kind == PLI_BOUND && bytes > bytes_of(logged) ? "within" : "differs";
}

static void add_amount(pli_amount *to, pli_amount more)
{
    to->hundredths = pli_add_sat(to->hundredths, more.hundredths);
    to->parts += more.parts;
    to->wholes += more.wholes;
}

/* The sum over all memories of a term, as printed (of caches) or by the lines of the devices. */
typedef struct term_sum {
    pli_amount logged;
    uint64_t bytes;
    pli_certainty kind;
} term_sum;

static term_sum sum_of(const pli_check *c, size_t term)
{
    term_sum sum = {.kind = PLI_EXACT};
    for (size_t i = 0; i <= c->sites.devices; i++) {
        add_amount(&sum.logged, c->logged[i][term]);
        sum.bytes = pli_add_sat(sum.bytes, predicted(c, i, term));
        if (predicted(c, i, term) && certainty(c, i, term) > sum.kind)
            sum.kind = certainty(c, i, term);
    }
    if (c->log.total[term].parts) {
        bool known = !(c->shape.arch->flags & (PLI_ARCH_UNKNOWN | PLI_ARCH_INEXACT));
        sum = (term_sum){c->log.total[term], predicted_sum(c, term),
                         known ? PLI_EXACT : PLI_ESTIMATE};
    }
    return sum;
}

static const char *compare_sum(pli_check *c, size_t term)
{
    term_sum sum = sum_of(c, term);
    if (sum.logged.parts == 0)
        return NULL;
    const char *result = result_of(c, term, sum.bytes, sum.logged, sum.kind);
    (void)add_term(c, NULL, term, sum.logged, sum.bytes, sum.kind, result);
    if (strcmp(result, "same") == 0)
        PLI_SET(check, c->check, same, c->check->same + 1, NULL);
    else if (strcmp(result, "differs") == 0 && sum.kind == PLI_EXACT)
        PLI_SET(check, c->check, differing, c->check->differing + 1, NULL);
    return result;
}

static void compare_places(pli_check *c, size_t term, const char *sum)
{
    bool any = false;
    for (size_t i = 0; i <= c->sites.devices; i++)
        any |= c->logged[i][term].hundredths > 0;
    for (size_t i = 0; any && i <= c->sites.devices; i++) {
        pli_amount logged = c->logged[i][term];
        uint64_t bytes = predicted(c, i, term);
        if (logged.parts == 0 && bytes == 0)
            continue;
        const char *result = result_of(c, term, bytes, logged, certainty(c, i, term));
        bool split = strcmp(result, "differs") == 0 &&
                     (strcmp(sum, "same") == 0 || (!c->split_known && c->sites.devices > 1));
        (void)add_term(c, c->sites.at[i].name, term, logged, bytes, certainty(c, i, term),
                       split ? "other split" : result);
    }
}

/* Was anything of the term allocated? An engine that only tries what fits prints zeros. */
static bool is_logged(const pli_check *c, size_t term)
{
    uint64_t sum = c->log.total[term].hundredths;
    for (size_t i = 0; i < c->log.device_count; i++)
        sum = pli_add_sat(sum, c->log.device[i].amount[term].hundredths);
    return sum > 0;
}

/* What the buffers' lines say, or else the breakdown. */
static void gather(pli_check *c)
{
    bool caches = is_logged(c, PLI_LOG_KV) || is_logged(c, PLI_LOG_STATE);
    for (size_t term = 0; term < PLI_LOG_TERMS; term++) {
        bool buffers = is_logged(c, term) || (term == PLI_LOG_MEMORY && caches);
        for (size_t i = 0; i < c->log.device_count; i++) {
            const pli_log_device *d = &c->log.device[i];
            add_amount(&c->logged[site_of(c, d->name)][term],
                       buffers ? d->amount[term] : d->breakdown[term]);
        }
    }
}

void pli_check_compare(pli_check *c)
{
    gather(c);
    PLI_SET(check, c->check, same, 0, NULL);
    PLI_SET(check, c->check, differing, 0, NULL);
    for (size_t term = 0; term < PLI_LOG_TERMS; term++) {
        const char *sum = compare_sum(c, term);
        if (sum)
            compare_places(c, term, sum);
    }
    pli_mark(&c->check->head, PLIM_F_check_terms, NULL);
}
