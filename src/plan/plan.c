/* The second half of a plan: everything that depends on the context. */
#include <string.h>

#include "cache.h"
#include "compute.h"
#include "extras.h"
#include "graph.h"

/* Logits handed to the caller: a row for each sequence, f32. */
static uint64_t output_bytes(pli_calc *calc, const pli_shape *shape, const pli_setup *setup)
{
    if (!shape->has_head)
        return 0;
    return pli_times(calc, pli_times(calc, shape->vocabulary, setup->sequences), sizeof(float));
}

static uint64_t sum_of(pli_calc *calc, const pli_share *load)
{
    const uint64_t parts[] = {load->weights,  load->kv,      load->state,
                              load->compute,  load->output,  load->projector,
                              load->adapters, load->prompts, load->draft};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum = pli_plus(calc, sum, parts[i]);
    return sum;
}

static bool is_half(const pli_quant *type)
{
    return strcmp(type->name, "F16") == 0;
}

/* Flash attention of CUDA and HIP reads keys and values as f16: where the cache holds another type,
 * those of a layer are copied beside it, a layer at a time (ggml-cuda/fattn.cu; once in the
 * backend's pool, since September 2026 in the compute buffer). */
static uint64_t copied_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                             const pli_sites *sites, const pli_plan *plan, size_t site)
{
    uint64_t most = 0;
    if (!setup->flash || !sites->at[site].backend->halves)
        return 0;
    for (size_t i = 0; i < plan->cache_count; i++) {
        const pli_cache *cache = &plan->cache[i];
        uint64_t tokens = pli_times(calc, cache->cells, cache->streams);
        if (cache->kind != PLI_CACHE_FULL && cache->kind != PLI_CACHE_SLIDING)
            continue;
        for (uint64_t il = 0; il < shape->run_layers; il++) {
            const pli_layer *layer = &shape->layer[il];
            if (!layer->cached || layer->slides != cache->sliding ||
                pli_layer_site(plan, sites, il) != site)
                continue;
            uint64_t width = is_half(setup->type_k) ? 0 : layer->key_width;
            if (!shape->latent && !is_half(setup->type_v))
                width = pli_plus(calc, width, layer->value_width);
            most = pli_larger(most, pli_times(calc, pli_times(calc, width, 2), tokens));
        }
    }
    return most;
}

static void add_up(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                   const pli_sites *sites, pli_plan *plan)
{
    for (size_t i = 0; i <= sites->devices; i++) {
        pli_share *load = &plan->at[i];
        load->used = sum_of(calc, load);
        load->overhead = load->used ? PLI_MIB(sites->at[i].backend->context_mib) : 0;
        if (i < sites->devices)
            load->overhead =
                pli_plus(calc, load->overhead, copied_cache(calc, shape, setup, sites, plan, i));
        load->used = pli_plus(calc, load->used, load->overhead);
    }
    plan->overflow = calc->overflow;
}

plim_status pli_place_stored(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                             pli_plan *plan)
{
    pli_calc calc = {plan->overflow};
    pli_place_cache(&calc, shape, setup, sites, plan);
    for (size_t i = 0; i <= sites->devices; i++) {
        pli_share *load = &plan->at[i];
        load->compute = load->draft = load->projector = load->adapters = load->prompts = 0;
    }
    plan->at[sites->devices].output = output_bytes(&calc, shape, setup);
    add_up(&calc, shape, setup, sites, plan);
    return calc.overflow ? PLIM_LIMIT : PLIM_OK;
}

plim_status pli_place_compute(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan)
{
    pli_calc calc = {plan->overflow};
    pli_bound_compute(&calc, shape, setup, sites, plan);
    if (!calc.overflow)
        (void)pli_replay_compute(shape, setup, sites, plan);
    pli_place_extras(&calc, shape, setup, sites, plan);
    for (size_t i = 0; i <= sites->devices; i++) {
        pli_share *load = &plan->at[i];
        /* What a version between the known ones makes of the graph, nobody has checked. */
        if (load->compute_kind == PLI_EXACT && (!setup->checked || shape->scaled))
            load->compute_kind = PLI_ESTIMATE;
    }
    add_up(&calc, shape, setup, sites, plan);
    return calc.overflow ? PLIM_LIMIT : PLIM_OK;
}

plim_status pli_place_context(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan)
{
    plim_status status = pli_place_stored(shape, setup, sites, plan);
    return status ? status : pli_place_compute(shape, setup, sites, plan);
}
