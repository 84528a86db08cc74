#include "extras.h"

#include "../base/status.h"
#include "../model/purpose.h"

/* The server's own, since October 2025 (PR #16391): the first generation behind it. */
#define PROMPT_CACHE_MIB 8192
#define FIRST_BUILD 7000u

static void read_cache(const plim_fit_options *options, const pli_setup *setup, pli_extras *extras)
{
    int64_t mib = options->cache_ram_mib;
    extras->cache_given = mib != PLIM_CACHE_RAM_DEFAULT;
    if (!extras->cache_given)
        mib = setup->generation->build < FIRST_BUILD ? 0 : PROMPT_CACHE_MIB;
    extras->cache_unlimited = mib < 0;
    extras->cache = mib > 0 ? pli_mul_sat((uint64_t)mib, PLI_MIB(1)) : 0;
}

plim_status pli_extras_read(pli_arena *arena, const pli_shape *shape, const pli_sites *sites,
                            const plim_fit_options *options, plim_error *error, pli_setup *setup)
{
    pli_extras *extras = pli_alloc(arena, sizeof *extras);
    if (!extras)
        return PLIM_NOMEM;
    read_cache(options, setup, extras);
    extras->kept_on_host = options->no_projector_offload;
    plim_status status = pli_draft_read(arena, shape, sites, options, error, &extras->draft);
    if (!status)
        status = pli_projector_read(arena, sites, options, error, &extras->projector);
    if (!status)
        status = pli_adapters_read(arena, shape, options, error, extras);
    if (status)
        return status;
    /* What is proposed at a time is checked at a time: so many rows of logits, and one. */
    if (extras->draft) {
        setup->drafted = options->draft_tokens ? options->draft_tokens : 3;
        setup->rollback = pli_draft_rolls_back(extras->draft) ? setup->drafted : 0;
    }
    setup->extras = extras;
    return PLIM_OK;
}

static void place_draft(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, pli_plan *plan)
{
    pli_plan own;
    size_t to[PLI_MAX_SITES], count;
    pli_draft_place(calc, setup->extras->draft, shape, setup, sites, plan, &own, to, &count);
    for (size_t i = 0; i < count; i++) {
        const pli_share *load = &own.at[i];
        const uint64_t parts[] = {load->weights, load->kv, load->state, load->compute,
                                  load->output};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            plan->at[to[i]].draft = pli_plus(calc, plan->at[to[i]].draft, parts[k]);
    }
}

void pli_place_extras(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                      const pli_sites *sites, pli_plan *plan)
{
    const pli_extras *extras = setup->extras;
    for (size_t i = 0; i <= sites->devices; i++)
        plan->at[i].draft = plan->at[i].projector = plan->at[i].adapters = 0;
    if (!extras)
        return;
    pli_adapters_place(calc, extras, shape, setup, sites, plan);
    if (extras->projector) {
        size_t site = extras->projector->offloaded ? 0 : sites->devices;
        plan->at[site].projector =
            pli_plus(calc, pli_projector_weights(calc, extras->projector, sites->at[site].backend),
                     pli_projector_compute(calc, extras->projector, setup));
    }
    plan->at[sites->devices].prompts = extras->cache_given ? extras->cache : 0;
    if (extras->draft)
        place_draft(calc, shape, setup, sites, plan);
}
