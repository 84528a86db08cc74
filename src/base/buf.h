/* Growing bytes with a hard maximum. Always NUL-terminated. A failed append leaves the buffer as it
 * was and sets `failed`. */
#ifndef PLI_BUF_H
#define PLI_BUF_H

#include <plimsoll/base.h>
#include <stdarg.h>

#include "platform.h"
#include "str.h"

typedef struct pli_buf {
    char *p;
    size_t n;   /* bytes used, without the NUL */
    size_t cap; /* bytes allocated */
    size_t max; /* most bytes it may ever hold */
    const plim_allocator *allocator;
    plim_status failed; /* first failure: PLIM_NOMEM or PLIM_LIMIT */
} pli_buf;

/* The allocator (NULL: malloc) must outlive the buffer. */
void pli_buf_init(pli_buf *buf, const plim_allocator *allocator, size_t max);
void pli_buf_free(pli_buf *buf);
void pli_buf_reset(pli_buf *buf); /* empty, memory kept */
plim_status pli_buf_add(pli_buf *buf, const void *bytes, size_t n);
plim_status pli_buf_addz(pli_buf *buf, const char *text);
plim_status pli_buf_printf(pli_buf *buf, const char *format, ...) PLI_PRINTF(2, 3);
/* Room for n more bytes; write at buf->p + buf->n, then add to buf->n (pli_buf_added). */
plim_status pli_buf_reserve(pli_buf *buf, size_t n);
void pli_buf_added(pli_buf *buf, size_t n);
pli_str pli_buf_str(const pli_buf *buf);

#endif
