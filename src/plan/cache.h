/* Keys and values, and the state of recurrent layers. */
#ifndef PLI_CACHE_H
#define PLI_CACHE_H

#include "load.h"

/* Fills kv, state and the caches of a plan whose layers are placed. */
void pli_place_cache(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, pli_plan *plan);

#endif
