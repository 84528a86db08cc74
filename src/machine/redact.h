/* Takes identities out of what a recording holds: serial numbers, UUIDs, MAC addresses, the host's
 * name. The same identity becomes the same token throughout one recording, of the same length and
 * shape, so that a replay finds the same things under other names. Tokens of two recordings cannot
 * be compared: each has its own salt. */
#ifndef PLI_REDACT_H
#define PLI_REDACT_H

#include "machine.h"

typedef struct pli_redactor pli_redactor;

/* Reads the host's name from the machine. NULL when out of memory or without randomness. */
pli_redactor *pli_redactor_new(const plim_allocator *, pli_machine *);
void pli_redactor_free(pli_redactor *);

typedef enum pli_subject {                     /* what the bytes are the content of */
                           PLI_SUBJECT_NAME,   /* a path, an argument, a name in a directory */
                           PLI_SUBJECT_FILE,   /* subject: its path */
                           PLI_SUBJECT_ENV,    /* its name */
                           PLI_SUBJECT_OUTPUT, /* of a vendor call: its name */
                           PLI_SUBJECT_TEXT,   /* anything else */
} pli_subject;

/* Changes the bytes in place; never their number. A NULL redactor keeps them. */
void pli_redact(const pli_redactor *, pli_subject, const char *subject, void *bytes, size_t n);

#endif
