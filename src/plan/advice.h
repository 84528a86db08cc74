/* What to type, and what to change. */
#ifndef PLI_ADVICE_H
#define PLI_ADVICE_H

#include "verdict.h"

/* Everything a change is tried on. */
typedef struct pli_case {
    pli_arena *arena;
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    const pli_plan *plan; /* of setup */
    const pli_verdict *verdict;
    uint64_t max_context;
} pli_case;

/* Changes that give a better verdict, the best first, least loss before greater: records of
 * `alternative`. Nothing for a model that passes. */
plim_status pli_alternatives(const pli_case *base, plim_items *out);

/* llama-server's own command line for this run with this context, quoted for a POSIX shell. NULL
 * when out of memory. */
const char *pli_command(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, uint64_t context);

#endif
