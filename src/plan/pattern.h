/* Patterns of -ot: std::regex (ECMAScript) searches on tensor names, run by POSIX regcomp().
 * What the two have in common is translated; what only ECMAScript has (look-ahead, \b, back
 * references) is refused by name. */
#ifndef PLI_PATTERN_H
#define PLI_PATTERN_H

#include "../base/arena.h"

typedef struct pli_pattern pli_pattern;

/* INVALID: *why says what cannot be compiled (static text). Freed with pli_pattern_free(). */
plim_status pli_pattern_new(pli_arena *arena, pli_str text, const char **why, pli_pattern **out);
bool pli_pattern_found(const pli_pattern *pattern, const char *name);
void pli_pattern_free(pli_pattern *pattern); /* NULL is allowed; the struct itself is the arena's */

#endif
