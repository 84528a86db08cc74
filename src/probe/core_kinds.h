/* Kinds of cores of a hybrid processor, and the cores' highest frequencies. */
#ifndef PLI_PROBE_CORE_KINDS_H
#define PLI_PROBE_CORE_KINDS_H

#include "topology.h"

void pli_core_kinds_read(pli_probe_context *, const pli_topology *, plim_cpu *);
void pli_frequencies_read(pli_probe_context *, const pli_topology *, plim_cpu *);

#endif
