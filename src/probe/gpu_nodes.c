#include "gpu_nodes.h"

#include "../base/limits.h"
#include "../base/num.h"

#define GPUS "/proc/driver/nvidia/gpus"

/* The driver says which node it gave a GPU's memory: "Node: 255", -1 for none. */
pli_cpuset pli_gpu_nodes(pli_probe_context *context)
{
    pli_cpuset nodes = {0};
    pli_names gpus;
    if (pli_list(context->m, context->scratch, GPUS, &gpus) != PLIM_OK)
        return nodes;
    for (size_t i = 0; i < gpus.count; i++) {
        pli_str text, value;
        uint64_t node;
        if (pli_readf(context->m, context->scratch, &text, GPUS "/%s/numa_status", gpus.items[i]) ==
                PLIM_OK &&
            pli_find_value(text, "Node", ':', &value) && pli_parse_u64(value, &node) &&
            node < PLI_MAX_NUMA_NODES)
            (void)pli_cpuset_add(context->scratch, &nodes, (size_t)node);
    }
    return nodes;
}
