/* NUMA nodes: CPUs, memory and distances as the kernel writes them. */
#include "../base/limits.h"
#include "../base/num.h"
#include "gpu_nodes.h"
#include "memory_limits.h"
#include "shared.h"

#define NODES "/sys/devices/system/node"

static void set_cpus(pli_probe_context *context, plim_numa_node *node, size_t id)
{
    pli_str list;
    pli_cpuset cpus;
    plim_status status =
        pli_readf(context->m, context->scratch, &list, NODES "/node%zu/cpulist", id);
    if (status == PLIM_OK) {
        const char *text = pli_text(context->inv, list);
        PLI_SET(numa_node, node, cpus, text ? text : "", "sysfs");
        return;
    }
    list = pli_read_wordf(context->m, context->scratch, NODES "/node%zu/cpumap", id);
    if (list.n && pli_cpuset_parse_mask(context->scratch, list, &cpus))
        PLI_SET_STR(numa_node, node, cpus, pli_cpuset_list(context->inv->arena, &cpus), "sysfs");
}

static void set_distances(pli_probe_context *context, plim_numa_node *node, size_t id)
{
    pli_str row = pli_read_wordf(context->m, context->scratch, NODES "/node%zu/distance", id), word;
    uint64_t *items = NULL, distance;
    size_t count = 0;
    while (pli_next_word(&row, &word)) {
        uint64_t *grown = pli_grow_array(context->inv->arena, items, count, sizeof *items);
        if (!grown || !pli_parse_u64(word, &distance) || count >= PLI_MAX_NUMA_NODES)
            return;
        items = grown;
        items[count++] = distance;
    }
    if (count)
        PLI_SET(numa_node, node, distances, ((plim_u64s){items, count}), "sysfs");
}

static void add_node(pli_probe_context *context, size_t id, bool gpu)
{
    plim_numa_node *node = pli_add_numa_node(context->inv);
    if (!node)
        return;
    pli_node_memory memory = pli_node_memory_read(context, id);
    PLI_SET(numa_node, node, id, id, "sysfs");
    set_cpus(context, node, id);
    if (memory.known) {
        PLI_SET(numa_node, node, mem_total_bytes, memory.total, "sysfs");
        PLI_SET(numa_node, node, mem_free_bytes, memory.free, "sysfs");
    }
    set_distances(context, node, id);
    if (gpu)
        PLI_SET(numa_node, node, gpu_memory, true, "nvidia");
}

static void run(pli_probe_context *context)
{
    pli_names names;
    uint64_t count = 0, id;
    plim_status status = pli_list(context->m, context->scratch, NODES, &names);
    pli_note_unreadable(context, NODES, status);
    if (status != PLIM_OK)
        return;
    pli_cpuset gpus = {0};
    if (names.count)
        gpus = pli_gpu_nodes(context);
    for (size_t i = 0; i < names.count; i++) {
        pli_str name = pli_s(names.items[i]);
        if (!pli_starts(name, "node") || !pli_parse_u64(pli_skip(name, 4), &id) ||
            id >= PLI_MAX_NUMA_NODES)
            continue;
        add_node(context, (size_t)id, pli_cpuset_has(&gpus, (size_t)id));
        count++;
    }
    plim_numa *numa = count ? pli_numa_of(context->inv) : NULL;
    if (numa)
        PLI_SET(numa, numa, node_count, count, "sysfs");
}

const pli_probe pli_probe_host_numa = {.run = run};
