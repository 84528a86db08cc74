/* Every term of a plan with its formula and its numbers. */
#ifndef PLI_EXPLAIN_H
#define PLI_EXPLAIN_H

#include "verdict.h"

/* Appends records of `term`. False when out of memory. */
bool pli_explain(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                 const pli_sites *sites, const pli_plan *plan, plim_items *out);

#endif
