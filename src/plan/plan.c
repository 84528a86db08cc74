/* The second half of a plan: everything that depends on the context. */
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

static void add_up(pli_calc *calc, const pli_sites *sites, pli_plan *plan)
{
    for (size_t i = 0; i <= sites->devices; i++) {
        pli_share *load = &plan->at[i];
        load->used = sum_of(calc, load);
        load->overhead = load->used ? PLI_MIB(sites->at[i].backend->context_mib) : 0;
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
    add_up(&calc, sites, plan);
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
        if (load->compute_kind == PLI_EXACT && !setup->checked)
            load->compute_kind = PLI_ESTIMATE;
    }
    add_up(&calc, sites, plan);
    return calc.overflow ? PLIM_LIMIT : PLIM_OK;
}

plim_status pli_place_context(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan)
{
    plim_status status = pli_place_stored(shape, setup, sites, plan);
    return status ? status : pli_place_compute(shape, setup, sites, plan);
}
