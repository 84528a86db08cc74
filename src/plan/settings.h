/* How a model would be run, as a record. */
#ifndef PLI_SETTINGS_H
#define PLI_SETTINGS_H

#include "setup.h"

/* "llama.cpp@b7847", "ik_llama.cpp". NULL when out of memory. */
const char *pli_engine_text(pli_arena *arena, const pli_generation *generation);
/* A type of the cache as the engine's flags spell it: "q8_0". NULL when out of memory. */
const char *pli_type_text(pli_arena *arena, const char *name);
/* NULL when out of memory. */
const plim_fit_settings *pli_settings_record(pli_arena *arena, const pli_setup *setup,
                                             uint64_t offloaded);

#endif
