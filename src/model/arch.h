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
    PLI_STATE_SHORTCONV,
    PLI_STATE_KDA,
    PLI_STATE_LINEAR,
} pli_state_rule;
typedef enum pli_slide_rule {
    PLI_SLIDE_NEVER,
    PLI_SLIDE_LAST,
    PLI_SLIDE_FIRST,
    PLI_SLIDE_LISTED,
    PLI_SLIDE_ALL,
} pli_slide_rule;

/* ---- the cache ---- */
#define PLI_ARCH_LATENT (1u << 0)     /* one latent row a token where key_length_mla is given */
#define PLI_ARCH_NO_CACHE (1u << 1)   /* attends without a cache */
#define PLI_ARCH_KV_20 (1u << 2)      /* the first 20 layers own a cache, the others read theirs */
#define PLI_ARCH_INDEXED (1u << 3)    /* keys of an indexer, which chooses what is attended to */
#define PLI_ARCH_INDEX_LATE (1u << 4) /* ... on the layers behind leading_dense_block_count */
#define PLI_ARCH_INDEX_LISTED (1u << 5) /* ... on those of indexer.types alone, where it is there */
#define PLI_ARCH_INDEX_GLM (1u << 6)    /* ... by the published models' list, where it is not */
#define PLI_ARCH_COMPRESSED (1u << 7)   /* caches of groups of tokens, by compress_ratios */
#define PLI_ARCH_ROUTER (1u << 8)       /* one more layer, of one head, behind the last */
#define PLI_ARCH_LOOPS (1u << 9)        /* the layers run num_loops times, each time with a cache */
#define PLI_ARCH_ONE_SHIFT (1u << 10)   /* rwkv: one shifted token instead of two */
#define PLI_ARCH_HISTORY (1u << 11)     /* n-gram embeddings: a layer of ple.layers keeps rows */
#define PLI_ARCH_NEXTN_CACHED (1u << 28) /* layers that predict further tokens have a cache */
/* ---- the window ---- */
#define PLI_ARCH_WINDOW_FIXED (1u << 12) /* the row's; the file can only turn it off with 0 */
#define PLI_ARCH_WINDOW_ASKED (1u << 13) /* none unless the file names one */
#define PLI_ARCH_SLIDES_AT_64 (1u << 14) /* only the 64-layer model has a window */
#define PLI_ARCH_CHUNKED (1u << 15)      /* windows do not overlap */
/* ---- the tensors ---- */
#define PLI_ARCH_HAS_HEAD (1u << 16)        /* no cache, and yet logits */
#define PLI_ARCH_NO_COPY (1u << 17)         /* its embeddings are the output where they lie */
#define PLI_ARCH_EMBEDDING_TWICE (1u << 18) /* a tied output is a copy even in the same memory */
#define PLI_ARCH_NORM_AT_OUTPUT (1u << 19)  /* token_embd_norm is the output's norm */
#define PLI_ARCH_FREQS_IN_FULL (1u << 27)   /* rope_freqs belongs to the layers without a window */
#define PLI_ARCH_NEXTN_BIAS (1u << 29)      /* layers that predict: their experts' bias is loaded */
#define PLI_ARCH_NEXTN_HEAD (1u << 30)      /* ... their own embeddings and head are */
#define PLI_ARCH_NEXTN_FEED (1u << 31)      /* ... all of their feed-forward is */
#define PLI_ARCH_NEXTN_NORMS (UINT64_C(1) << 32) /* ... norms and gates of their attention are */
/* ---- the graph ---- */
#define PLI_ARCH_NO_POSITIONS (1u << 20) /* no input of positions: no rotary embedding */
#define PLI_ARCH_THIRD_INPUT (1u << 21)  /* one more input of a number for each token */
#define PLI_ARCH_WIDE_GRAPH (1u << 22)   /* needs more than the bound of plain attention */
#define PLI_ARCH_ROPE_SWITCH (1u << 23)  /* rope.scaling.finetuned false: no rotary embedding */
#define PLI_ARCH_NO_FLASH (1u << 24)     /* flash attention is off, whatever is asked for */
/* ---- what is not known ---- */
#define PLI_ARCH_INEXACT (1u << 25) /* rules not held against the engine */
#define PLI_ARCH_UNKNOWN (1u << 26) /* no row */

typedef struct pli_arch {
    const char *name;
    pli_layer_rule layers;
    pli_state_rule state;
    pli_slide_rule slide;
    uint64_t period, window;
    uint64_t flags;
} pli_arch;
const pli_arch *pli_arch_find(pli_str name); /* never NULL: the row of the unknown */

/* The row that a model's general.architecture names. */
const pli_arch *pli_arch_of(const pli_model *model);

/* Layers as the engine counts them: block_count, and those that it adds. 0: the file does not
 * say. */
uint64_t pli_arch_layers(const pli_arch *arch, const pli_model *model);
/* ... and those of them that are not there to predict further tokens. */
uint64_t pli_arch_trunk(const pli_arch *arch, const pli_model *model);

/* The block of the file that a layer of the engine is. False: none of them (a router). */
bool pli_arch_block(const pli_arch *arch, const pli_model *model, uint64_t layer, uint64_t *block);

typedef struct pli_layer_kind { /* none of the first three: a feed-forward of its own */
    bool attends;
    bool recurrent;
    bool predicts;  /* further tokens: not run, and not loaded */
    bool slides;    /* attends to a window only */
    bool shares;    /* reads another layer's cache */
    bool sparse;    /* attends to what an indexer chose ... */
    bool indexed;   /* ... and keeps that indexer's keys */
    bool remembers; /* rows of the n-gram embeddings */
    uint64_t ratio; /* tokens compressed to one row; 0: none */
} pli_layer_kind;
pli_layer_kind pli_arch_layer(const pli_arch *arch, const pli_model *model, uint64_t layer);
/* Tokens that sliding layers attend to; 0: no layer slides. */
uint64_t pli_arch_window(const pli_arch *arch, const pli_model *model);

/* A number of the header, or `otherwise` where it is absent. */
uint64_t pli_model_number(const pli_model *model, const char *key, uint64_t otherwise);
bool pli_model_flag(const pli_model *model, const char *key, bool otherwise);
uint64_t pli_model_layer_number(const pli_model *model, const char *key, uint64_t layer,
                                uint64_t otherwise);

#endif
