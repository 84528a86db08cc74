#include "speed.h"

#include <string.h>

#include "compute.h"
#include "roles.h"

/* Bytes a second at which a memory is read; 0: unknown. */
static double bandwidth_of(const pli_setup *setup, const pli_site *site, pli_speed *speed)
{
    const plim_device *d = site->device;
    if (!d) {
        speed->measured_host |= setup->host_bandwidth > 0;
        return setup->host_bandwidth;
    }
    if (!PLIM_KNOWN(device, d, memory_bandwidth_bytes_per_s))
        return 0;
    const char *source = PLI_SOURCE(device, d, memory_bandwidth_bytes_per_s);
    speed->nominal |= source && strcmp(source, "table") == 0;
    return (double)d->memory_bandwidth_bytes_per_s;
}

/* One sequence reads the cells that it fills. The state it reads and writes whole. */
static uint64_t cache_read(const pli_setup *setup, const pli_share *at)
{
    return at->kv / pli_larger(setup->streams, 1);
}

static uint64_t state_read(const pli_setup *setup, const pli_share *at)
{
    return pli_mul_sat(2, at->state / pli_larger(setup->sequences, 1));
}

bool pli_speed_find(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                    const pli_plan *plan, pli_speed *out)
{
    double empty = 0, full = 0;
    (void)shape;
    *out = (pli_speed){.decode = 0};
    for (size_t i = 0; i <= sites->devices; i++) {
        const pli_share *at = &plan->at[i];
        uint64_t read = pli_add_sat(at->read, state_read(setup, at));
        uint64_t with_cache = pli_add_sat(read, cache_read(setup, at));
        if (with_cache == 0)
            continue;
        double bandwidth = bandwidth_of(setup, &sites->at[i], out);
        if (!(bandwidth > 0))
            return false;
        empty += (double)read / bandwidth;
        full += (double)with_cache / bandwidth;
        out->read = pli_add_sat(out->read, read);
        out->read_full = pli_add_sat(out->read_full, with_cache);
    }
    out->decode = empty > 0 ? 1 / empty : 0;
    out->decode_full = full > 0 ? 1 / full : 0;
    return out->decode > 0;
}

/* ---- prompts --------------------------------------------------------------------------------- */

/* Of a token, by site: multiplications in a layer's matrices. */
static void count_products(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                           const pli_plan *plan, double products[PLI_MAX_SITES], bool *quantised)
{
    for (size_t i = 0; i < shape->model->tensor_count; i++) {
        const pli_tensor *tensor = &shape->model->tensors[i];
        const pli_role *role = &shape->role[i];
        if (role->place != PLI_AT_LAYER || tensor->dims < 2)
            continue;
        size_t site = pli_overridden(setup, i, pli_layer_site(plan, sites, role->layer));
        double share = role->part & PLI_PART_EXPERTS && shape->experts
                           ? (double)shape->experts_used / (double)shape->experts
                           : 1;
        products[site] += (double)tensor->elements * share;
        *quantised |= pli_quant_at(tensor->type)->block_elements > 1;
    }
}

static double operations_of(const plim_device *d, bool quantised)
{
    double most = PLIM_KNOWN(device, d, flops_fp16) ? (double)d->flops_fp16 : 0;
    if (quantised && PLIM_KNOWN(device, d, flops_int8) && (double)d->flops_int8 > most)
        most = (double)d->flops_int8;
    return most;
}

bool pli_prefill_find(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                      const pli_plan *plan, double *tokens_per_s)
{
    double products[PLI_MAX_SITES] = {0}, seconds = 0, slowest = 0;
    double tokens = (double)pli_graph_tokens(setup);
    bool quantised = false;
    pli_speed speed = {.decode = 0};
    count_products(shape, setup, sites, plan, products, &quantised);
    for (size_t i = 0; i <= sites->devices; i++) {
        if (!(products[i] > 0))
            continue;
        const plim_device *d = sites->at[i].device;
        double operations = d ? operations_of(d, quantised) : 0;
        double bandwidth = bandwidth_of(setup, &sites->at[i], &speed);
        if (!(operations > 0 && bandwidth > 0))
            return false;
        double computing = 2 * products[i] * tokens / operations;
        double reading = (double)plan->at[i].read / bandwidth;
        double takes = computing > reading ? computing : reading;
        seconds += takes;
        slowest = takes > slowest ? takes : slowest;
    }
    if (pli_is_pipelined(shape, setup, sites)) /* devices work on batches of their own */
        seconds = slowest;
    *tokens_per_s = seconds > 0 ? tokens / seconds : 0;
    return seconds > 0;
}
