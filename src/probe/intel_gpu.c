/* Intel GPUs under i915 and xe: memory regions from the driver, clocks and sensors from sysfs. */
#include <string.h>

#include "../base/num.h"
#include "../machine/query.h"
#include "device_node.h"

#define AT "/sys/bus/pci/devices/%s/"
#define MAX_REGIONS 16

struct gpu {
    pli_probe_context *context;
    plim_device *d;
    const char *at; /* PCI address */
    bool asleep;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t ask_regions(const struct gpu *g, struct pli_intel_region *regions)
{
    const plim_device *d = g->d;
    size_t n = 0;
    if (g->asleep || !PLIM_KNOWN(device, d, render_node)) /* opening the node would wake it */
        return 0;
    const char *path = pli_printf(g->context->scratch, "/dev/dri/%s", d->render_node);
    const char *query = strcmp(d->driver, "xe") == 0 ? "xe.memory" : "i915.memory";
    if (!path || pli_query(g->context->m, path, query, NULL, 0, regions,
                           MAX_REGIONS * sizeof *regions, &n) != PLIM_OK)
        return 0;
    return n / sizeof *regions;
}

/* A card's own memory. To a caller without CAP_PERFMON the drivers say that all of it is free: then
 * nothing is known of what is. */
static void own_memory(const struct gpu *g, uint64_t total, uint64_t free)
{
    plim_device *d = g->d;
    PLI_SET(device, d, memory_total_bytes, total, "drm");
    PLI_SET(device, d, memory_kind, "dedicated", "drm");
    if (free >= total) {
        pli_note(g->context->inv, "info", g->context->name, g->at, "run it with CAP_PERFMON",
                 "the driver does not tell everybody how much of its memory is free");
        return;
    }
    PLI_SET(device, d, memory_free_bytes, free, "drm");
    PLI_SET(device, d, memory_used_bytes, total - free, "drm");
}

/* An integrated one allocates from RAM, as far as RAM is free. */
static void shared_memory(const struct gpu *g, uint64_t total)
{
    plim_device *d = g->d;
    PLI_SET(device, d, memory_kind, "shared", "drm");
    if (!total)
        return;
    PLI_SET(device, d, memory_total_bytes, total, "drm");
    if (pli_ram_left(g->context->inv) <= total)
        PLI_SET(device, d, memory_free_bytes, pli_ram_left(g->context->inv), "ram");
}

static void memory(const struct gpu *g)
{
    struct pli_intel_region regions[MAX_REGIONS];
    uint64_t own = 0, own_free = 0, system = 0;
    size_t count = ask_regions(g, regions);
    for (size_t i = 0; i < count; i++) {
        const struct pli_intel_region *r = &regions[i];
        if (r->device) {
            own = pli_add_sat(own, r->total);
            own_free = pli_add_sat(own_free, r->free);
        } else {
            system = pli_add_sat(system, r->total);
        }
    }
    if (count == 0)
        return;
    PLI_SET(device, g->d, integrated, own == 0, "drm");
    if (own)
        own_memory(g, own, own_free);
    else
        shared_memory(g, system);
}

/* Without the driver's word: 00:02.0 has been the place of the processor's graphics on every
 * platform. */
static void guess_integrated(const struct gpu *g)
{
    if (PLIM_KNOWN(device, g->d, integrated) || strcmp(g->at, "0000:00:02.0") != 0)
        return;
    PLI_SET(device, g->d, integrated, true, "pci");
    PLI_SET(device, g->d, memory_kind, "shared", "pci");
}

/* ---- clocks and sensors ---------------------------------------------------------------------- */

/* The first of these files that tells a frequency: xe, i915 with a directory for each tile, i915
 * before that. */
static bool clock_of(const struct gpu *g, const char *xe, const char *i915, const char *old,
                     uint64_t *mhz)
{
    const char *card = PLIM_KNOWN(device, g->d, card) ? g->d->card : "-";
    pli_arena *a = g->context->scratch;
    pli_machine *m = g->context->m;
    bool found = strcmp(g->d->driver, "xe") == 0
                     ? pli_read_u64f(m, a, mhz, AT "tile0/gt0/freq0/%s", g->at, xe)
                     : pli_read_u64f(m, a, mhz, AT "drm/%s/gt/gt0/%s", g->at, card, i915) ||
                           pli_read_u64f(m, a, mhz, AT "drm/%s/%s", g->at, card, old);
    return found && *mhz > 0;
}

static void clocks(const struct gpu *g)
{
    uint64_t mhz;
    if (clock_of(g, "rp0_freq", "rps_RP0_freq_mhz", "gt_RP0_freq_mhz", &mhz))
        PLI_SET(device, g->d, telemetry_clock_max_mhz, mhz, "sysfs");
    if (clock_of(g, "act_freq", "rps_act_freq_mhz", "gt_act_freq_mhz", &mhz))
        PLI_SET(device, g->d, telemetry_clock_mhz, mhz, "sysfs");
}

/* xe labels its sensors and begins at 2; i915 has one. */
static void sensors(const struct gpu *g)
{
    pli_names names;
    uint64_t n;
    pli_arena *a = g->context->scratch;
    pli_machine *m = g->context->m;
    (void)pli_listf(m, a, &names, AT "hwmon", g->at);
    if (names.count == 0)
        return;
    const char *hwmon = names.items[0];
    if ((pli_read_u64f(m, a, &n, AT "hwmon/%s/temp2_input", g->at, hwmon) ||
         pli_read_u64f(m, a, &n, AT "hwmon/%s/temp1_input", g->at, hwmon)) &&
        n < 1000000)
        PLI_SET(device, g->d, telemetry_temperature_c, n / 1000, "hwmon");
    if ((pli_read_u64f(m, a, &n, AT "hwmon/%s/power1_cap", g->at, hwmon) ||
         pli_read_u64f(m, a, &n, AT "hwmon/%s/power1_max", g->at, hwmon)) &&
        n > 0)
        PLI_SET(device, g->d, telemetry_power_limit_w, (double)n / 1e6, "hwmon");
}

/* ---- the probe ------------------------------------------------------------------------------- */

static bool is_ours(const plim_device *d)
{
    return PLIM_KNOWN(device, d, family) && strcmp(d->family, "intel") == 0 &&
           PLIM_KNOWN(device, d, pci_address);
}

static void describe(pli_probe_context *context, plim_device *d)
{
    struct gpu g = {.context = context, .d = d, .at = d->pci_address};
    g.asleep = PLIM_KNOWN(device, d, power_state) && strcmp(d->power_state, "suspended") == 0;
    bool driven = PLIM_KNOWN(device, d, driver) &&
                  (strcmp(d->driver, "i915") == 0 || strcmp(d->driver, "xe") == 0);
    if (driven)
        memory(&g);
    guess_integrated(&g);
    if (driven && !g.asleep) {
        clocks(&g);
        sensors(&g);
    }
}

static void run(pli_probe_context *context)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        if (is_ours(d))
            describe(context, d);
    }
}

const pli_probe pli_probe_intel_gpu = {.run = run};
