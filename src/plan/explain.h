/* Every term of a plan with its formula and its numbers, as a tree: a memory, what it holds, the
 * parts of that. A parent's bytes are the sum of its parts'. Beside it, of the whole machine: the
 * caches by kind; and what RAM holds besides. */
#ifndef PLI_EXPLAIN_H
#define PLI_EXPLAIN_H

#include "verdict.h"

/* Appends records of `term`. False when out of memory. */
bool pli_explain(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                 const pli_sites *sites, const pli_plan *plan, plim_items *out);

#endif
