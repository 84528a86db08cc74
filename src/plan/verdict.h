/* The verdict over a plan. */
#ifndef PLI_VERDICT_H
#define PLI_VERDICT_H

#include "load.h"

typedef enum pli_grade { PLI_PASSED, PLI_WARNING, PLI_FAILED, PLI_UNKNOWN } pli_grade;
const char *pli_grade_name(pli_grade grade);

typedef struct pli_verdict {
    pli_grade mark;
    double utilization; /* largest needed / budget; 0 where nothing bounds it */
    size_t worst;       /* the memory that decides */
    bool utilization_known;
    bool loads, loads_known;
    bool too_short; /* failed because a sequence reaches fewer than PLI_MIN_CONTEXT tokens */
} pli_verdict;

#define PLI_MIN_CONTEXT 16384u /* fewest useful tokens of a model trained for more (seed 000) */
#define PLI_CONTEXT_STEP 256u

/* Bytes that a memory must hold: the host's also what devices without memory of their own take. */
uint64_t pli_needed(const pli_plan *plan, const pli_sites *sites, size_t site);
/* needed / budget of one memory. False: unknown. */
bool pli_utilization(const pli_plan *plan, const pli_sites *sites, size_t site, double *out);

void pli_judge(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
               const pli_plan *plan, pli_verdict *out);

#endif
