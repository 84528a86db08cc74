/* What llama.cpp's own --fit would choose (common/fit.cpp, 0.5.0), step by step with its integer
 * arithmetic, but on our figures instead of dry runs on the devices. */
#ifndef PLI_ENGINE_FIT_H
#define PLI_ENGINE_FIT_H

#include "inverse.h"

typedef struct pli_engine_fit {
    pli_setup setup;
    pli_plan plan;
    pli_verdict verdict;
    bool changed;    /* it would not run with what was asked for */
    const char *why; /* NULL, or why it gives up */
} pli_engine_fit;

/* False: free memory of a device is unknown, or out of memory. */
bool pli_engine_fit_find(const pli_case *base, pli_engine_fit *out);

/* "-c 4096 -ngl 20 -ts 12,8": what it sets, as llama-fit-params prints it; empty: nothing. */
const char *pli_engine_fit_flags(const pli_case *base, const pli_engine_fit *found);

#endif
