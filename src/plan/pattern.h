/* Patterns of -ot: what std::regex_search() finds in a tensor's name, of ECMAScript's grammar
 * all that is regular: classes, groups, alternatives, repetitions, anchors and \b. Look-ahead
 * and back references are refused by name. A search takes time in proportion to the pattern and
 * the name, whatever they are. */
#ifndef PLI_PATTERN_H
#define PLI_PATTERN_H

#include "../base/arena.h"

typedef struct pli_pattern pli_pattern;

/* INVALID: *why says what cannot be judged (static text). The pattern is the arena's. */
plim_status pli_pattern_new(pli_arena *arena, pli_str text, const char **why, pli_pattern **out);
/* Uses memory of the pattern: not for two threads at once. */
bool pli_pattern_found(pli_pattern *pattern, const char *name);

#endif
