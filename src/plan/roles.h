/* What each tensor of a model is for, read from its name once: where the engine puts it, which
 * part of a layer it is. Placing a model's weights then reads no text. */
#ifndef PLI_ROLES_H
#define PLI_ROLES_H

#include "shape.h"

typedef enum pli_place {
    PLI_AT_INPUT,
    PLI_AT_FIRST, /* the embeddings' norm: with the first layer, or the input */
    PLI_AT_TABLE, /* embeddings for each layer: with the input, or the output */
    PLI_AT_MIXER, /* what makes them a layer's: with the first layer, or the output */
    PLI_AT_LAYER,
    PLI_AT_EVERY_LAYER,
    PLI_AT_OUTPUT,
    PLI_NOT_LOADED,
} pli_place;

/* Of a layer's feed-forward, as llama.cpp's --fit cuts it. */
#define PLI_PART_UP 1u
#define PLI_PART_GATE 2u
#define PLI_PART_DOWN 4u
#define PLI_PART_EXPERTS 8u /* and it holds experts */

typedef struct pli_role {
    uint32_t layer;
    uint16_t skip; /* bytes of "blk.N." */
    uint16_t left; /* ... and behind them */
    uint8_t place; /* pli_place */
    uint8_t part;  /* PLI_PART_*; 0: no feed-forward matrix */
    uint8_t use;   /* pli_use */
} pli_role;

/* Fills shape->role and in_layer, and names, bytes and tensors of every layer. NOMEM. */
plim_status pli_roles_read(pli_arena *arena, pli_shape *shape);

/* "blk.LAYER.NAME.SUFFIX", without the suffix where that is NULL; NULL: there is none such. */
const pli_tensor *pli_layer_tensor(const pli_shape *shape, uint64_t layer, const char *name,
                                   const char *suffix);

#endif
