/* The gated delta rule, as one operation (graph_delta.c) or written out in chunks
 * (graph_delta_chunks.c), between the templates that have it. */
#ifndef PLI_GRAPH_DELTA_H
#define PLI_GRAPH_DELTA_H

#include "graph_build.h"

typedef struct pli_delta { /* figures of a layer */
    uint64_t head, key_heads, heads;
    uint64_t mixed;  /* a token's queries, keys and values behind each other */
    uint64_t length; /* tokens of a sequence */
} pli_delta;
pli_delta pli_delta_of(const pli_builder *b);

typedef struct pli_delta_rule { /* what the rule reads */
    pli_id mixed;               /* queries, keys and values, convolved */
    pli_id decay, beta;         /* what of the state is kept, what of a token written */
    pli_id state;               /* [head x head, heads, sequences] */
} pli_delta_rule;

/* The rule as one operation: of queries, keys, values, decays, betas and the state; *next: the
 * state after. A row for each head and token. */
pli_id pli_delta_at_once(pli_builder *b, const pli_delta *d, const pli_id operand[6], pli_id *next);
/* The rule in chunks of tokens, from its operands to a row for each head and token; *next: the
 * state after. */
pli_id pli_delta_in_chunks(pli_builder *b, const pli_delta *d, const pli_delta_rule *rule,
                           pli_id *next);
/* Constants that every layer's chunks read. */
void pli_delta_chunk_inputs(pli_builder *b);
bool pli_delta_chunks_fit(const pli_builder *b);

#endif
