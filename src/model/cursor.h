/* Reading a header in order through one window of a reader. The first failure sticks: later
 * reads give zeros, and the caller looks at `status` where it matters. Every failure names the
 * file and the offset of what was wrong. */
#ifndef PLI_CURSOR_H
#define PLI_CURSOR_H

#include "../base/arena.h"

#define PLI_CURSOR_WINDOW ((size_t)128 << 10)

typedef struct pli_cursor {
    const plim_reader *reader;
    plim_error *error; /* may be NULL */
    const plim_allocator *allocator;
    unsigned char *window;
    uint64_t base; /* offset in the file of window[0] */
    size_t have;   /* bytes in the window */
    size_t pos;    /* next one */
    uint64_t end;  /* no byte at or past it is read: the file's size, or the cap */
    bool big_endian;
    const char *part; /* what is being read, for messages: "the tensor table" */
    plim_status status;
} pli_cursor;

/* cap: most bytes of the file that a header may take. Closed with pli_cursor_close() whatever
 * it returns. */
plim_status pli_cursor_open(pli_cursor *c, const plim_reader *reader,
                            const plim_allocator *allocator, uint64_t cap, plim_error *error);
void pli_cursor_close(pli_cursor *c);
/* The first failure is kept, later ones are not. Returns c->status. */
plim_status pli_cursor_fail(pli_cursor *c, plim_status status, uint64_t offset, const char *format,
                            ...) PLI_PRINTF(4, 5);

/* The next n (at most PLI_CURSOR_WINDOW) bytes, which the cursor passes; NULL on failure. Valid
 * until the next call. */
const unsigned char *pli_cursor_bytes(pli_cursor *c, size_t n);
/* An unsigned number of 1, 2, 4 or 8 bytes; 0 on failure. */
uint64_t pli_cursor_number(pli_cursor *c, size_t size);
/* Is there room for n more bytes? False fails with the offset `at`, "WHAT needs n bytes ...". */
bool pli_cursor_room(pli_cursor *c, uint64_t n, uint64_t at, const char *what);
bool pli_cursor_skip(pli_cursor *c, uint64_t n);
/* n bytes into out, from however many windows. */
bool pli_cursor_copy(pli_cursor *c, void *out, size_t n);

static inline uint64_t pli_cursor_offset(const pli_cursor *c)
{
    return c->base + c->pos;
}
static inline uint64_t pli_cursor_left(const pli_cursor *c)
{
    return c->end - pli_cursor_offset(c);
}

/* Written out so that compilers make one load of each: pli_load() loops over a size it does not
 * know. */
static inline uint32_t pli_load32(const unsigned char *p, bool big_endian)
{
    return big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}
static inline uint64_t pli_load64(const unsigned char *p, bool big_endian)
{
    uint64_t first = pli_load32(p, big_endian), second = pli_load32(p + 4, big_endian);
    return big_endian ? first << 32 | second : second << 32 | first;
}

#endif
