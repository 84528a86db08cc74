/* What to type, and what to change. */
#ifndef PLI_ADVICE_H
#define PLI_ADVICE_H

#include "inverse.h"

/* Changes that give a better verdict, the best first, least loss before greater: records of
 * `alternative`. Nothing for a model that passes. */
plim_status pli_alternatives(const pli_case *base, plim_items *out);

/* llama-server's own command line for this run with this context, quoted for a POSIX shell. NULL
 * when out of memory. */
const char *pli_command(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, uint64_t context);

#endif
