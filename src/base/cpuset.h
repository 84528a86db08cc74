/* Sets of CPU (or node) numbers: the kernel's lists "0-3,8" and masks "ff,00000001". */
#ifndef PLI_CPUSET_H
#define PLI_CPUSET_H

#include "arena.h"

typedef struct pli_cpuset {
    uint64_t *words; /* in the arena */
    size_t count;    /* words */
} pli_cpuset;

/* False: malformed, or a number >= PLI_MAX_CPUS, or out of memory; *out is then empty. An empty
 * list is an empty set. */
bool pli_cpuset_parse_list(pli_arena *arena, pli_str list, pli_cpuset *out);
bool pli_cpuset_parse_mask(pli_arena *arena, pli_str mask, pli_cpuset *out);
bool pli_cpuset_add(pli_arena *arena, pli_cpuset *set, size_t cpu);
bool pli_cpuset_has(const pli_cpuset *set, size_t cpu);
size_t pli_cpuset_count(const pli_cpuset *set);
bool pli_cpuset_equal(const pli_cpuset *a, const pli_cpuset *b);
void pli_cpuset_and(pli_cpuset *set, const pli_cpuset *other); /* in place */
/* First CPU >= from, SIZE_MAX if none: for (c = next(s, 0); c != SIZE_MAX; c = next(s, c + 1)) */
size_t pli_cpuset_next(const pli_cpuset *set, size_t from);
char *pli_cpuset_list(pli_arena *arena, const pli_cpuset *set); /* "0-3,8", in the arena */

#endif
