#include "cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/num.h"
#include "../base/status.h"

plim_status pli_cursor_open(pli_cursor *c, const plim_reader *reader,
                            const plim_allocator *allocator, uint64_t cap, plim_error *error)
{
    *c = (pli_cursor){.reader = reader, .error = error, .allocator = allocator};
    c->end = reader->size < cap ? reader->size : cap;
    c->part = "the header";
    c->window = pli_hook_resize(allocator, NULL, 0, PLI_CURSOR_WINDOW);
    if (!c->window)
        return pli_cursor_fail(c, PLIM_NOMEM, PLIM_NO_OFFSET, "out of memory");
    return PLIM_OK;
}

void pli_cursor_close(pli_cursor *c)
{
    if (c->window)
        pli_hook_resize(c->allocator, c->window, PLI_CURSOR_WINDOW, 0);
    c->window = NULL;
}

plim_status pli_cursor_fail(pli_cursor *c, plim_status status, uint64_t offset, const char *format,
                            ...)
{
    char what[sizeof((plim_error *)0)->what];
    va_list args;
    if (c->status != PLIM_OK)
        return c->status;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    c->status = pli_fail(c->error, status, c->reader->name, offset, "%s", what);
    return c->status;
}

/* The input ends (or the cap is reached) before n bytes from `at` on. */
static void fail_short(pli_cursor *c, uint64_t at, uint64_t n)
{
    if (c->end < c->reader->size)
        pli_cursor_fail(c, PLIM_LIMIT, at, "the header is longer than %" PRIu64 " bytes", c->end);
    else
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "the file ends inside %s: %" PRIu64 " bytes wanted, %" PRIu64 " left",
                        c->part, n, c->end - at);
}

/* A window that begins at the next byte and holds at least n. */
static bool refill(pli_cursor *c, size_t n)
{
    uint64_t at = pli_cursor_offset(c);
    if (c->status != PLIM_OK)
        return false;
    if (n > c->end - at) {
        fail_short(c, at, n);
        return false;
    }
    size_t want = c->end - at < PLI_CURSOR_WINDOW ? (size_t)(c->end - at) : PLI_CURSOR_WINDOW;
    size_t got = 0;
    plim_status status = c->reader->read(c->reader->user, at, c->window, want, &got);
    c->base = at;
    c->pos = 0;
    c->have = status == PLIM_OK && got <= want ? got : 0;
    if (status != PLIM_OK)
        pli_cursor_fail(c, status, at, "%s", plim_status_text(status));
    else if (c->have < n) /* it was cut after its size was asked */
        pli_cursor_fail(c, PLIM_PARSE, at, "the file ends inside %s", c->part);
    return c->status == PLIM_OK;
}

const unsigned char *pli_cursor_bytes(pli_cursor *c, size_t n)
{
    if (c->have - c->pos < n && !refill(c, n))
        return NULL;
    const unsigned char *p = c->window + c->pos;
    c->pos += n;
    return p;
}

uint64_t pli_cursor_number(pli_cursor *c, size_t size)
{
    const unsigned char *p = c->status == PLIM_OK ? pli_cursor_bytes(c, size) : NULL;
    return p ? pli_load(p, size, c->big_endian) : 0;
}

bool pli_cursor_room(pli_cursor *c, uint64_t n, uint64_t at, const char *what)
{
    if (c->status != PLIM_OK)
        return false;
    if (n <= pli_cursor_left(c))
        return true;
    if (n <= c->reader->size - pli_cursor_offset(c))
        fail_short(c, at, n);
    else
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "%s claims %" PRIu64 " bytes, the file has %" PRIu64 " more", what, n,
                        c->reader->size - pli_cursor_offset(c));
    return false;
}

bool pli_cursor_skip(pli_cursor *c, uint64_t n)
{
    if (c->status != PLIM_OK)
        return false;
    if (n > pli_cursor_left(c)) {
        fail_short(c, pli_cursor_offset(c), n);
        return false;
    }
    if (n <= c->have - c->pos) {
        c->pos += (size_t)n;
        return true;
    }
    c->base = pli_cursor_offset(c) + n;
    c->have = c->pos = 0;
    return true;
}

bool pli_cursor_copy(pli_cursor *c, void *out, size_t n)
{
    char *to = out;
    while (n > 0) {
        size_t piece = c->have - c->pos;
        if (piece == 0)
            piece = PLI_CURSOR_WINDOW;
        if (piece > n)
            piece = n;
        const unsigned char *p = pli_cursor_bytes(c, piece);
        if (!p)
            return false;
        memcpy(to, p, piece);
        to += piece;
        n -= piece;
    }
    return c->status == PLIM_OK;
}
