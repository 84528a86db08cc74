/* What lower floors may know of a context (the struct itself is in plimsoll.c). */
#ifndef PLI_CONTEXT_H
#define PLI_CONTEXT_H

#include <plimsoll/machine.h>

/* The context's allocator; NULL context: malloc. Valid while the context is open, copied into every
 * result. */
const plim_allocator *pli_context_allocator(const plimsoll *context);

#endif
