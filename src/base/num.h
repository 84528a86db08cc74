/* Checked numbers: every figure from outside is parsed and combined here. */
#ifndef PLI_NUM_H
#define PLI_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

/* The whole trimmed view must be the number; false leaves *out alone. */
bool pli_parse_u64(pli_str s, uint64_t *out);
bool pli_parse_i64(pli_str s, int64_t *out);
bool pli_parse_hex(pli_str s, uint64_t *out);         /* with or without 0x */
bool pli_parse_f64(pli_str s, double *out);           /* decimal, no locale, finite */
bool pli_parse_u64_prefix(pli_str *s, uint64_t *out); /* leading digits; *s moves behind them */
/* "24GiB", "24576MiB", "1.5TiB", "22.5 GiB", "1024", "64K": 1024-based in every spelling (K, KB,
 * KiB); false on overflow, sign or garbage. */
bool pli_parse_size(pli_str s, uint64_t *out);

/* False on overflow, *out untouched. */
bool pli_add(uint64_t a, uint64_t b, uint64_t *out);
bool pli_mul(uint64_t a, uint64_t b, uint64_t *out);
/* Saturating forms for figures that are only compared or shown. */
uint64_t pli_add_sat(uint64_t a, uint64_t b);
uint64_t pli_mul_sat(uint64_t a, uint64_t b);
uint64_t pli_sub_sat(uint64_t a, uint64_t b); /* 0 when b > a */
bool pli_round_up(uint64_t value, uint64_t multiple, uint64_t *out);

/* Unaligned little and big endian loads. */
uint64_t pli_load(const void *bytes, size_t size, bool big_endian);

#endif
