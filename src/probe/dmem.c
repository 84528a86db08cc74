/* Device memory by control group (Linux 6.14 and later): how much every card has, told to anybody
 * and without waking it, and the limits that a container's share of it has. */
#include <string.h>

#include "../base/num.h"
#include "cgroup.h"

/* Sum over the regions ("drm/0000:03:00.0/vram0 8514437120") of the device at this address. False
 * where it has none, or one without a number ("max"). */
static bool sum_of(pli_probe_context *context, pli_str text, const char *address, uint64_t *sum)
{
    const char *prefix = pli_printf(context->scratch, "drm/%s/", address);
    pli_str line, region;
    bool found = false;
    *sum = 0;
    while (prefix && pli_next_line(&text, &line)) {
        uint64_t bytes;
        if (!pli_next_word(&line, &region) || !pli_starts(region, prefix))
            continue;
        if (!pli_parse_u64(line, &bytes))
            return false;
        *sum = pli_add_sat(*sum, bytes);
        found = true;
    }
    return found;
}

static bool has_own_memory(const plim_device *d)
{
    return PLIM_KNOWN(device, d, pci_address) && !pli_is_part(d) &&
           !(PLIM_KNOWN(device, d, memory_kind) && strcmp(d->memory_kind, "dedicated") != 0);
}

static void capacity(pli_probe_context *context, pli_str text)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        uint64_t total;
        if (!has_own_memory(d) || PLIM_KNOWN(device, d, memory_total_bytes) ||
            !sum_of(context, text, d->pci_address, &total))
            continue;
        PLI_SET(device, d, memory_total_bytes, total, "dmem");
        PLI_SET(device, d, memory_kind, "dedicated", "dmem");
    }
}

/* What one group leaves of a device's memory bounds what is free of it here. */
static void bound(pli_probe_context *context, pli_str limits, pli_str used)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        uint64_t limit, taken;
        if (!has_own_memory(d) || !sum_of(context, limits, d->pci_address, &limit) ||
            !sum_of(context, used, d->pci_address, &taken))
            continue;
        uint64_t left = pli_sub_sat(limit, taken);
        if (!PLIM_KNOWN(device, d, memory_free_bytes) || d->memory_free_bytes > left)
            PLI_SET(device, d, memory_free_bytes, left, "dmem");
    }
}

static bool gate(pli_probe_context *context)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        const plim_device *d = pli_device_at(context->inv, i);
        if (PLIM_KNOWN(device, d, driver) &&
            (strcmp(d->driver, "amdgpu") == 0 || strcmp(d->driver, "xe") == 0) && has_own_memory(d))
            return true;
    }
    return false;
}

static void run(pli_probe_context *context)
{
    pli_cgroup group;
    if (!pli_cgroup_find(context, "dmem", &group) || !group.v2)
        return;
    pli_cgroup top = {.v2 = true, .mount = group.mount, .path = (char[]){""}};
    capacity(context, pli_cgroup_read(context, &top, "dmem.capacity"));
    do {
        pli_str limits = pli_cgroup_read(context, &group, "dmem.max");
        if (limits.n)
            bound(context, limits, pli_cgroup_read(context, &group, "dmem.current"));
    } while (pli_cgroup_up(&group));
}

const pli_probe pli_probe_dmem = {.gate = gate, .run = run};
