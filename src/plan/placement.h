/* Which layers, and which experts, go where: placements that are searched for. */
#ifndef PLI_PLACEMENT_H
#define PLI_PLACEMENT_H

#include "inverse.h"

/* setup->shares so that the fullest device is as empty as whole layers allow: layers are moved from
 * the fullest to the emptiest for as long as that helps. False: less than two devices that share
 * layers, or nothing to gain. */
bool pli_balance(const pli_case *base, pli_setup *setup);

/* setup->taken and host_experts: the experts of as few layers as possible, from the first on, on
 * the host. False: not even all of them would do, or none is needed. */
bool pli_least_host_experts(const pli_case *base, pli_setup *setup);

/* "PREFIX20,13" of the shares; NULL when out of memory. */
const char *pli_split_text(pli_arena *arena, const pli_setup *setup, const char *prefix);

#endif
