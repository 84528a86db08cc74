#include "gpu_nodes.h"

#include "../base/limits.h"
#include "../base/num.h"
#include "shared.h"

#define GPUS "/proc/driver/nvidia/gpus"
#define NODES "/sys/devices/system/node"
#define FIRST_GPU_NODE 224u /* 255 and down, one for each GPU */

/* The driver says which node it gave a GPU's memory: "Node: 255", -1 for none. */
static void from_driver(pli_probe_context *context, pli_cpuset *nodes)
{
    pli_names gpus;
    if (pli_list(context->m, context->scratch, GPUS, &gpus) != PLIM_OK)
        return;
    for (size_t i = 0; i < gpus.count; i++) {
        pli_str text, value;
        uint64_t node;
        if (pli_readf(context->m, context->scratch, &text, GPUS "/%s/numa_status", gpus.items[i]) ==
                PLIM_OK &&
            pli_find_value(text, "Node", ':', &value) && pli_parse_u64(value, &node) &&
            node < PLI_MAX_NUMA_NODES)
            (void)pli_cpuset_add(context->scratch, nodes, (size_t)node);
    }
}

/* POWER9's firmware (skiboot) counts the nodes of GPUs on NVLink down from 255; processors have low
 * numbers. It tells so also where the driver is not there to ask: in a container, on a tree. */
static void from_firmware(pli_probe_context *context, pli_cpuset *nodes)
{
    const pli_cpuinfo *cpu = pli_shared_cpuinfo(context);
    pli_names names;
    pli_str cpus;
    uint64_t id;
    if (!cpu || !pli_starts(cpu->brand, "POWER9") ||
        pli_list(context->m, context->scratch, NODES, &names) != PLIM_OK)
        return;
    for (size_t i = 0; i < names.count; i++)
        if (pli_starts(pli_s(names.items[i]), "node") &&
            pli_parse_u64(pli_s(names.items[i] + 4), &id) && id >= FIRST_GPU_NODE && id < 256 &&
            pli_readf(context->m, context->scratch, &cpus, NODES "/%s/cpulist", names.items[i]) ==
                PLIM_OK &&
            pli_trim(cpus).n == 0)
            (void)pli_cpuset_add(context->scratch, nodes, (size_t)id);
}

pli_cpuset pli_gpu_nodes(pli_probe_context *context)
{
    pli_cpuset nodes = {0};
    from_driver(context, &nodes);
    if (pli_cpuset_count(&nodes) == 0)
        from_firmware(context, &nodes);
    return nodes;
}
