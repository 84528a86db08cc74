/* Which CPUs are online, and how they make up cores and packages. Every set of siblings is cut with
 * the online CPUs first; each figure stands alone: what its files do not tell stays unknown. */
#ifndef PLI_PROBE_TOPOLOGY_H
#define PLI_PROBE_TOPOLOGY_H

#include "../base/cpuset.h"
#include "cpuinfo.h"
#include "probe.h"

typedef struct pli_topology {
    pli_cpuset online;
    size_t logical;                          /* 0: unknown */
    const char *logical_source;              /* "sysfs" or "cpuinfo" */
    size_t sockets, cores, threads_per_core; /* 0: unknown */
    const char *sockets_source, *cores_source;
    pli_cpuset leaders; /* one online CPU of each core; all of them where cores are unknown */
} pli_topology;

void pli_topology_read(pli_probe_context *, const pli_cpuinfo *, pli_topology *out);

/* A set of CPUs that a sysfs file below /sys/devices/system/cpu/cpuN/ names, as a mask or a list:
 * the first of `names` (NULL-terminated, those that end in _list are lists) that is there. False
 * when none is. */
bool pli_sysfs_cpus(pli_probe_context *, size_t cpu, const char *folder, const char *const *names,
                    pli_cpuset *out);

#endif
