/* SHA-256 (FIPS 180-4), for the tokens that stand for identities in a recording. */
#ifndef PLI_SHA256_H
#define PLI_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct pli_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
} pli_sha256;

void pli_sha256_init(pli_sha256 *);
void pli_sha256_add(pli_sha256 *, const void *bytes, size_t n);
void pli_sha256_end(pli_sha256 *, unsigned char digest[32]);

#endif
