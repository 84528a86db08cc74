#include "buf.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"

void pli_buf_init(pli_buf *buf, const plim_allocator *allocator, size_t max)
{
    *buf = (pli_buf){.max = max, .allocator = allocator};
}

void pli_buf_free(pli_buf *buf)
{
    if (buf->p)
        pli_hook_resize(buf->allocator, buf->p, buf->cap, 0);
    buf->p = NULL;
    buf->n = buf->cap = 0;
}

void pli_buf_reset(pli_buf *buf)
{
    buf->n = 0;
    buf->failed = PLIM_OK;
    if (buf->p)
        buf->p[0] = '\0';
}

static plim_status fail(pli_buf *buf, plim_status why)
{
    if (buf->failed == PLIM_OK)
        buf->failed = why;
    return why;
}

plim_status pli_buf_reserve(pli_buf *buf, size_t n)
{
    if (n > buf->max || buf->n > buf->max - n)
        return fail(buf, PLIM_LIMIT);
    size_t need = buf->n + n + 1;
    if (need <= buf->cap)
        return PLIM_OK;
    size_t cap = buf->cap ? buf->cap : 256;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *p = pli_hook_resize(buf->allocator, buf->p, buf->cap, cap);
    if (!p)
        return fail(buf, PLIM_NOMEM);
    p[buf->n] = '\0';
    buf->p = p;
    buf->cap = cap;
    return PLIM_OK;
}

void pli_buf_added(pli_buf *buf, size_t n)
{
    buf->n += n;
    buf->p[buf->n] = '\0';
}

plim_status pli_buf_add(pli_buf *buf, const void *bytes, size_t n)
{
    plim_status status = pli_buf_reserve(buf, n);
    if (status != PLIM_OK)
        return status;
    if (n)
        memcpy(buf->p + buf->n, bytes, n);
    pli_buf_added(buf, n);
    return PLIM_OK;
}

plim_status pli_buf_addz(pli_buf *buf, const char *text)
{
    return pli_buf_add(buf, text, strlen(text));
}

plim_status pli_buf_printf(pli_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    plim_status status = n < 0 ? fail(buf, PLIM_INTERNAL) : pli_buf_reserve(buf, (size_t)n);
    if (status == PLIM_OK) {
        (void)vsnprintf(buf->p + buf->n, (size_t)n + 1, format, args);
        pli_buf_added(buf, (size_t)n);
    }
    va_end(args);
    return status;
}

pli_str pli_buf_str(const pli_buf *buf)
{
    return (pli_str){buf->p ? buf->p : "", buf->n};
}
