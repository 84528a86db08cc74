/* Models by name: the rows of catalogue.def, and the model object that the published GGUF of one
 * in some quantization would give. */
#ifndef PLI_CATALOGUE_H
#define PLI_CATALOGUE_H

#include "mixture.h"

#define PLI_MORE_PARTS 4u
typedef struct pli_known_model {
    const char *name, *others, *title, *architecture, *source, *released;
    uint64_t parameters;
    const char *words;
    uint8_t parts[PLI_MORE_PARTS + 1]; /* beside the architecture's; ends with PLI_PARTS */
} pli_known_model;

/* Number i in the table's order; NULL past the last. */
const pli_known_model *pli_known_model_at(size_t i);

/* The row of a name as people type it, with or without a quantization behind it
 * ("qwen3-30b-a3b:q4_k_m", "Qwen/Qwen3-30B-A3B-GGUF"). *mixture is NULL where it names none. NULL:
 * no row. */
const pli_known_model *pli_known_model_find(pli_str name, const pli_mixture **mixture);

/* The usual quantizations of a model, best first: number i; NULL past the last. What was trained
 * in 4 bits has only those. */
const pli_mixture *pli_known_model_mixture(const pli_known_model *known, size_t i);

/* The row's model with its tensors unquantized, in an arena of its own; freed with
 * plim_model_free(). It needs a quantization and pli_model_finish(). INTERNAL: a row that gives no
 * model. */
plim_status pli_known_model_draw(const plim_allocator *allocator, const pli_known_model *known,
                                 plim_error *error, pli_model **out);
/* Gives it a quantization: tensor types, name, file type. May be called again with another. */
void pli_known_model_quantize(const pli_known_model *known, const pli_mixture *mixture,
                              pli_model *model);

/* Why a name is not known, with names that are near: "no model ...; did you mean a, b or c?". */
plim_status pli_known_model_unknown(const char *name, plim_error *error);

#endif
