/* What else a recorded machine can tell of itself. */
#ifndef PLI_TEXT_H
#define PLI_TEXT_H

#include "archive.h"

bool pli_machine_is_text(const pli_machine *);
/* Has it an entry of this kind for this path, whatever that says? Only of recorded machines. */
bool pli_text_has(pli_machine *, pli_kind, const char *path);

#endif
