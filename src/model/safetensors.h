/* One safetensors file, by the rules of the reference library (0.8): what that refuses is
 * refused. */
#ifndef PLI_SAFETENSORS_H
#define PLI_SAFETENSORS_H

#include "model.h"

typedef struct pli_safetensors {
    uint64_t file_bytes;
    pli_value *values; /* of __metadata__, sorted by key */
    size_t value_count;
    pli_tensor *tensors; /* in the header's order */
    size_t tensor_count;
} pli_safetensors;

/* Does it look like one: a length within the limit and an object behind it? */
bool pli_safetensors_is(const plim_reader *reader);
plim_status pli_safetensors_read(const plim_reader *reader, pli_arena *arena, uint32_t file,
                                 plim_error *error, pli_safetensors *out);

#endif
