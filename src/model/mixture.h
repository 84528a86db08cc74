/* The quantizations that models are published in: names, and which tensor has which type in them
 * (mixtures.def). */
#ifndef PLI_MIXTURE_H
#define PLI_MIXTURE_H

#include "model.h"

typedef struct pli_mixture {
    const char *name; /* "Q4_K_M" */
    uint32_t file_type;
    uint32_t type; /* of most tensors: a row of quants.def */
    bool imatrix;  /* made with an importance matrix */
    bool usual;    /* most models are published in it */
} pli_mixture;

/* Number i, best first; NULL past the last. */
const pli_mixture *pli_mixture_at(size_t i);
/* By name in any case; "-" counts as "_". NULL: none. */
const pli_mixture *pli_mixture_find(pli_str name);

/* Sets the types and bytes of a model's tensors to those of a mixture. What is F32 and what no
 * mixture touches stays as it is. `old`: by the rules before February 2026, which knew fused
 * queries, keys and values as a role of their own. The model's tensors must be those of one file,
 * layer by layer. */
void pli_mixture_apply(const pli_mixture *mixture, bool old, pli_model *model);

#endif
