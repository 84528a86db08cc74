/* How what is loaded beside the model is told: fields, terms, flags. */
#ifndef PLI_EXTRAS_TELL_H
#define PLI_EXTRAS_TELL_H

#include "../base/buf.h"
#include "load.h"

void pli_extras_tell_place(const pli_share *load, plim_placement *r);
void pli_extras_tell_memory(const pli_plan *plan, const pli_sites *sites, plim_fit_memory *r);
/* Appends records of `term`. */
void pli_extras_explain(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, const pli_plan *plan, plim_items *out);
void pli_extras_command(pli_buf *out, const pli_setup *setup);

/* One more part of what a memory holds, or, not counted, a line beside it (explain.c); an argument
 * quoted for a POSIX shell, a cache type where it is not the default (command.c). */
void pli_add_term(pli_arena *arena, plim_items *out, const char *device, const char *name,
                  pli_certainty kind, uint64_t bytes, const char *formula, bool counted);
void pli_add_quoted(pli_buf *out, const char *text);
void pli_add_type(pli_buf *out, const char *flag, const pli_quant *type);

#endif
