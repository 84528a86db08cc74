/* What is known of architectures beside what their files say: the rows of arch.def, and which
 * layers of a model do what by them. */
#ifndef PLI_ARCH_H
#define PLI_ARCH_H

#include "model.h"

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
#define PLI_ARCH_WIDE_GRAPH 8192u   /* its batches need more than the bound of plain attention */
#define PLI_ARCH_UNKNOWN 16384u     /* no row */
#define PLI_ARCH_ROPE_SWITCH 32768u /* rope.scaling.finetuned false: no rotary embedding */

typedef struct pli_arch {
    const char *name;
    pli_layer_rule layers;
    pli_state_rule state;
    pli_slide_rule slide;
    uint64_t period, window;
    unsigned flags;
} pli_arch;
const pli_arch *pli_arch_find(pli_str name); /* never NULL: the row of the unknown */

/* The row that a model's general.architecture names. */
const pli_arch *pli_arch_of(const pli_model *model);

typedef struct pli_layer_kind { /* neither: a feed-forward of its own */
    bool attends;
    bool recurrent;
    bool slides; /* attends to a window only */
} pli_layer_kind;
pli_layer_kind pli_arch_layer(const pli_arch *arch, const pli_model *model, uint64_t layer);
/* Tokens that sliding layers attend to; 0: no layer slides. */
uint64_t pli_arch_window(const pli_arch *arch, const pli_model *model);

/* A number of the header, or `otherwise` where it is absent. */
uint64_t pli_model_number(const pli_model *model, const char *key, uint64_t otherwise);
uint64_t pli_model_layer_number(const pli_model *model, const char *key, uint64_t layer,
                                uint64_t otherwise);

#endif
