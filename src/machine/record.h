/* The recording machine, with the ends that isolation needs. */
#ifndef PLI_RECORD_H
#define PLI_RECORD_H

#include "machine.h"

/* Told about every entry as it is written and about every vendor call that is entered and left.
 * Members may be NULL. */
typedef struct pli_record_sink {
    void *user;
    void (*entry)(void *user, pli_str text);
    void (*enter)(void *user, const pli_call *);
    void (*leave)(void *user);
} pli_record_sink;

plim_status pli_machine_record_to(const plim_allocator *, pli_machine *inner, bool keep_identities,
                                  pli_buf *text, const pli_record_sink *, pli_machine **out);

#endif
