/* Keys and values, and the state of recurrent layers, by llama.cpp's rules (llama-kv-cache.cpp,
 * llama-kv-cache-iswa.cpp, llama-memory-recurrent.cpp, b7847; generations.def has what changed). */
#include "cache.h"

/* Tokens that a cache of this kind keeps for each stream. */
static uint64_t cells_of(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                         bool sliding)
{
    unsigned flags = setup->generation->flags;
    uint64_t all = setup->context_per_sequence;
    if (shape->hybrid && (flags & PLI_GEN_WHOLE_HYBRID))
        all = setup->context;
    if (!sliding || setup->swa_full)
        return all;
    /* A window's cache also takes the batch that is being worked on. */
    uint64_t slots = setup->unified || (flags & PLI_GEN_WINDOW_BY_BATCH) ? setup->sequences : 1;
    uint64_t ahead = flags & PLI_GEN_WINDOW_BY_BATCH ? setup->batch : setup->ubatch;
    uint64_t cells = pli_plus(calc, pli_times(calc, shape->window, slots), ahead);
    return pli_smaller(
        all, pli_padded(calc, cells, (flags & PLI_GEN_SHORT_PAD) && !setup->flash ? 32 : 256));
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

static void place_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, bool sliding, pli_plan *plan)
{
    pli_cache cache = {.sliding = sliding, .cells = cells_of(calc, shape, setup, sliding)};
    uint64_t tokens = pli_times(calc, cache.cells, setup->streams);
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        const pli_layer *layer = &shape->layer[il];
        if (!layer->cached || layer->slides != sliding)
            continue;
        size_t site = site_of(plan, setup, sites, il);
        const pli_backend *backend = sites->at[site].backend;
        /* Without flash attention values lie transposed, all layers as wide as the widest. */
        uint64_t value_width =
            setup->flash || shape->latent ? layer->value_width : shape->value_width_max;
        uint64_t keys = tensor_bytes(calc, backend, setup->type_k, layer->key_width, tokens);
        uint64_t values = tensor_bytes(calc, backend, setup->type_v, value_width, tokens);
        plan->at[site].kv = pli_plus(calc, plan->at[site].kv, pli_plus(calc, keys, values));
        cache.key_bytes =
            pli_plus(calc, cache.key_bytes, row_of(calc, setup->type_k, layer->key_width));
        cache.value_bytes =
            pli_plus(calc, cache.value_bytes, row_of(calc, setup->type_v, value_width));
        cache.layers++;
    }
    if (cache.layers)
        plan->cache[plan->cache_count++] = cache;
}

/* State does not grow with the context: one copy a sequence, always f32. */
static void place_state(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, pli_plan *plan)
{
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        if (!shape->layer[il].recurrent)
            continue;
        size_t site = site_of(plan, setup, sites, il);
        uint64_t alignment = sites->at[site].backend->alignment;
        uint64_t copies = pli_times(calc, setup->sequences, sizeof(float));
        uint64_t conv = pli_padded(calc, pli_times(calc, shape->state_conv, copies), alignment);
        uint64_t scan = pli_padded(calc, pli_times(calc, shape->state_scan, copies), alignment);
        plan->at[site].state = pli_plus(calc, plan->at[site].state, pli_plus(calc, conv, scan));
        plan->state_layers++;
    }
}

void pli_place_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, pli_plan *plan)
{
    plan->cache_count = 0;
    plan->state_layers = 0;
    for (size_t i = 0; i <= sites->devices; i++)
        plan->at[i].kv = plan->at[i].state = 0;
    place_cache(calc, shape, setup, sites, false, plan);
    if (shape->window)
        place_cache(calc, shape, setup, sites, true, plan);
    place_state(calc, shape, setup, sites, plan);
}
