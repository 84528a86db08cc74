/* The plan itself, in numbers: how many bytes of what lie where. Filled in two steps, because
 * only the second depends on the context: pli_place_weights(), then pli_place_context(). Both
 * are pure and may be called again on a copy. */
#ifndef PLI_LOAD_H
#define PLI_LOAD_H

#include "setup.h"
#include "site.h"

typedef enum pli_certainty { PLI_EXACT, PLI_BOUND, PLI_ESTIMATE } pli_certainty;
const char *pli_certainty_name(pli_certainty);

/* What weights are for. */
typedef enum pli_use {
    PLI_FOR_INPUT,
    PLI_FOR_ATTENTION,
    PLI_FOR_RECURRENCE,
    PLI_FOR_FEED_FORWARD,
    PLI_FOR_EXPERTS,
    PLI_FOR_OUTPUT,
    PLI_FOR_ELSE,
    PLI_USES,
} pli_use;

typedef struct pli_share {
    uint64_t layers;
    uint64_t weights, kv, state, compute, output, overhead;
    uint64_t draft, projector, adapters, prompts; /* what is loaded beside the model (extras.h) */
    uint64_t used;                                /* their sum */
    uint64_t weights_for[PLI_USES];               /* the sum is weights */
    pli_certainty compute_kind;
    uint64_t read; /* of the weights, bytes that a token needs */
} pli_share;

typedef enum pli_cache_kind {
    PLI_CACHE_FULL,
    PLI_CACHE_SLIDING,
    PLI_CACHE_INDEXER,
    PLI_CACHE_FOURTHS,         /* a row for every 4 tokens */
    PLI_CACHE_128THS,          /* ... for every 128 */
    PLI_CACHE_FOURTHS_INDEXER, /* keys of an indexer of such rows */
    PLI_CACHE_KINDS,
} pli_cache_kind;
const char *pli_cache_kind_name(pli_cache_kind);

/* One cache: all layers that keep the same number of tokens. */
typedef struct pli_cache {
    pli_cache_kind kind;
    uint64_t cells, streams, layers;
    uint64_t key_bytes, value_bytes; /* of one token, over the layers */
    bool sliding;
} pli_cache;

typedef struct pli_plan {
    pli_share at[PLI_MAX_SITES];
    float until
        [PLI_MAX_PLAN_DEVICES]; /* device d takes the layers up to this part of those offloaded */
    uint64_t first;             /* first layer on a device */
    uint64_t offloaded;         /* layers on devices, the output layer counted */
    size_t output_site;
    uint64_t copied; /* largest tensor of a layer or the output that lies on the host */
    bool tied_copy;  /* the output is a second copy of the embeddings */
    bool weights_estimated;
    uint64_t repacked; /* of the host's weights, bytes that stand rearranged */
    pli_cache cache[PLI_CACHE_KINDS];
    size_t cache_count;
    uint64_t state_layers, state_bytes; /* the bytes of one sequence */
    bool overflow;
} pli_plan;

/* Which site layer il is on; il == layers is the output. After pli_place_weights(). */
size_t pli_layer_site(const pli_plan *plan, const pli_sites *sites, uint64_t il);
/* ... and the norm of the embeddings. */
size_t pli_norm_site(const pli_plan *plan, const pli_setup *setup, const pli_sites *sites);

/* Where -ot puts a tensor (its index) that would lie at `site`. */
static inline size_t pli_overridden(const pli_setup *setup, size_t tensor, size_t site)
{
    return setup->taken && setup->taken[tensor] != PLI_NOT_TAKEN ? setup->taken[tensor] : site;
}
/* Bytes that a tensor takes there: its own, rows of quantised types padded, rounded up to the
 * backend's alignment. */
uint64_t pli_allocated(pli_calc *calc, const pli_backend *backend, const pli_quant *type,
                       uint64_t width, uint64_t bytes);

/* Names that only a machine can explain: buffers of -ot, the device of -mg. INVALID: there is
 * none such. Fills setup->taken: the first pattern that matches a tensor's name decides. With
 * -sm none all devices but the main one are dropped from *sites. */
plim_status pli_resolve(pli_arena *arena, const pli_shape *shape, pli_sites *sites,
                        plim_error *error, pli_setup *setup);

/* LIMIT: the header's figures overflow. */
plim_status pli_place_weights(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan);
plim_status pli_place_context(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan);

/* The second in two: what is stored (caches, states, output), then what is computed in. A plan of
 * the former alone is never more than the whole. */
plim_status pli_place_stored(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                             pli_plan *plan);
plim_status pli_place_compute(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan);

#endif
