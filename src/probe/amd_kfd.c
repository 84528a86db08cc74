/* AMD GPUs through the compute driver's topology: instruction set, compute units, the memory that
 * programs get, partitions of a card, xGMI links. */
#include <string.h>

#include "../base/num.h"
#include "../know/pci.h"
#include "device_node.h"
#include "kfd_topology.h"

/* A card: its nodes, and the entry that stands for all of it. */
struct cards {
    pli_probe_context *context;
    pli_kfd_topology topology;
    plim_device **whole; /* by index of the card's first node */
    bool *linked;        /* count x count, by those indices */
    size_t from;         /* card whose links are read */
};

static size_t parts_of(const pli_kfd_topology *t, size_t card)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += t->nodes[i].card == card;
    return n;
}

/* ---- the entry of a card --------------------------------------------------------------------- */

/* A name for the card that does not give away its hardware id: 32 bits of FNV-1a. */
static const char *group_name(pli_arena *arena, uint64_t id)
{
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ (uint32_t)(id >> i & 0xff)) * 16777619u;
    return pli_printf(arena, "%08x", (unsigned)hash);
}

static plim_device *find(pli_probe_context *context, const pli_kfd_node *n, const char *group)
{
    for (unsigned function = n->function;; function = 0) {
        const char *address =
            pli_printf(context->scratch, "%04x:%02x:%02x.%x", n->domain, n->bus, n->slot, function);
        plim_device *d = address ? pli_device_by_pci(context->inv, address) : NULL;
        bool other = d && group && PLIM_KNOWN(device, d, serial_group) &&
                     strcmp(d->serial_group, group) != 0;
        if (d && !other)
            return d;
        if (function == 0)
            return NULL;
    }
}

/* Where the bus says nothing of it (a tree without /sys/bus), the topology is all there is. */
static plim_device *add(pli_probe_context *context, const pli_kfd_node *n)
{
    plim_device *d = pli_add_device(context->inv);
    pli_arena *a = context->inv->arena;
    if (!d)
        return NULL;
    PLI_SET(device, d, kind, "gpu", "kfd");
    PLI_SET(device, d, family, "rocm", "kfd");
    PLI_SET_STR(device, d, vendor, pli_pci_vendor_name(n->vendor), "table");
    PLI_SET_STR(device, d, name, pli_pci_gpu_name(n->vendor, n->device, -1), "table");
    PLI_SET_STR(device, d, pci_address,
                pli_printf(a, "%04x:%02x:%02x.0", n->domain, n->bus, n->slot), "kfd");
    PLI_SET_STR(device, d, pci_vendor_id, pli_printf(a, "%04x", n->vendor), "kfd");
    PLI_SET_STR(device, d, pci_device_id, pli_printf(a, "%04x", n->device), "kfd");
    PLI_SET(device, d, driver, "amdgpu", "kfd");
    PLI_SET(device, d, available, true, "kfd");
    return d;
}

static plim_device *entry_of(pli_probe_context *context, const pli_kfd_node *n)
{
    const char *group = n->unique_id ? group_name(context->inv->arena, n->unique_id) : NULL;
    plim_device *d = find(context, n, group);
    if (!d)
        d = add(context, n);
    if (d)
        PLI_SET_STR(device, d, serial_group, group, "kfd");
    return d;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void set_units(plim_device *d, uint64_t units)
{
    if (!units)
        return;
    PLI_SET(device, d, cores_compute_units, units, "kfd");
    PLI_SET(device, d, cores_shading, units * 64, "kfd"); /* GCN, CDNA and RDNA alike */
}

static void set_memory(plim_device *d, uint64_t total, bool used_known, uint64_t used)
{
    PLI_SET(device, d, memory_total_bytes, total, "kfd");
    if (!used_known || used > total)
        return;
    PLI_SET(device, d, memory_used_bytes, used, "kfd");
    PLI_SET(device, d, memory_free_bytes, total - used, "kfd");
}

/* Of a card, and of a card alone: its partitions share the bus. */
static void set_bus(plim_device *d, const pli_kfd_node *n)
{
    if (n->bus_width_bits)
        PLI_SET(device, d, memory_bus_width_bits, n->bus_width_bits, "kfd");
    if (n->memory_clock_mhz)
        PLI_SET(device, d, telemetry_clock_memory_max_mhz, n->memory_clock_mhz, "kfd");
}

static void node_facts(pli_probe_context *context, plim_device *d, const pli_kfd_node *n)
{
    PLI_SET_STR(device, d, arch, n->arch, "kfd");
    set_units(d, n->compute_units);
    if (n->memory_known)
        set_memory(d, n->memory_bytes, n->used_known, n->used_bytes);
    if (n->max_clock_mhz)
        PLI_SET(device, d, telemetry_clock_max_mhz, n->max_clock_mhz, "kfd");
    if (n->render_minor && !PLIM_KNOWN(device, d, render_node))
        PLI_SET_STR(
            device, d, render_node,
            pli_printf(context->inv->arena, "renderD%llu", (unsigned long long)n->render_minor),
            "kfd");
}

/* The modes are named for how many partitions there are, the finest has one die in each. */
static const char *mode_name(const pli_kfd_node *n, size_t parts)
{
    if (n->xcc_count == 1)
        return "CPX";
    return parts == 2 ? "DPX" : parts == 3 ? "TPX" : parts == 4 ? "QPX" : "partition";
}

/* What a part has of the whole. */
static void inherit(plim_device *part, const plim_device *whole)
{
#define INHERIT(member)                                                                            \
    if (PLIM_KNOWN(device, whole, member))                                                         \
    PLI_SET(device, part, member, whole->member, PLI_SOURCE(device, whole, member))
    INHERIT(kind);
    INHERIT(family);
    INHERIT(vendor);
    INHERIT(name);
    INHERIT(pci_address);
    INHERIT(pci_vendor_id);
    INHERIT(pci_device_id);
    INHERIT(pci_class);
    INHERIT(pci_subsystem);
    INHERIT(pci_revision);
    INHERIT(driver);
    INHERIT(available);
    INHERIT(why_unavailable);
    INHERIT(numa_node);
    INHERIT(serial_group);
#undef INHERIT
}

static void add_part(struct cards *cards, const pli_kfd_node *n, const plim_device *whole,
                     size_t parts)
{
    pli_probe_context *context = cards->context;
    plim_device *d = pli_add_device(context->inv);
    if (!d)
        return;
    inherit(d, whole);
    PLI_SET(device, d, partition, mode_name(n, parts), "kfd");
    node_facts(context, d, n);
    if (PLIM_KNOWN(device, d, memory_total_bytes))
        PLI_SET(device, d, memory_kind, "dedicated", "kfd");
    if (PLIM_KNOWN(device, d, render_node))
        pli_judge_node(context, d, pli_printf(context->scratch, "/dev/dri/%s", d->render_node));
    pli_set_parent(context->inv, d, whole);
}

/* The card as a whole has what its partitions have together. */
static void sum_up(struct cards *cards, size_t card, plim_device *whole)
{
    const pli_kfd_topology *t = &cards->topology;
    uint64_t units = 0, total = 0, used = 0;
    bool total_known = true, used_known = true;
    for (size_t i = 0; i < t->count; i++) {
        const pli_kfd_node *n = &t->nodes[i];
        if (n->card != card)
            continue;
        units += n->compute_units;
        total = pli_add_sat(total, n->memory_bytes);
        used = pli_add_sat(used, n->used_bytes);
        total_known = total_known && n->memory_known;
        used_known = used_known && n->used_known;
    }
    PLI_SET_STR(device, whole, arch, t->nodes[card].arch, "kfd");
    set_units(whole, units);
    set_bus(whole, &t->nodes[card]);
    if (total_known)
        set_memory(whole, total, used_known, used);
}

static void describe(struct cards *cards, size_t card)
{
    const pli_kfd_topology *t = &cards->topology;
    size_t parts = parts_of(t, card);
    plim_device *whole = entry_of(cards->context, &t->nodes[card]);
    cards->whole[card] = whole;
    if (!whole)
        return;
    if (parts == 1) {
        node_facts(cards->context, whole, &t->nodes[card]);
        set_bus(whole, &t->nodes[card]);
        return;
    }
    sum_up(cards, card, whole);
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].card == card)
            add_part(cards, &t->nodes[i], whole, parts);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void add_link(void *user, uint64_t to, uint64_t bytes_per_s)
{
    struct cards *cards = user;
    const pli_kfd_topology *t = &cards->topology;
    size_t a = cards->from, b = t->count;
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].number == to)
            b = t->nodes[i].card;
    if (b == t->count || a == b || !cards->whole[a] || !cards->whole[b] ||
        cards->linked[a * t->count + b])
        return;
    plim_link *link = pli_add_link(cards->context->inv);
    if (!link)
        return;
    cards->linked[a * t->count + b] = cards->linked[b * t->count + a] = true;
    pli_set_link_ends(cards->context->inv, link, cards->whole[a], cards->whole[b]);
    PLI_SET(link, link, kind, "xgmi", "kfd");
    if (bytes_per_s)
        PLI_SET(link, link, bandwidth_bytes_per_s, bytes_per_s, "kfd");
}

static void links(struct cards *cards)
{
    const pli_kfd_topology *t = &cards->topology;
    cards->linked = pli_alloc_array(cards->context->scratch, t->count * t->count, sizeof(bool));
    for (size_t i = 0; i < t->count && cards->linked; i++) {
        cards->from = i;
        if (t->nodes[i].card == i && t->nodes[i].hive)
            pli_kfd_xgmi_links(cards->context, &t->nodes[i], add_link, cards);
    }
}

/* ---- what may not be used -------------------------------------------------------------------- */

static bool runs_amdgpu(const plim_device *d)
{
    return PLIM_KNOWN(device, d, driver) && strcmp(d->driver, "amdgpu") == 0 && !pli_is_part(d);
}

/* The bus shows every GPU of the host to a container, the compute driver hides those that it was
 * not given. */
static void note_denied(pli_probe_context *context, size_t denied)
{
    pli_note(context->inv, "warning", context->name, "/sys/class/kfd",
             "in a container: give it the device nodes",
             "%zu of the compute driver's nodes may not be read", denied);
    size_t hidden = 0;
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        const plim_device *d = pli_device_at(context->inv, i);
        hidden += runs_amdgpu(d) && !PLIM_KNOWN(device, d, arch);
    }
    for (size_t i = 0; i < pli_device_count(context->inv) && hidden <= denied; i++) {
        plim_device *d = pli_device_at(context->inv, i);
        if (runs_amdgpu(d) && !PLIM_KNOWN(device, d, arch))
            pli_unavailable(context, d, "kfd", "the device cgroup does not permit it");
    }
}

static void note_permission(pli_probe_context *context)
{
    pli_stat st;
    if (pli_stat_path(context->m, "/dev/kfd", &st) == PLIM_OK && !(st.readable && st.writable))
        pli_note(context->inv, "warning", context->name, "/dev/kfd", "add yourself to group render",
                 "no permission to open /dev/kfd, so ROCm will not run");
}

static void run(pli_probe_context *context)
{
    struct cards cards = {.context = context};
    pli_kfd_read(context, &cards.topology);
    const pli_kfd_topology *t = &cards.topology;
    if (t->count + t->denied == 0)
        return;
    cards.whole = pli_alloc_array(context->scratch, t->count, sizeof *cards.whole);
    if (!cards.whole)
        return;
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].card == i)
            describe(&cards, i);
    links(&cards);
    note_permission(context);
    if (t->denied)
        note_denied(context, t->denied);
}

const pli_probe pli_probe_amd_kfd = {.run = run};
