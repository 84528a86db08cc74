/* Formulas over figures from a model's header: products and sums that remember an overflow, so
 * that a formula reads like the formula and is checked once at its end. After an overflow the
 * value means nothing. */
#ifndef PLI_CALC_H
#define PLI_CALC_H

#include "../base/num.h"

typedef struct pli_calc {
    bool overflow;
} pli_calc;

static inline uint64_t pli_times(pli_calc *calc, uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    if (!pli_mul(a, b, &product))
        calc->overflow = true;
    return product;
}

static inline uint64_t pli_plus(pli_calc *calc, uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    if (!pli_add(a, b, &sum))
        calc->overflow = true;
    return sum;
}

/* a, rounded up to a multiple. */
static inline uint64_t pli_padded(pli_calc *calc, uint64_t a, uint64_t multiple)
{
    uint64_t up = 0;
    if (!pli_round_up(a, multiple, &up))
        calc->overflow = true;
    return up;
}

static inline uint64_t pli_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t pli_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
