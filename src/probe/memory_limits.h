/* Everything that may leave this process less memory than the machine has: control groups, the
 * nodes it may allocate from, its own limits, strict overcommit, a batch system. */
#ifndef PLI_PROBE_MEMORY_LIMITS_H
#define PLI_PROBE_MEMORY_LIMITS_H

#include "probe.h"

/* Fills limit_bytes, limit_source and rlimit_bytes, and lowers usable_bytes (which the caller has
 * set to what the machine could give) to the smallest of what each limit leaves. meminfo: the
 * text. */
void pli_memory_limits(pli_probe_context *, plim_memory *, pli_str meminfo);

/* A line "Key:   123 kB" in bytes; false when absent. */
bool pli_meminfo_bytes(pli_str meminfo, const char *key, uint64_t *bytes);

/* What Slurm grants this job on this node; false outside of one, and where it grants all. */
bool pli_slurm_memory(pli_machine *, uint64_t *bytes);

/* Memory of NUMA nodes: "Node 0 MemTotal: 123 kB" in nodeN/meminfo. */
typedef struct pli_node_memory {
    uint64_t total, free, available; /* available: free and what can be taken back */
    bool known;
} pli_node_memory;
pli_node_memory pli_node_memory_read(pli_probe_context *, size_t node);

#endif
