/* CPU caches from sysfs: every instance is read once, at the first online CPU that has it. */
#ifndef PLI_PROBE_CACHES_H
#define PLI_PROBE_CACHES_H

#include "topology.h"

void pli_caches_read(pli_probe_context *, const pli_topology *, plim_cpu *);

#endif
