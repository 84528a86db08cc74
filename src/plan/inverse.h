/* The questions turned round: not what a run needs, but the largest run that stays under the line.
 * Each answer is searched for with the same functions that judge a run, so it is as exact as they
 * are. Memory does not grow evenly: compute buffers fall and rise with the context (a free block
 * fits or does not). What is found has been judged and stays under the line, and the next step has
 * been judged and does not; further on there may be another that would. */
#ifndef PLI_INVERSE_H
#define PLI_INVERSE_H

#include "verdict.h"

/* Everything a change is tried on. */
typedef struct pli_case {
    pli_arena *arena;
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    const pli_plan *plan; /* of setup */
    const pli_verdict *verdict;
    uint64_t max_context;
} pli_case;

/* Another run of the same model on the same machine. False: the engine refuses it. */
bool pli_try(const pli_case *base, const pli_setup *setup, pli_plan *plan, pli_verdict *verdict);

/* A search for the largest n: what n means, and where it matters. */
typedef struct pli_search {
    const pli_case *base;
    const pli_setup *setup;
    /* n in *with, a copy of setup. False: the engine refuses it. */
    bool (*apply)(struct pli_search *, uint64_t n, pli_setup *with);
    bool weights; /* n moves weights; else those of `plan` stay */
    bool devices; /* only devices count: what they do not take, the host must */
    uint64_t limit;
    uint8_t *taken;
    pli_plan plan; /* of the last n that was tried */
} pli_search;

/* The largest n from low to high that stays under the line. False: not even low does. */
bool pli_largest(pli_search *search, uint64_t low, uint64_t high, uint64_t *out);

/* The largest context (in tokens, as -c counts) with everything else as in *setup, at most the
 * trained one or the one asked for; 0: none. False: a memory's size is unknown. */
bool pli_max_context(const pli_case *base, const pli_setup *setup, uint64_t *out);
/* The most layers on the devices, as -ngl counts them. False: not even none. */
bool pli_max_layers(const pli_case *base, const pli_setup *setup, uint64_t *out);

/* Of one thing at a time, everything else as it is; 0 or NULL: none stays under the line. */
typedef struct pli_limits {
    uint64_t context, sequences, full_sequences, gpu_layers, batch, ubatch;
    const pli_quant *kv_type;
    bool layers_known; /* there are devices */
} pli_limits;
/* False: a memory's size is unknown, so is every limit. base->max_context is known. */
bool pli_limits_find(const pli_case *base, pli_limits *out);

/* The type of that name for keys and values both; flash attention comes with quantised values.
 * False: the model's heads, or the caller, rule it out. */
bool pli_use_cache_type(const pli_case *base, const char *name, pli_setup *setup);

#endif
