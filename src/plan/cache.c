/* Keys and values, and the state of recurrent layers, by llama.cpp's rules (llama-kv-cache.cpp,
 * llama-kv-cache-iswa.cpp, llama-memory-recurrent.cpp, b7847; generations.def has what changed). */
#include "cache.h"

const char *pli_cache_kind_name(pli_cache_kind kind)
{
    static const char *const names[PLI_CACHE_KINDS] = {
        [PLI_CACHE_FULL] = "KV cache",
        [PLI_CACHE_SLIDING] = "KV cache, sliding layers",
        [PLI_CACHE_INDEXER] = "indexer's keys",
        [PLI_CACHE_FOURTHS] = "compressed cache, 4 tokens a row",
        [PLI_CACHE_128THS] = "compressed cache, 128 tokens a row",
        [PLI_CACHE_FOURTHS_INDEXER] = "indexer's keys, 4 tokens a row",
    };
    return names[kind];
}

/* Compressing keeps the sequences apart, unified or not. */
static bool apart(const pli_shape *shape)
{
    return shape->arch->flags & PLI_ARCH_COMPRESSED;
}

/* A window's cache also takes the batch that is being worked on. */
static uint64_t window_cells(pli_calc *calc, const pli_shape *shape, const pli_setup *setup)
{
    unsigned flags = setup->generation->flags;
    bool shared = setup->unified && !apart(shape);
    uint64_t slots = shared || (flags & PLI_GEN_WINDOW_BY_BATCH) ? setup->sequences : 1;
    uint64_t ahead = flags & PLI_GEN_WINDOW_BY_BATCH ? setup->batch : setup->ubatch;
    uint64_t cells = pli_plus(calc, pli_times(calc, shape->window, slots), ahead);
    return pli_padded(calc, cells, (flags & PLI_GEN_SHORT_PAD) && !setup->flash ? 32 : 256);
}

/* Tokens that a cache of this kind keeps for each stream. */
static uint64_t cells_of(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                         pli_cache_kind kind)
{
    uint64_t all = setup->context_per_sequence;
    if (shape->hybrid && (setup->generation->flags & PLI_GEN_WHOLE_HYBRID))
        all = setup->context;
    switch (kind) {
    case PLI_CACHE_SLIDING:
        return setup->swa_full ? all : pli_smaller(all, window_cells(calc, shape, setup));
    case PLI_CACHE_FOURTHS:
    case PLI_CACHE_FOURTHS_INDEXER:
        return pli_padded(calc, all / 4 + (all % 4 != 0), 256);
    case PLI_CACHE_128THS:
        return pli_padded(calc, all / 128 + (all % 128 != 0), 256);
    default:
        return all;
    }
}

/* Elements that a layer keeps of a token in a cache of this kind; false: it has none there. */
static bool keeps(const pli_shape *shape, const pli_setup *setup, const pli_layer *layer,
                  pli_cache_kind kind, uint64_t *key, uint64_t *value)
{
    bool keys_only = shape->latent || apart(shape);
    *key = layer->key_width;
    *value = 0;
    switch (kind) {
    case PLI_CACHE_FULL:
    case PLI_CACHE_SLIDING:
        /* Without flash attention values lie transposed, all layers as wide as the widest. */
        *value = setup->flash || keys_only ? layer->value_width : shape->value_width_max;
        return layer->cached && layer->slides == (kind == PLI_CACHE_SLIDING);
    case PLI_CACHE_INDEXER:
        *key = layer->index_key;
        *value = layer->index_value;
        return layer->index_key && !apart(shape);
    case PLI_CACHE_FOURTHS_INDEXER:
        *key = layer->index_key;
        return layer->ratio == 4;
    case PLI_CACHE_FOURTHS:
        return layer->ratio == 4;
    default:
        return layer->ratio == 128;
    }
}

static uint64_t row_of(pli_calc *calc, const pli_quant *type, uint64_t width)
{
    uint64_t bytes = 0;
    if (!pli_quant_row_bytes(type, width, &bytes))
        calc->overflow = true;
    return bytes;
}

/* Where a layer's cache lies. */
static size_t site_of(const pli_plan *plan, const pli_setup *setup, const pli_sites *sites,
                      uint64_t il)
{
    return setup->kv_offload ? pli_layer_site(plan, sites, il) : sites->devices;
}

/* One tensor of a cache: width elements for each of so many tokens. */
static uint64_t tensor_bytes(pli_calc *calc, const pli_backend *backend, const pli_quant *type,
                             uint64_t width, uint64_t tokens)
{
    if (width == 0)
        return 0;
    return pli_allocated(calc, backend, type, width,
                         pli_times(calc, row_of(calc, type, width), tokens));
}

/* What a layer keeps, on a memory. */
typedef struct kept {
    uint64_t key_width, value_width;
    const pli_backend *backend;
    uint64_t keys, values;       /* bytes of the tensors */
    uint64_t key_row, value_row; /* of one token */
} kept;

/* Layers mostly keep what the one before keeps: worked out once. */
static void work_out(pli_calc *calc, const pli_setup *setup, const kept *layer, uint64_t tokens,
                     kept *last)
{
    if (last->backend == layer->backend && last->key_width == layer->key_width &&
        last->value_width == layer->value_width)
        return;
    *last = *layer;
    last->keys = tensor_bytes(calc, layer->backend, setup->type_k, layer->key_width, tokens);
    last->values = tensor_bytes(calc, layer->backend, setup->type_v, layer->value_width, tokens);
    last->key_row = row_of(calc, setup->type_k, layer->key_width);
    last->value_row = row_of(calc, setup->type_v, layer->value_width);
}

static void place_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, pli_cache_kind kind, pli_plan *plan)
{
    pli_cache cache = {.kind = kind, .sliding = kind == PLI_CACHE_SLIDING};
    cache.cells = cells_of(calc, shape, setup, kind);
    cache.streams = apart(shape) ? setup->sequences : setup->streams;
    uint64_t tokens = pli_times(calc, cache.cells, cache.streams);
    kept layer = {.backend = NULL}, last = layer;
    for (uint64_t il = 0; il < shape->layers; il++) {
        if (!keeps(shape, setup, &shape->layer[il], kind, &layer.key_width, &layer.value_width))
            continue;
        size_t site = site_of(plan, setup, sites, il);
        layer.backend = sites->at[site].backend;
        work_out(calc, setup, &layer, tokens, &last);
        plan->at[site].kv =
            pli_plus(calc, plan->at[site].kv, pli_plus(calc, last.keys, last.values));
        cache.key_bytes = pli_plus(calc, cache.key_bytes, last.key_row);
        cache.value_bytes = pli_plus(calc, cache.value_bytes, last.value_row);
        cache.layers++;
    }
    if (cache.layers)
        plan->cache[plan->cache_count++] = cache;
}

/* State does not grow with the context: one copy a sequence, always f32. */
static void place_state(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, pli_plan *plan)
{
    uint64_t copies = pli_times(calc, setup->sequences, pli_add_sat(setup->rollback, 1));
    copies = pli_times(calc, copies, sizeof(float));
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        size_t site = site_of(plan, setup, sites, il);
        uint64_t alignment = sites->at[site].backend->alignment, elements = 0;
        for (size_t i = 0; i < PLI_STATE_TENSORS; i++) {
            uint64_t bytes = pli_times(calc, shape->layer[il].state[i], copies);
            plan->at[site].state =
                pli_plus(calc, plan->at[site].state, pli_padded(calc, bytes, alignment));
            elements = pli_plus(calc, elements, shape->layer[il].state[i]);
        }
        plan->state_bytes =
            pli_plus(calc, plan->state_bytes, pli_times(calc, elements, sizeof(float)));
        plan->state_layers += elements != 0;
    }
}

/* Does any layer keep tokens there? */
static bool is_there(const pli_shape *shape, pli_cache_kind kind)
{
    switch (kind) {
    case PLI_CACHE_FULL:
        return true;
    case PLI_CACHE_SLIDING:
        return shape->any_slides;
    case PLI_CACHE_INDEXER:
        return shape->any_index;
    default:
        return shape->any_ratio;
    }
}

void pli_place_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, pli_plan *plan)
{
    plan->cache_count = 0;
    plan->state_layers = plan->state_bytes = 0;
    for (size_t i = 0; i <= sites->devices; i++)
        plan->at[i].kv = plan->at[i].state = 0;
    for (pli_cache_kind kind = 0; kind < PLI_CACHE_KINDS; kind++)
        if (is_there(shape, kind))
            place_cache(calc, shape, setup, sites, kind, plan);
    if (shape->any_state)
        place_state(calc, shape, setup, sites, plan);
}
