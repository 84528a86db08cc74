/* NUMA nodes that are a GPU's memory (POWER9 with NVLink, Grace Hopper): the kernel counts them as
 * RAM, and they are none. */
#ifndef PLI_PROBE_GPU_NODES_H
#define PLI_PROBE_GPU_NODES_H

#include "../base/cpuset.h"
#include "probe.h"

/* Node numbers; an empty set where there are none. In the scratch arena. */
pli_cpuset pli_gpu_nodes(pli_probe_context *);

#endif
