/* How near two names are: what to propose for one that nobody knows. */
#ifndef PLI_NEAR_H
#define PLI_NEAR_H

#include "str.h"

#define PLI_NEAR_MOST 63u /* longer names are compared by these first characters */

/* Letters that must be changed, added, left out or swapped with their neighbour to get from one to
 * the other, without regard to case. */
size_t pli_distance(pli_str a, pli_str b);

#endif
