#include "speed.h"

#include <string.h>

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
