/* Weights that the processor rearranges: they stand in buffers of their own, which no page of the
 * file backs. */
#ifndef PLI_REPACK_H
#define PLI_REPACK_H

#include "load.h"

/* Which rows of repack.def this machine's processor has the instructions for, by bit. */
uint32_t pli_repacks_of(const plim_machine *machine);
/* Would the host rearrange this tensor, were it multiplied there? *extra: bytes beyond its own.
 * Devices with pinned memory keep the host's weights there instead, as they are. */
bool pli_repacked(const pli_sites *sites, const pli_setup *setup, const pli_tensor *tensor,
                  uint64_t *extra);

#endif
