/* AMD GPUs through the amdgpu driver: memory, whether it is the system's RAM, sensors and clocks
 * from sysfs; the FUSION bit and the kind of memory chips from the driver, where its node may be
 * opened. */
#include <string.h>

#include "../base/num.h"
#include "../machine/query.h"
#include "device_node.h"

#define AT "/sys/bus/pci/devices/%s/"

struct gpu {
    pli_probe_context *context;
    plim_device *d;
    const char *at; /* PCI address */
    const char *hwmon;
    bool asleep;
    uint32_t vram_type; /* AMDGPU_VRAM_TYPE_*, 0 where unknown */
};

static bool attribute(const struct gpu *g, const char *name, uint64_t *value)
{
    return pli_read_u64f(g->context->m, g->context->scratch, value, AT "%s", g->at, name);
}

static bool sensor(const struct gpu *g, const char *name, uint64_t *value)
{
    return g->hwmon && pli_read_u64f(g->context->m, g->context->scratch, value, AT "hwmon/%s/%s",
                                     g->at, g->hwmon, name);
}

/* ---- the driver's own answers ---------------------------------------------------------------- */

static const char *render_path(const struct gpu *g)
{
    return PLIM_KNOWN(device, g->d, render_node)
               ? pli_printf(g->context->scratch, "/dev/dri/%s", g->d->render_node)
               : NULL;
}

/* Opening the node of a sleeping device would wake it. */
static bool ask(const struct gpu *g, const char *what, void *answer, size_t size)
{
    const char *node = g->asleep ? NULL : render_path(g);
    size_t n = 0;
    return node && pli_query(g->context->m, node, what, NULL, 0, answer, size, &n) == PLIM_OK &&
           n == size;
}

static void driver_facts(struct gpu *g)
{
    struct pli_amdgpu_device info;
    plim_device *d = g->d;
    if (!ask(g, "amdgpu.device", &info, sizeof info))
        return;
    g->vram_type = info.vram_type;
    PLI_SET(device, d, integrated, info.apu != 0, "drm");
    if (info.compute_units && !PLIM_KNOWN(device, d, cores_compute_units)) {
        PLI_SET(device, d, cores_compute_units, info.compute_units, "drm");
        PLI_SET(device, d, cores_shading, (uint64_t)info.compute_units * 64, "drm");
    }
    if (info.vram_bus_bits)
        PLI_SET(device, d, memory_bus_width_bits, info.vram_bus_bits, "drm");
    if (info.max_memory_clock_khz)
        PLI_SET(device, d, telemetry_clock_memory_max_mhz, info.max_memory_clock_khz / 1000, "drm");
    if (info.max_engine_clock_khz)
        PLI_SET(device, d, telemetry_clock_max_mhz, info.max_engine_clock_khz / 1000, "drm");
}

/* Without the driver's word: only an APU has a north bridge whose voltage the sensors know. */
static void guess_integrated(const struct gpu *g)
{
    if (!g->hwmon || PLIM_KNOWN(device, g->d, integrated))
        return;
    pli_str label = pli_read_wordf(g->context->m, g->context->scratch, AT "hwmon/%s/in1_label",
                                   g->at, g->hwmon);
    PLI_SET(device, g->d, integrated, pli_eq(label, "vddnb"), "hwmon");
}

static bool is_apu(const plim_device *d)
{
    return PLIM_KNOWN(device, d, integrated) && d->integrated;
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct pool {
    bool known, used_known;
    uint64_t total, used;
    const char *source;
};

static struct pool pool_of(const struct gpu *g, const char *total, const char *used)
{
    struct pool p = {.source = "sysfs"};
    p.known = attribute(g, total, &p.total);
    p.used_known = p.known && attribute(g, used, &p.used);
    return p;
}

static struct pool pool_of_heap(const struct pli_drm_heap *heap)
{
    return (struct pool){true, true, heap->total, heap->used, "drm"};
}

static void set_pool(plim_device *d, const struct pool *p, const char *kind)
{
    PLI_SET(device, d, memory_total_bytes, p->total, p->source);
    PLI_SET(device, d, memory_kind, kind, p->source);
    PLI_FORGET(device, d, memory_used_bytes);
    PLI_FORGET(device, d, memory_free_bytes);
    if (!p->used_known)
        return;
    PLI_SET(device, d, memory_used_bytes, p->used, p->source);
    PLI_SET(device, d, memory_free_bytes, pli_sub_sat(p->total, p->used), p->source);
}

/* RAM that is the GPU's too can be free only as far as RAM is. */
static void bound_by_ram(const pli_inventory *inv, plim_device *d)
{
    if (PLIM_KNOWN(device, d, memory_free_bytes) && d->memory_free_bytes > pli_ram_left(inv))
        PLI_SET(device, d, memory_free_bytes, pli_ram_left(inv), "ram");
}

/* An APU's programs get the carve-out of the firmware or the part of RAM that the driver may map
 * (GTT), whichever is larger, and never both: so does the kernel (apu_prefer_gtt) since 6.10. What
 * the compute driver offers decides where it says so. The carve-out is no part of the system's
 * RAM. */
static void apu_memory(const struct gpu *g, const struct pool *vram, const struct pool *gtt)
{
    plim_device *d = g->d;
    bool told = PLIM_KNOWN(device, d, memory_total_bytes); /* by KFD */
    if (told && !(vram->known && d->memory_total_bytes == vram->total) &&
        !(gtt->known && d->memory_total_bytes == gtt->total)) {
        PLI_SET(device, d, memory_kind, "shared", "kfd");
    } else if (vram->known && (told ? d->memory_total_bytes == vram->total
                                    : !gtt->known || vram->total >= gtt->total)) {
        set_pool(d, vram, "dedicated");
        return;
    } else if (gtt->known) {
        set_pool(d, gtt, "shared");
    }
    bound_by_ram(g->context->inv, d);
}

static void memory(struct gpu *g)
{
    plim_device *d = g->d;
    struct pli_amdgpu_memory heaps;
    uint64_t visible;
    struct pool vram = pool_of(g, "mem_info_vram_total", "mem_info_vram_used");
    struct pool gtt = pool_of(g, "mem_info_gtt_total", "mem_info_gtt_used");
    if (!vram.known && !gtt.known && ask(g, "amdgpu.memory", &heaps, sizeof heaps)) {
        vram = pool_of_heap(&heaps.vram);
        gtt = pool_of_heap(&heaps.gtt);
    }
    if (gtt.known)
        PLI_SET(device, d, memory_gtt_total_bytes, gtt.total, gtt.source);
    if (gtt.used_known)
        PLI_SET(device, d, memory_gtt_used_bytes, gtt.used, gtt.source);
    if (attribute(g, "mem_info_vis_vram_total", &visible))
        PLI_SET(device, d, memory_visible_bytes, visible, "sysfs");
    if (is_apu(d))
        apu_memory(g, &vram, &gtt);
    else if (vram.known)
        set_pool(d, &vram, "dedicated");
    else if (gtt.known && PLIM_KNOWN(device, d, memory_total_bytes))
        PLI_SET(device, d, memory_kind, "unified", "kfd"); /* MI300A manages no memory of its own */
    else if (PLIM_KNOWN(device, d, memory_total_bytes))
        PLI_SET(device, d, memory_kind, "dedicated", "kfd");
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

/* Transfers per memory clock. Mesa, ac_memory_ops_per_clock(); HBM3 takes twice as many as HBM2 on
 * the clock that the driver gives. 0: unknown, and always for APUs, whose clock is another one. */
static uint64_t transfers_per_clock(const plim_device *d, uint32_t type)
{
    const char *arch = PLIM_KNOWN(device, d, arch) ? d->arch : "";
    bool hbm3 = strncmp(arch, "gfx94", 5) == 0 || strncmp(arch, "gfx95", 5) == 0;
    bool rdna2 = strncmp(arch, "gfx103", 6) == 0 || strncmp(arch, "gfx11", 5) == 0 ||
                 strncmp(arch, "gfx12", 5) == 0; /* or later: discrete ones have GDDR6 or HBM */
    enum { GDDR5 = 5, HBM = 6, DDR3 = 7, DDR4 = 8, GDDR6 = 9 };
    if (type == HBM || (type == 0 && d->memory_bus_width_bits >= 1024))
        return arch[0] == '\0' ? 0 : hbm3 ? 4 : 2;
    if (type == DDR3 || type == DDR4)
        return 2;
    if (type == GDDR5)
        return 4;
    return type == GDDR6 || (type == 0 && rdna2) ? 16 : 0;
}

static void bandwidth(const struct gpu *g)
{
    plim_device *d = g->d;
    uint64_t rate;
    if (!PLIM_KNOWN(device, d, integrated) || d->integrated ||
        !PLIM_KNOWN(device, d, memory_bus_width_bits) ||
        !PLIM_KNOWN(device, d, telemetry_clock_memory_max_mhz))
        return;
    if (pli_mul(d->telemetry_clock_memory_max_mhz, 1000000, &rate) &&
        pli_mul(rate, d->memory_bus_width_bits / 8, &rate) &&
        pli_mul(rate, transfers_per_clock(d, g->vram_type), &rate) && rate > 0)
        PLI_SET(device, d, memory_bandwidth_bytes_per_s, rate,
                PLI_SOURCE(device, d, memory_bus_width_bits));
}

/* ---- sensors and clocks ---------------------------------------------------------------------- */

/* "1: 1200Mhz *": the highest level, and the one with the star. */
static void levels(const struct gpu *g, const char *file, uint64_t *highest, uint64_t *now)
{
    pli_str text, line, key, value;
    uint64_t mhz;
    *highest = *now = 0;
    (void)pli_readf(g->context->m, g->context->scratch, &text, AT "%s", g->at, file);
    while (pli_next_line(&text, &line)) {
        if (!pli_key_value(line, ':', &key, &value) || !pli_parse_u64_prefix(&value, &mhz))
            continue;
        if (mhz > *highest)
            *highest = mhz;
        if (pli_contains(value, "*"))
            *now = mhz;
    }
}

static void clocks(const struct gpu *g)
{
    plim_device *d = g->d;
    uint64_t highest, now, hertz;
    levels(g, "pp_dpm_sclk", &highest, &now);
    if (highest)
        PLI_SET(device, d, telemetry_clock_max_mhz, highest, "sysfs");
    if (sensor(g, "freq1_input", &hertz))
        PLI_SET(device, d, telemetry_clock_mhz, hertz / 1000000, "hwmon");
    else if (now)
        PLI_SET(device, d, telemetry_clock_mhz, now, "sysfs");
    levels(g, "pp_dpm_mclk", &highest, &now);
    if (highest && !PLIM_KNOWN(device, d, telemetry_clock_memory_max_mhz))
        PLI_SET(device, d, telemetry_clock_memory_max_mhz, highest, "sysfs");
    if (now)
        PLI_SET(device, d, telemetry_clock_memory_mhz, now, "sysfs");
}

static void sensors(const struct gpu *g)
{
    plim_device *d = g->d;
    uint64_t n;
    if (attribute(g, "gpu_busy_percent", &n) && n <= 100)
        PLI_SET(device, d, telemetry_utilization_percent, n, "sysfs");
    if (sensor(g, "temp1_input", &n) && n < 1000000)
        PLI_SET(device, d, telemetry_temperature_c, n / 1000, "hwmon");
    if (sensor(g, "power1_average", &n) || sensor(g, "power1_input", &n))
        PLI_SET(device, d, telemetry_power_w, (double)n / 1e6, "hwmon");
    if (sensor(g, "power1_cap", &n) && n > 0)
        PLI_SET(device, d, telemetry_power_limit_w, (double)n / 1e6, "hwmon");
}

/* ---- the probe ------------------------------------------------------------------------------- */

static const char *first_hwmon(const struct gpu *g)
{
    pli_names names;
    (void)pli_listf(g->context->m, g->context->scratch, &names, AT "hwmon", g->at);
    return names.count ? names.items[0] : NULL;
}

static bool is_ours(const plim_device *d)
{
    return PLIM_KNOWN(device, d, driver) && strcmp(d->driver, "amdgpu") == 0 &&
           PLIM_KNOWN(device, d, pci_address) && !pli_is_part(d);
}

static void describe(pli_probe_context *context, plim_device *d)
{
    struct gpu g = {.context = context, .d = d, .at = d->pci_address};
    g.asleep = PLIM_KNOWN(device, d, power_state) && strcmp(d->power_state, "suspended") == 0;
    g.hwmon = first_hwmon(&g);
    driver_facts(&g);
    guess_integrated(&g);
    memory(&g);
    PLI_SET_STR(device, d, vbios_version,
                pli_text(context->inv,
                         pli_read_wordf(context->m, context->scratch, AT "vbios_version", g.at)),
                "sysfs");
    if (!g.asleep) {
        clocks(&g);
        sensors(&g);
    }
    bandwidth(&g);
}

static void run(pli_probe_context *context)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        if (is_ours(d))
            describe(context, d);
    }
}

const pli_probe pli_probe_amd_drm = {.run = run};
