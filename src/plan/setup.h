/* How the model would be run: the caller's options with the engine's own defaults and limits
 * applied, so that below this every number is settled. The context's arithmetic is
 * llama-context.cpp's (llama.cpp b7847). */
#ifndef PLI_SETUP_H
#define PLI_SETUP_H

#include <plimsoll/plan.h>

#include "pattern.h"
#include "shape.h"

/* What a generation does. */
#define PLI_GEN_WINDOW_BY_BATCH                                                                    \
    (1u << 0) /* a window's cells grow with the logical batch, not the physical one */
#define PLI_GEN_SHORT_PAD                                                                          \
    (1u << 1) /* without flash attention the context is a multiple of 32, not 256 */
#define PLI_GEN_AUTO_SLOTS                                                                         \
    (1u << 2) /* the server takes four slots that share one cache, unless told */
#define PLI_GEN_TWO_INPUTS (1u << 3) /* both kinds of embedding inputs are reserved (PR #18550) */
#define PLI_GEN_SLOT_LOGITS                                                                        \
    (1u << 4) /* logits are reserved for one row a slot, not one a token (PR #23861) */
#define PLI_GEN_WHOLE_HYBRID                                                                       \
    (1u << 5) /* a hybrid's separate slots get a whole context each (fixed later in 2026) */
#define PLI_GEN_CHECKED                                                                            \
    (1u << 6) /* compute buffers were held against the engine's own, setting by setting */
#define PLI_GEN_UNIT_SCALE                                                                         \
    (1u << 7) /* weights of experts are multiplied by expert_weights_scale even where it is 1 */
#define PLI_GEN_FUSED_DELTA (1u << 8) /* the gated delta rule is one operation */
#define PLI_GEN_LATE_ROWS                                                                          \
    (1u << 9) /* architectures that predict more tokens norm every row before some are taken */
#define PLI_GEN_ROTATED_CACHE                                                                      \
    (1u << 10) /* what goes into a quantised cache is rotated, and what comes out (PR #21038) */
#define PLI_GEN_HALF_MASK                                                                          \
    (1u << 11) /* masks are filled as f16 where flash attention reads them, not cast on a device */
#define PLI_GEN_EVERY_INPUT                                                                        \
    (1u << 12) /* a pipeline holds copies of inputs that nothing reads; splits take any number */
#define PLI_GEN_FREE_SINKS (1u << 13) /* attention is not drawn to where its sinks lie */
#define PLI_GEN_PADDED_BATCH                                                                       \
    (1u << 27) /* attention without a cache pads keys and values to 256 tokens */
#define PLI_GEN_MIXED_INPUT                                                                        \
    (1u << 14) /* a third kind of input is reserved: embeddings of some tokens among the others */
#define PLI_GEN_FLAT_SCAN                                                                          \
    (1u << 15) /* Mamba 2 projects all tokens at once; what Mamba's step is made of is copied */
#define PLI_GEN_STEADY_STATES                                                                      \
    (1u << 16) /* recurrent layers are drawn the same for any number of sequences */
#define PLI_GEN_PROMPT_SUMS                                                                        \
    (1u << 17) /* experts' results are added up where they are made, not where they are needed */
#define PLI_GEN_NORM_AT_FIRST                                                                      \
    (1u << 18) /* the embeddings' norm lies with the first layer, not the input (PR #20943) */
#define PLI_GEN_NO_WINDOW (1u << 19)    /* sliding layers cache the whole context like the others */
#define PLI_GEN_MLA_OPTION (1u << 20)   /* -mla says what latent attention caches */
#define PLI_GEN_NEXTN_CACHED (1u << 21) /* layers of next-token prediction have a cache, too */
#define PLI_GEN_TABLE_AT_INPUT                                                                     \
    (1u << 22) /* embeddings for each layer are the input's, not the output's */
#define PLI_GEN_ONE_LATENT_TYPE                                                                    \
    (1u << 23) /* a cache of latent rows refuses a type of values that is not the keys' */
#define PLI_GEN_TURNED_TAIL                                                                        \
    (1u << 24) /* the part of a head that rotates is not taken out of it and put back */
#define PLI_GEN_ANY_HEAD                                                                           \
    (1u << 25) /* heads need whole blocks of the cache's type for flash attention alone */
#define PLI_GEN_LOAD_MODE (1u << 26) /* -lm none is how --no-mmap is said */
#define PLI_GEN_KEPT_HIDDEN                                                                        \
    (1u << 30) /* some architectures keep what enters the output norm, for drafts */
#define PLI_GEN_BATCH_LOGITS (1u << 29) /* ... or for every token asked for */

typedef struct pli_generation {
    const char *name;
    uint64_t build;
    const char *what;
    unsigned flags;
} pli_generation;

typedef enum pli_split { PLI_SPLIT_NONE, PLI_SPLIT_LAYER, PLI_SPLIT_ROW } pli_split;

#define PLI_NOT_TAKEN UINT8_MAX
typedef struct pli_override {
    pli_pattern *pattern;
    const char *text;   /* PATTERN=BUFFER, as written */
    const char *buffer; /* "CPU", "CUDA0" ... */
    size_t site;        /* which memory that is (pli_resolve) */
} pli_override;

typedef struct pli_setup {
    const pli_generation *generation;
    bool checked; /* ... and it is that very version whose compute buffers were held against it */
    uint64_t context, context_per_sequence, streams, sequences;
    uint64_t batch, ubatch;             /* at most the context asked for ... */
    uint64_t batch_asked, ubatch_asked; /* ... whatever was asked for */
    uint64_t outputs;    /* rows of logits that are reserved; 0: as the generation's server does */
    uint64_t gpu_layers; /* at most layers + 1; the caller's wish, whatever devices there are */
    const pli_quant *type_k, *type_v;
    bool flash, unified, swa_full, kv_offload, op_offload, mmap, repack;
    pli_split split;
    const double *shares; /* of -ts; NULL: by free memory */
    size_t share_count;
    uint64_t main_gpu;
    pli_override *overrides;
    size_t override_count;
    const uint8_t *taken; /* by tensor: the site that -ot gives it, or PLI_NOT_TAKEN; NULL: none */
    const struct pli_extras *extras; /* what is loaded beside the model (extras.h), or NULL */
    uint64_t drafted;                /* tokens that a draft proposes at a time; 0: there is none */
    uint64_t rollback;               /* more copies of each recurrent state, to go back to */
    bool context_given, sequences_given, flash_given, gpu_layers_given;
    double line_passed, line_warning;
    uint64_t fit_context;       /* --fit-ctx */
    const uint64_t *fit_target; /* --fit-target in MiB: one for all devices, or one each */
    size_t fit_target_count;
    double host_bandwidth; /* bytes a second; 0: unknown */
    /* of a change that sets setup->taken by itself */
    uint64_t host_experts;      /* -ncmoe: layers whose experts are on the host */
    const char *overrides_text; /* -ot */
} pli_setup;

/* Bytes that --fit leaves free on a device. */
uint64_t pli_fit_target(const pli_setup *setup, size_t device);

/* Fills *setup from options. INVALID: a value that the engine refuses, its flag in
 * error->subject. */
plim_status pli_setup_read(pli_arena *arena, const pli_shape *shape,
                           const plim_fit_options *options, plim_error *error, pli_setup *setup);

/* The same run with another context (tokens asked for): every number that follows from it. */
plim_status pli_setup_context(pli_setup *setup, uint64_t asked, plim_error *error);

/* What this generation of the engine (or a fork of it) keeps differently of a model; before
 * pli_setup_read(). INVALID as above. */
plim_status pli_shape_for_engine(pli_shape *shape, const plim_fit_options *options,
                                 plim_error *error);

/* "llama.cpp", "llama.cpp@b7847", "ik_llama.cpp"; NULL text is the newest. NULL when unknown or
 * older than the first row. */
const pli_generation *pli_generation_find(const char *engine);
const char *pli_split_name(pli_split split);
const pli_quant *pli_cache_type(const char *name); /* NULL is f16; NULL when it is none */

#endif
