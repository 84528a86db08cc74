/* The model as the planner sees it: an architecture's row applied to the file's metadata, layer
 * by layer. Below this nobody asks for metadata or an architecture's name again. */
#ifndef PLI_SHAPE_H
#define PLI_SHAPE_H

#include "../model/model.h"
#include "calc.h"

typedef enum pli_layer_rule {
    PLI_LAYERS_ATTENTION,
    PLI_LAYERS_RECURRENT,
    PLI_LAYERS_HEADLESS,
    PLI_LAYERS_NEMOTRON,
    PLI_LAYERS_BOTH,
    PLI_LAYERS_INTERVAL,
} pli_layer_rule;
typedef enum pli_state_rule {
    PLI_STATE_NONE,
    PLI_STATE_SSM,
    PLI_STATE_WKV,
    PLI_STATE_SHORTCONV
} pli_state_rule;
typedef enum pli_slide_rule {
    PLI_SLIDE_NEVER,
    PLI_SLIDE_LAST,
    PLI_SLIDE_FIRST,
    PLI_SLIDE_LISTED
} pli_slide_rule;

#define PLI_ARCH_INEXACT 1u          /* the cache's rule is not known in full */
#define PLI_ARCH_LATENT 2u           /* caches one latent row where key_length_mla is given */
#define PLI_ARCH_NEXTN 4u            /* the last nextn_predict_layers are not loaded */
#define PLI_ARCH_NO_CACHE 8u         /* attends without a cache */
#define PLI_ARCH_HAS_HEAD 16u        /* ... but still computes logits */
#define PLI_ARCH_KV_20 32u           /* the first 20 layers own a cache, the others read theirs */
#define PLI_ARCH_EMBEDDING_TWICE 64u /* a tied output is a second copy even in the same memory */
#define PLI_ARCH_NORM_AT_OUTPUT 128u /* token_embd_norm is the output's norm */
#define PLI_ARCH_ONE_SHIFT 256u      /* rwkv: one shifted token instead of two */
#define PLI_ARCH_WINDOW_FIXED                                                                      \
    512u /* the window is the row's; the file can only turn it off with 0 */
#define PLI_ARCH_SLIDES_AT_64 1024u /* only the 64-layer model has a window */
#define PLI_ARCH_NO_POSITIONS 2048u /* no input of positions: no rotary embedding */
#define PLI_ARCH_THIRD_INPUT 4096u  /* one more input of a number for each token */
#define PLI_ARCH_UNKNOWN 8192u      /* no row */

typedef struct pli_arch {
    const char *name;
    pli_layer_rule layers;
    pli_state_rule state;
    pli_slide_rule slide;
    uint64_t period, window;
    unsigned flags;
} pli_arch;
const pli_arch *pli_arch_find(pli_str name); /* never NULL: the row of the unknown */

typedef struct pli_layer {
    bool attends, recurrent, slides;
    bool cached; /* attends and owns a cache */
    uint64_t heads, heads_kv;
    uint64_t feed_forward;
    uint64_t key_width, value_width; /* elements that the cache keeps of a token */
} pli_layer;

typedef struct pli_shape {
    struct pli_graph *graph; /* memory that replays use again (graph.h); NULL: no replay */
    const pli_model *model;
    const pli_arch *arch;
    pli_layer *layer;
    uint64_t layers;     /* as -ngl counts them */
    uint64_t run_layers; /* without next-token-prediction layers at the end */
    uint64_t embedding, vocabulary;
    uint64_t trained;                  /* tokens of context; 0: unknown */
    uint64_t window;                   /* of sliding layers; 0: none slides */
    uint64_t key_length, value_length; /* of a head */
    uint64_t value_width_max;
    uint64_t state_conv, state_scan; /* f32 elements of a recurrent layer and sequence */
    uint64_t experts, experts_used, expert_width, shared_width, dense_lead;
    bool latent;         /* one latent row instead of keys and values */
    bool hybrid;         /* attention and recurrent layers */
    bool has_head;       /* computes logits */
    const char *lacking; /* first missing key without which only weights are known; or NULL */
} pli_shape;

/* Reads it. *shape refers to model and arena. LIMIT: figures of the header whose products
 * overflow or that exceed a cap (named in *error). A key that is absent is no error:
 * shape->lacking. */
plim_status pli_shape_read(pli_arena *arena, const pli_model *model, plim_error *error,
                           pli_shape *shape);

#endif
