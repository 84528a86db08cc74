/* The same model in another quantization: what llama-quantize would make of it. */
#ifndef PLI_REQUANTIZE_H
#define PLI_REQUANTIZE_H

#include "../model/mixture.h"
#include "inverse.h"

typedef struct pli_requantized {
    const pli_mixture *mixture;
    pli_shape shape;
    pli_plan plan;
    pli_verdict verdict;
    uint64_t tensor_bytes;
} pli_requantized;

/* The best of the usual quantizations that is smaller than the model's own and gives a better
 * verdict, everything else as it is; one that passes before one that is a warning. False: none, or
 * what the file holds does not say. */
bool pli_requantize(const pli_case *base, pli_requantized *out);

#endif
