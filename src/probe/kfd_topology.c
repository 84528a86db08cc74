#include "kfd_topology.h"

#include "../base/num.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes"
#define LINK_XGMI 11 /* CRAT's io-link type, as in the kernel's kfd_crat.h */

static uint64_t property(pli_str text, const char *key)
{
    pli_str value;
    uint64_t n = 0;
    if (!pli_find_value(text, key, ' ', &value) || !pli_parse_u64(value, &n))
        return 0;
    return n;
}

/* 90010 is gfx90a: major in decimal, minor and stepping in hex. */
static const char *arch(pli_arena *arena, uint64_t target)
{
    if (target < 10000 || target > 999999)
        return NULL;
    return pli_printf(arena, "gfx%u%x%x", (unsigned)(target / 10000),
                      (unsigned)(target / 100 % 100), (unsigned)(target % 100));
}

static void parse_node(pli_probe_context *context, pli_str text, pli_kfd_node *n)
{
    uint64_t location = property(text, "location_id");
    uint64_t per_unit = property(text, "simd_per_cu");
    n->unique_id = property(text, "unique_id");
    n->hive = property(text, "hive_id");
    n->domain = (uint32_t)property(text, "domain");
    n->bus = (uint32_t)(location >> 8 & 0xff);
    n->slot = (uint32_t)(location >> 3 & 0x1f);
    n->function = (uint32_t)(location & 7);
    n->vendor = (uint16_t)property(text, "vendor_id");
    n->device = (uint16_t)property(text, "device_id");
    n->compute_units = per_unit ? property(text, "simd_count") / per_unit : 0;
    n->xcc_count = property(text, "num_xcc");
    n->render_minor = property(text, "drm_render_minor");
    n->max_clock_mhz = property(text, "max_engine_clk_fcompute");
    n->arch = arch(context->inv->arena, property(text, "gfx_target_version"));
}

/* The heaps that programs allocate from: 1 is memory that the CPU can see, 2 is not. On an APU they
 * are a part of the system's RAM. */
static void read_banks(pli_probe_context *context, pli_kfd_node *n)
{
    pli_names banks;
    pli_str text;
    (void)pli_listf(context->m, context->scratch, &banks, NODES "/%llu/mem_banks",
                    (unsigned long long)n->number);
    for (size_t i = 0; i < banks.count; i++) {
        uint64_t used;
        (void)pli_readf(context->m, context->scratch, &text, NODES "/%llu/mem_banks/%s/properties",
                        (unsigned long long)n->number, banks.items[i]);
        uint64_t heap = property(text, "heap_type");
        if (heap != 1 && heap != 2)
            continue;
        n->memory_known = true;
        n->memory_bytes = pli_add_sat(n->memory_bytes, property(text, "size_in_bytes"));
        n->bus_width_bits = property(text, "width");
        n->memory_clock_mhz = property(text, "mem_clk_max");
        if (pli_read_u64f(context->m, context->scratch, &used,
                          NODES "/%llu/mem_banks/%s/used_memory", (unsigned long long)n->number,
                          banks.items[i])) {
            n->used_known = true;
            n->used_bytes = pli_add_sat(n->used_bytes, used);
        }
    }
}

/* Partitions of a card share its id. Where there are no ids, they are functions of one PCI slot:
 * the driver numbers partitions there, although PCI knows but one function. */
static bool same_card(pli_probe_context *context, const pli_kfd_node *a, const pli_kfd_node *b)
{
    if (a->unique_id || b->unique_id)
        return a->unique_id == b->unique_id;
    if (a->domain != b->domain || a->bus != b->bus || a->slot != b->slot ||
        a->function == b->function)
        return false;
    return !pli_device_by_pci(context->inv, pli_printf(context->scratch, "%04x:%02x:%02x.%x",
                                                       b->domain, b->bus, b->slot, b->function));
}

static bool add_node(pli_probe_context *context, pli_kfd_topology *out, pli_kfd_node node)
{
    pli_kfd_node *nodes =
        pli_grow_array(context->scratch, out->nodes, out->count, sizeof *out->nodes);
    if (!nodes)
        return false;
    out->nodes = nodes;
    node.card = out->count;
    for (size_t i = 0; i < out->count && node.card == out->count; i++)
        if (nodes[i].card == i && same_card(context, &nodes[i], &node))
            node.card = i;
    nodes[out->count++] = node;
    return true;
}

void pli_kfd_read(pli_probe_context *context, pli_kfd_topology *out)
{
    pli_names names;
    *out = (pli_kfd_topology){NULL, 0, 0};
    (void)pli_list(context->m, context->scratch, NODES, &names);
    for (size_t i = 0; i < names.count; i++) {
        pli_kfd_node node = {0};
        pli_str text;
        if (!pli_parse_u64(pli_s(names.items[i]), &node.number))
            continue;
        plim_status status =
            pli_readf(context->m, context->scratch, &text, NODES "/%s/properties", names.items[i]);
        out->denied += status == PLIM_PERMISSION;
        if (property(text, "simd_count") == 0) /* processors have nodes too */
            continue;
        parse_node(context, text, &node);
        read_banks(context, &node);
        if (!add_node(context, out, node))
            return;
    }
}

void pli_kfd_xgmi_links(pli_probe_context *context, const pli_kfd_node *node, pli_kfd_link_fn add,
                        void *user)
{
    pli_names links;
    (void)pli_listf(context->m, context->scratch, &links, NODES "/%llu/io_links",
                    (unsigned long long)node->number);
    for (size_t i = 0; i < links.count; i++) {
        pli_str text;
        (void)pli_readf(context->m, context->scratch, &text, NODES "/%llu/io_links/%s/properties",
                        (unsigned long long)node->number, links.items[i]);
        if (property(text, "type") == LINK_XGMI)
            add(user, property(text, "node_to"),
                pli_mul_sat(property(text, "max_bandwidth"), 1000000));
    }
}
