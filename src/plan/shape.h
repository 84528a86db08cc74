/* The model as the planner sees it: an architecture's row applied to the file's metadata, layer
 * by layer. Below this nobody asks for metadata or an architecture's name again. */
#ifndef PLI_SHAPE_H
#define PLI_SHAPE_H

#include "../model/arch.h"
#include "calc.h"

#define PLI_STATE_TENSORS 4

typedef struct pli_layer {
    bool attends, recurrent, slides;
    bool cached; /* attends and owns a cache */
    uint64_t heads, heads_kv;
    uint64_t key_length, value_length; /* of a head */
    uint64_t feed_forward;
    bool routed;                     /* its feed-forward is a mixture of experts */
    uint64_t key_width, value_width; /* elements that the cache keeps of a token ... */
    uint64_t index_key, index_value; /* ... and that of an indexer */
    uint64_t ratio;                  /* tokens compressed to one row of a further cache; 0: none */
    uint64_t state[PLI_STATE_TENSORS]; /* f32 elements that it keeps of a sequence, by tensor */
    uint64_t names; /* equal where two layers hold tensors of the same names and shapes */
    uint64_t bytes; /* ... and types */
    uint32_t tensors, first_tensor; /* of shape->in_layer */
} pli_layer;

/* A selective scan's figures. */
typedef struct pli_scan {
    uint64_t kernel, inner, state, rank, groups;
    bool normed; /* Mamba: what the scan reads is normed */
} pli_scan;

typedef struct pli_shape {
    struct pli_graph *graph; /* memory that replays use again (graph.h); NULL: no replay */
    const pli_model *model;
    const pli_arch *arch;
    pli_layer *layer;
    const struct pli_role *role; /* of each tensor (roles.h) */
    const uint32_t *in_layer;    /* the layers' tensors, one layer after the other */
    uint64_t layers;             /* as -ngl counts them */
    uint64_t run_layers;         /* without next-token-prediction layers at the end */
    uint64_t embedding, vocabulary;
    uint64_t trained;                  /* tokens of context; 0: unknown */
    uint64_t window;                   /* of sliding layers; 0: none slides */
    uint64_t key_length, value_length; /* of a head */
    uint64_t value_width_max;
    uint64_t state_conv, state_scan; /* f32 elements of a recurrent layer and sequence */
    pli_scan scan;
    uint64_t experts, experts_used, expert_width, shared_width, dense_lead;
    uint64_t expert_groups, groups_used; /* 0: experts are chosen among all */
    uint64_t query_rank;                 /* of compressed queries; 0: there are none */
    uint64_t rotary;                     /* elements of a head that rotate */
    uint64_t latent_rank;                /* of compressed keys and values; 0: there are none */
    uint64_t full_key_length, full_value_length; /* of a head once it is decompressed */
    bool latent;                                 /* one latent row instead of keys and values */
    bool hybrid;                                 /* attention and recurrent layers */
    bool rotates;                                /* has positions for an input */
    bool scaled;   /* matrices have factors of their own (NVFP4), not all of which are drawn */
    bool has_head; /* computes logits */
    /* of any layer: it slides, has an indexer, compresses, keeps a state */
    bool any_slides, any_index, any_ratio, any_state;
    const char *lacking; /* first missing key without which only weights are known; or NULL */
} pli_shape;

/* Reads it. *shape refers to model and arena. LIMIT: figures of the header whose products
 * overflow or that exceed a cap (named in *error). A key that is absent is no error:
 * shape->lacking. */
plim_status pli_shape_read(pli_arena *arena, const pli_model *model, plim_error *error,
                           pli_shape *shape);

#endif
