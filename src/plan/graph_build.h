/* What the templates of a graph share: the builder and its words. A template draws one family of
 * architectures; which, and with what flags, says graphs.def. */
#ifndef PLI_GRAPH_BUILD_H
#define PLI_GRAPH_BUILD_H

#include "graph.h"
#include "roles.h"

/* What a file does not tell by its tensors: norms of queries and keys, a fused matrix, a gate, a
 * shared expert, biases follow from what is there. */
#define PLI_GRAPH_ROW_NORM (1u << 0)    /* queries, keys are normed a row at a time, not a head */
#define PLI_GRAPH_TURNED_NORM (1u << 1) /* ... after they rotate */
#define PLI_GRAPH_POST_NORM (1u << 2)   /* attention and feed-forward are normed after, too */
#define PLI_GRAPH_POST_ONLY (1u << 3)   /* ... only after */
#define PLI_GRAPH_EMBED_SCALE (1u << 4) /* embeddings are scaled */
#define PLI_GRAPH_QUERY_SCALE (1u << 5) /* queries are scaled */
#define PLI_GRAPH_RESIDUAL_SCALE (1u << 6)  /* what is added to the residual is scaled */
#define PLI_GRAPH_LOGIT_SCALE (1u << 7)     /* logits are scaled */
#define PLI_GRAPH_LOGIT_CAP (1u << 8)       /* logits are capped: scaled, tanh, scaled */
#define PLI_GRAPH_SCORE_CAP (1u << 9)       /* the same for attention scores */
#define PLI_GRAPH_PARALLEL (1u << 10)       /* attention beside feed-forward: fed + residual + it */
#define PLI_GRAPH_PARALLEL_SUM (1u << 11)   /* ... fed + (it + residual) */
#define PLI_GRAPH_PARALLEL_JOIN (1u << 12)  /* ... fed + it + residual */
#define PLI_GRAPH_PARALLEL_AFTER (1u << 13) /* ... it + fed + residual */
#define PLI_GRAPH_LAYER_NORM (1u << 14)     /* layer norm instead of RMS norm */
#define PLI_GRAPH_NO_ROPE (1u << 15)        /* nothing rotates */
#define PLI_GRAPH_ROPE_SLIDING (1u << 16)   /* where layers slide, only those rotate */
#define PLI_GRAPH_ROPE_STEP (1u << 17)      /* every fourth layer does not rotate */
#define PLI_GRAPH_RESIDUAL_FIRST (1u << 18) /* residual + fed, not fed + residual */
#define PLI_GRAPH_GATE_NORMED (1u << 19)    /* weights of the chosen are divided by their sum */
#define PLI_GRAPH_GATE_KEYED (1u << 20)     /* ... where the header says expert_weights_norm */
#define PLI_GRAPH_GATE_LATE (1u << 21)      /* softmax over the chosen only */
#define PLI_GRAPH_GATE_EARLY (1u << 22)     /* the input is weighted, not the results */
#define PLI_GRAPH_GATE_AHEAD (1u << 23)     /* the layer's input chooses */
#define PLI_GRAPH_SHARED_SILU (1u << 24)    /* the shared expert's gate is silu(x) / x */
#define PLI_GRAPH_SECTIONS (1u << 25)       /* four positions a token */
#define PLI_GRAPH_TEMPERED (1u << 26)       /* queries are scaled by position, if the header says */
#define PLI_GRAPH_SCAN2 (1u << 27)          /* Mamba 2, not Mamba */
#define PLI_GRAPH_KEYED_SCALES (1u << 28)   /* scales only where the file has a key for them */
#define PLI_GRAPH_PREDICTS (1u << 29)       /* may come with layers that predict more tokens */
#define PLI_GRAPH_TOKEN_SCALE (1u << 30)    /* of the embeddings, only tokens' are scaled */
#define PLI_GRAPH_ATTENDED_LAST ((uint64_t)1 << 32) /* residual + attended, not the reverse */
#define PLI_GRAPH_HIDDEN_SCALE ((uint64_t)1 << 33)  /* what logits are made of is scaled */
#define PLI_GRAPH_EXPERT_SCALES ((uint64_t)1 << 35) /* knows factors of experts (NVFP4) */
#define PLI_GRAPH_TABLE_AHEAD ((uint64_t)1 << 36)   /* each layer's embeddings come first of all */
#define PLI_GRAPH_FED_SCALES ((uint64_t)1 << 37)    /* ... and of a feed-forward's matrices */
#define PLI_GRAPH_ROPE_AT_32 ((uint64_t)1 << 34)    /* only the model of 32 layers rotates */
#define PLI_GRAPH_HIDDEN_KEPT ((uint64_t)1 << 40)   /* ... if the generation keeps it */
#define PLI_GRAPH_NORMED_BEFORE ((uint64_t)1 << 38) /* the layers' results are normed, no more is */
#define PLI_GRAPH_FIRST_BARE ((uint64_t)1 << 39) /* a layer without a norm's weight has no norm */

#define PLI_GRAPH_MAX_EXPERTS 64u /* used for a token */

/* The inputs of one cache. */
typedef struct pli_cache_input {
    pli_id keys, values;           /* where tokens are stored */
    pli_id mask;                   /* as the caller fills it */
    pli_id used;                   /* as attention reads it: f16 with flash attention */
    pli_id turn_keys, turn_values; /* matrices that rotate what a quantised cache keeps; or none */
    uint64_t cells;
} pli_cache_input;

typedef struct pli_builder {
    pli_graph *graph;
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    const pli_plan *plan;
    uint64_t flags;
    uint64_t tokens; /* of the batch */
    uint64_t rows;   /* still worked on: tokens, after the last attention those with an output */
    pli_id positions, outputs;
    pli_id temperature;       /* a factor for each token's queries; or none */
    pli_id places;            /* embeddings of the tokens' places; or none */
    pli_id scores;            /* of the experts, where they were taken before; or none */
    pli_id table_rows;        /* of the embeddings for each layer, not yet made a layer's */
    pli_id per_layer;         /* what each layer is told of its tokens; or none */
    pli_cache_input input[2]; /* full, sliding */
    uint64_t sequences;       /* among the tokens: as many of each */
    pli_id kept;              /* which states there are: an input; parts of it: */
    pli_id states, spare;     /* which go on in this batch, and which are only moved */
    uint64_t spares;          /* of the latter */
    struct {
        pli_id slopes, query, key, pair;
    } decay; /* of lightning attention */
    struct {
        pli_id before, identity, until; /* constants of a chunk's size */
    } chunk;                            /* of the delta rule written out */
    pli_id first_value;                 /* rwkv 7: the first layer's, which the others draw on */
    uint64_t il;
    bool folds;               /* layers that repeat are left out */
    uint64_t contiguous_from; /* since the last that was */
    int like, or_like;        /* edges; at the next, the free blocks must be as at one of them */
} pli_builder;

/* How one family of architectures draws its graph. */
typedef struct pli_template {
    bool (*fits)(const pli_builder *b); /* does it draw this model exactly, b->flags given? */
    void (*inputs)(pli_builder *b);     /* what the layers read beside the embeddings */
    /* Layer b->il; the next one's input. Depends on the layer's figures in pli_layer, its tensors'
     * names, shapes and places, and on whether it is the last; else: numbered. */
    pli_id (*layer)(pli_builder *b, pli_id hidden);
    bool numbered; /* layers differ by their number alone: all are drawn */
} pli_template;
extern const pli_template pli_template_delta;
extern const pli_template pli_template_arctic;
extern const pli_template pli_template_bert;
extern const pli_template pli_template_deci, pli_template_dense;
extern const pli_template pli_template_gemma3n, pli_template_gemma4;
extern const pli_template pli_template_kimi;
extern const pli_template pli_template_latent;
extern const pli_template pli_template_llama4;
extern const pli_template pli_template_rwkv6, pli_template_rwkv7;
extern const pli_template pli_template_scan;
extern const pli_template pli_template_shortconv;
extern const pli_template pli_template_hybrid, pli_template_jamba, pli_template_nemotron;
extern const pli_template pli_template_falcon_h1, pli_template_plamo2;
extern const pli_template pli_template_lightning;

/* Attention and a feed-forward in every layer, with the weights that the flags ask for. */
bool pli_dense_fits(const pli_builder *b);

/* Leaving out layers that repeat (graph_fold.c): before the first, before each, after each. */
bool pli_fold_begin(pli_builder *b, bool wanted);
void pli_fold_layer(pli_builder *b);
uint64_t pli_fold_next(pli_builder *b);

static inline pli_dims pli_dims_of(uint64_t a, uint64_t b, uint64_t c)
{
    return (pli_dims){{a, b, c}};
}

/* Whose weight: the input's, the embeddings' norm's, this layer's ("blk.N." before its name), the
 * output's. */
typedef enum pli_whose {
    PLI_OF_INPUT,
    PLI_OF_FIRST,
    PLI_OF_TABLE, /* embeddings for each layer, and ... */
    PLI_OF_MIXER, /* ... what makes them a layer's (roles.h) */
    PLI_OF_LAYER,
    PLI_OF_OUTPUT,
} pli_whose;
pli_id pli_build_weight(pli_builder *b, const char *name, const char *suffix, pli_whose whose);
/* This layer's weight in other dimensions: it does not draw an operation, and may be copied from
 * one device to another. */
pli_id pli_build_weight_as(pli_builder *b, const char *name, pli_dims dims);
/* This layer's tensor, "ffn_up.weight"; NULL: the file has none. */
const pli_tensor *pli_build_tensor(const pli_builder *b, const char *name);
/* Columns of this layer's matrix of that name, as far as they may be multiplied. */
uint64_t pli_build_columns(const pli_builder *b, const char *name, uint64_t otherwise);
/* Adds the bias of this name where there is one on the host; on a device the addition changes
 * nothing. chosen: the experts it is for, or none. */
pli_id pli_build_biased(pli_builder *b, pli_id id, const char *name, pli_id chosen);
/* The same for the output's. */
pli_id pli_build_output_biased(pli_builder *b, pli_id id, const char *name);
/* weight x input (+ bias): width elements a row. */
pli_id pli_build_product(pli_builder *b, const char *weight, pli_id input, uint64_t width);
/* The same on each sequence by itself: lending looks at the tokens of one. */
pli_id pli_build_product_each(pli_builder *b, const char *weight, pli_id input, uint64_t width);
pli_id pli_build_op(pli_builder *b, pli_op op, pli_dims dims, pli_id first, pli_id second);
pli_id pli_build_input(pli_builder *b, uint64_t elements, uint64_t size);
pli_id pli_build_new(pli_builder *b, pli_dims dims, pli_id first, pli_id second); /* new memory */
pli_id pli_build_anew(pli_builder *b, pli_id operand); /* new memory, as large as the operand */
pli_id pli_build_onto(pli_builder *b, pli_id first, pli_id second); /* may take over an operand */
pli_id pli_build_where(pli_builder *b, pli_id operand); /* overwrites it, whoever else reads it */
pli_id pli_build_view(pli_builder *b, pli_id of, pli_dims dims);
pli_id pli_build_clamped(pli_builder *b, pli_id id);
/* Part of a larger result, whose second and third dimension step over so many elements: a copy
 * reaches from the part's first element to its last. */
pli_id pli_build_part(pli_builder *b, pli_id of, pli_dims dims, uint64_t step1, uint64_t step2);
/* Part of each of n[2] rows of `width`. */
pli_id pli_build_slice(pli_builder *b, pli_id rows, pli_dims dims, uint64_t width);
/* Of those weights of the layer the one that the file has, else the last. */
const char *pli_build_either(const pli_builder *b, const char *first, const char *second);
pli_id pli_build_places(pli_builder *b); /* b->places */
/* The embedding of a token's place beside that of the token, and their norm, if there are any. */
pli_id pli_build_placed(pli_builder *b, pli_id embedded);
void pli_build_table_rows(pli_builder *b, uint64_t width); /* b->table_rows */
/* [width, tokens, layers]: what each layer is told of its tokens beside the embeddings. */
pli_id pli_build_layer_embeddings(pli_builder *b, pli_id embedded, uint64_t width);
/* Does layer il rotate? */
bool pli_build_rotates(const pli_builder *b, uint64_t il);
/* Multiplied, row by row of its width, with a square matrix; as it is without one. */
pli_id pli_build_rotated(pli_builder *b, pli_id id, pli_id by);
pli_id pli_build_norm(pli_builder *b, pli_id input, const char *weight, pli_whose whose);
pli_id pli_build_norm_by(pli_builder *b, pli_id input, pli_id weight);
/* Does the layer have this weight? */
bool pli_build_has(const pli_builder *b, const char *name);
/* Positions, rows with an output, and what stores into and masks each cache; each by itself. */
void pli_build_attention_inputs(pli_builder *b);
void pli_build_position_input(pli_builder *b);
void pli_build_output_input(pli_builder *b);
void pli_build_cache_inputs(pli_builder *b);
/* Rotates by the positions; where those are no input, nothing does. */
pli_id pli_build_rope(pli_builder *b, pli_id operand);
/* The rows whose logits are wanted, in the last layer. */
pli_id pli_build_wanted_rows(pli_builder *b, pli_id of);
/* The same for two, the second of which may be NULL, in the last layer; b->rows follows. Where it
 * is done after the output norm: nothing. */
void pli_build_last_rows(pli_builder *b, pli_id *first, pli_id *second);
/* Queries, keys, values: [length, heads, tokens], through one matrix or three, not yet turned. */
typedef struct pli_heads {
    pli_id query, key, value;
} pli_heads;
pli_heads pli_build_heads(pli_builder *b, pli_id x);
/* The layer's attention over its cache, by the flags, from the normed input to the output
 * projection. */
pli_id pli_build_attention(pli_builder *b, pli_id x);
/* Its parts: layer il's cache tensor; storing into it; what attention sees of it; the attention
 * itself. */
pli_id pli_build_cache(pli_builder *b, uint64_t il);
void pli_build_store(pli_builder *b, pli_id what, pli_id where, pli_id cache);
typedef struct pli_cached {
    pli_id cache;
    const pli_quant *type;
    uint64_t head, count, width; /* `count` heads of `head` elements, of rows of `width` */
} pli_cached;
pli_id pli_build_cached(pli_builder *b, const pli_cached *cached, const pli_cache_input *in);
typedef struct pli_attention {
    pli_id query, keys, values;
    uint64_t value_length;
    pli_id gate;              /* a factor for its result; or none */
    pli_id expand;            /* the weight that decompresses its result; or none */
    uint64_t expanded_length; /* ... to heads of this length */
} pli_attention;
pli_id pli_build_attend(pli_builder *b, const pli_attention *attention, const pli_cache_input *in);
pli_id pli_build_queries(pli_builder *b, pli_id query, uint64_t length); /* as it reads them */
/* Keys and values stored and attended to; the same over caches that were filled before. Both up
 * to the output projection. */
pli_id pli_build_attention_of(pli_builder *b, pli_id query, pli_id key, pli_id value);
/* The same with a factor for the result, before the projection. */
pli_id pli_build_attention_gated(pli_builder *b, pli_id query, pli_id key, pli_id value,
                                 pli_id gate);
pli_id pli_build_attention_over(pli_builder *b, pli_id query, pli_id keys, pli_id values);
/* The layer around its attention, or what stands in its place, by the flags: norms, residual
 * sums, feed-forward. */
typedef pli_id (*pli_mixer)(pli_builder *b, pli_id x);
pli_id pli_build_layer(pli_builder *b, pli_id residual, pli_mixer mix);

/* Attention over compressed keys and values, from the normed input to the output projection; are
 * its figures such that it can be drawn? (graph_latent.c) */
pli_id pli_build_latent_attention(pli_builder *b, pli_id x);
bool pli_latent_fits(const pli_builder *b);

/* Which states go on: the input of layers that keep a state (graph_state.c). */
void pli_build_state_inputs(pli_builder *b);
/* One of a layer's two states, width elements for each sequence. */
typedef struct pli_state {
    pli_id cache; /* where it is kept */
    pli_id all;   /* the same as rows, one a sequence */
    uint64_t width;
} pli_state;
/* Begins to use a state: one row is cleared for new sequences. Then comes what reads its rows, one
 * a sequence: pli_build_state_loaded, which gives them, or an operation that looks b->states up in
 * state->all itself, expanded, and pli_build_state_moved. */
pli_state pli_build_state(pli_builder *b, uint64_t width);
pli_id pli_build_state_loaded(pli_builder *b, const pli_state *state);
void pli_build_state_moved(pli_builder *b, const pli_state *state);
/* Writes a view of width elements for each sequence back, and expands that. */
void pli_build_state_store(pli_builder *b, const pli_state *state, pli_id what);

/* A layer of Mamba, of Mamba 2, from the normed input to the output projection. */
pli_id pli_build_scan(pli_builder *b, pli_id x);
pli_id pli_build_scan2(pli_builder *b, pli_id x);
pli_id pli_build_scan_heads(pli_builder *b, pli_id x); /* Mamba as plamo2 has it: in heads */
/* Is the model's such that it can be drawn? */
bool pli_scan_fits(const pli_builder *b);

/* Feed-forward of this width through weights "ffn_up", "ffn_gate", "ffn_down" + suffix. */
pli_id pli_build_feed_forward(pli_builder *b, pli_id input, uint64_t width, const char *suffix);
pli_id pli_build_experts(pli_builder *b, pli_id input);
/* The one or the other, as the layer has it. */
pli_id pli_build_layer_feed_forward(pli_builder *b, pli_id input);

#endif
