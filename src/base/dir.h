/* Names in a directory of this system. For the files a user names; probes ask their machine
 * instead. */
#ifndef PLI_DIR_H
#define PLI_DIR_H

#include "arena.h"

bool pli_dir_is(const char *path); /* a directory, or a link to one? */
/* All names but "." and "..", sorted by bytes, in the arena. LIMIT above PLI_MAX_DIR_ENTRIES. */
plim_status pli_dir_names(pli_arena *arena, const char *path, plim_error *error,
                          const char *const **names, size_t *count);

#endif
