/* How fast a run can be at most: the bytes that a token reads against the bandwidth of the memories
 * they lie in, the operations of a prompt against what the devices compute. Upper bounds: an engine
 * reaches 60 to 90 % of the first and 30 to 60 % of the second. */
#ifndef PLI_SPEED_H
#define PLI_SPEED_H

#include "load.h"

typedef struct pli_speed {
    double decode, decode_full; /* tokens a second, the context empty and full; 0: unknown */
    uint64_t read, read_full;   /* bytes of one token */
    bool nominal;               /* a bandwidth is the data sheet's */
    bool measured_host;         /* the caller's figure */
} pli_speed;

/* False: the bandwidth of a memory that is read is unknown. */
bool pli_speed_find(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                    const pli_plan *plan, pli_speed *out);

/* Tokens of a prompt a second at most: two operations for each weight of a layer's matrices (of the
 * experts those that a token is routed to), against what the devices compute in 8 bits where
 * the weights are quantised, else in 16, or the weights read once a batch. False: a matrix lies
 * where that is unknown. */
bool pli_prefill_find(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                      const pli_plan *plan, double *tokens_per_s);

#endif
