/* Tokens: what stands for an identity in a recording. The same identity gives the same token under
 * the same salt, of the same length and shape. */
#ifndef PLI_TOKEN_H
#define PLI_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pli_salt {
    unsigned char bytes[32];
} pli_salt;

/* All change the bytes in place. Nothing but zeros or but ones stays: that says there is none. */
void pli_token_bytes(const pli_salt *, unsigned char *bytes, size_t n);
/* Hex digits, 32 at most count as the bytes they spell: a UUID in text and one in raw bytes give
 * the same. Other characters between them stay. */
void pli_token_hex_id(const pli_salt *, char *text, size_t n);
/* Letter for letter, digit for digit. */
void pli_token_text(const pli_salt *, char *text, size_t n);
/* A number below 2^64: the token has as many digits, in hex and in decimal. False, and nothing
 * done, where it is none. */
bool pli_token_number(const pli_salt *, char *digits, size_t n, bool hex);

#endif
