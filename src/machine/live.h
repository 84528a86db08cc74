/* The large pieces of the live machine, each in a file of its own. What they promise is written at
 * the operations in machine.h. */
#ifndef PLI_LIVE_H
#define PLI_LIVE_H

#include "machine.h"

/* dl.c: RTLD_NOW | RTLD_LOCAL, never closed again (vendors' libraries do not survive that). A stub
 * for building (".../stubs/...") is not a library. */
plim_status pli_dl_load(const pli_lib *, pli_symbol *symbols);

#endif
