/* Buffers of intermediate results: what compute.c bounds and graph.c replays. */
#ifndef PLI_COMPUTE_H
#define PLI_COMPUTE_H

#include "load.h"

#define PLI_PIPELINE_COPIES 4u /* of every input, where devices work on several batches at once */

/* Tokens of the graph that the engine reserves memory for: -ub, the same number for each
 * sequence. */
uint64_t pli_graph_tokens(const pli_setup *setup);
uint64_t pli_output_rows(const pli_setup *setup);  /* rows of logits in it */
uint64_t pli_mask_element(const pli_setup *setup); /* bytes, as the caller fills a mask */
/* Width of the square matrices that rotate keys and values of this cache; 0: none does. */
uint64_t pli_key_rotation(const pli_shape *shape, const pli_setup *setup, bool sliding);
uint64_t pli_value_rotation(const pli_shape *shape, const pli_setup *setup, bool sliding);
/* Do the devices work on several batches at once (layer split, everything on them)? */
bool pli_is_pipelined(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites);

/* Fills compute and compute_kind of every site; after the weights and the cache. */
void pli_bound_compute(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                       const pli_sites *sites, pli_plan *plan);

/* Tokens of a batch that attention without a cache sees. */
uint64_t pli_batch_cells(pli_calc *calc, const pli_setup *setup);

#endif
