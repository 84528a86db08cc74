/* From metadata to tensors: the complete table that a published GGUF file of an architecture has,
 * by the rows of blueprint.def. */
#ifndef PLI_BLUEPRINT_H
#define PLI_BLUEPRINT_H

#include "arch.h"

typedef enum pli_part {
#define PART(name, where) PLI_PART_##name,
#include "blueprint.def"
#undef PART
    PLI_PARTS
} pli_part;
_Static_assert(PLI_PARTS <= 64, "a set of parts is one word");
#define PLI_PART_BIT(part) (UINT64_C(1) << (part))

/* The parts that every model of an architecture has, as a set; 0: it has no row. */
uint64_t pli_blueprint_parts(pli_str architecture);

/* Fills model->tensors from its values: the architecture's parts and `more`. Types are those of an
 * unquantized file (F32 or BF16). False: no row, out of memory, or figures that multiply to more
 * than 2^63 elements. */
bool pli_blueprint_draw(pli_model *model, uint64_t more);

/* Does this tensor stay F32 in every file? */
bool pli_blueprint_is_f32(pli_str name, unsigned dims);

#endif
