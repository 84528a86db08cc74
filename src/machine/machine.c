#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"

void pli_machine_close(pli_machine *m)
{
    if (m)
        m->ops->free(m);
}

int pli_natural_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t na = strspn(a, "0123456789"), nb = strspn(b, "0123456789");
            int order = na != nb ? (na < nb ? -1 : 1) : strncmp(a, b, na);
            if (order)
                return order;
            a += na;
            b += nb;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_names(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = pli_natural_compare(x, y);
    return order ? order : strcmp(x, y); /* "a01" and "a1": a total order all the same */
}

/* "cap" of the read is the buffer's max; the bytes move into the arena, so that views into them
 * live as long as it does. */
plim_status pli_read(pli_machine *m, pli_arena *arena, const char *path, pli_str *out)
{
    pli_buf buf;
    *out = (pli_str){"", 0};
    if (!path)
        return PLIM_NOMEM;
    pli_buf_init(&buf, &m->allocator, PLI_MAX_PROC_FILE);
    plim_status status = m->ops->read(m, path, &buf);
    if (status == PLIM_OK) {
        char *copy = pli_strndup(arena, pli_buf_str(&buf));
        if (copy)
            *out = (pli_str){copy, buf.n};
        else
            status = PLIM_NOMEM;
    }
    pli_buf_free(&buf);
    return status;
}

/* Formats a path on the caller's stack; a longer one is no path. */
struct path {
    char text[PLI_MAX_PATH];
    bool ok;
};

PLI_PRINTF(2, 0)
static void format_path(struct path *path, const char *format, va_list args)
{
    int n = vsnprintf(path->text, sizeof path->text, format, args);
    path->ok = n > 0 && (size_t)n < sizeof path->text;
}

#define FORMAT_PATH(path, format)                                                                  \
    do {                                                                                           \
        va_list args_;                                                                             \
        va_start(args_, format);                                                                   \
        format_path(&(path), format, args_);                                                       \
        va_end(args_);                                                                             \
    } while (0)

plim_status pli_readf(pli_machine *m, pli_arena *arena, pli_str *out, const char *format, ...)
{
    struct path path;
    FORMAT_PATH(path, format);
    *out = (pli_str){"", 0};
    return path.ok ? pli_read(m, arena, path.text, out) : PLIM_INVALID;
}

static pli_str read_word(pli_machine *m, pli_arena *arena, const struct path *path)
{
    pli_str text = {"", 0};
    if (path->ok)
        (void)pli_read(m, arena, path->text, &text);
    return pli_trim(pli_field_str(text.p, text.n));
}

pli_str pli_read_wordf(pli_machine *m, pli_arena *arena, const char *format, ...)
{
    struct path path;
    FORMAT_PATH(path, format);
    return read_word(m, arena, &path);
}

bool pli_read_u64f(pli_machine *m, pli_arena *arena, uint64_t *out, const char *format, ...)
{
    struct path path;
    FORMAT_PATH(path, format);
    return pli_parse_u64(read_word(m, arena, &path), out);
}

bool pli_read_hexf(pli_machine *m, pli_arena *arena, uint64_t *out, const char *format, ...)
{
    struct path path;
    FORMAT_PATH(path, format);
    return pli_parse_hex(read_word(m, arena, &path), out);
}

plim_status pli_list(pli_machine *m, pli_arena *arena, const char *path, pli_names *out)
{
    *out = (pli_names){NULL, 0};
    plim_status status = m->ops->list(m, path, arena, out);
    if (status != PLIM_OK)
        *out = (pli_names){NULL, 0};
    else if (out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, compare_names);
    return status;
}

plim_status pli_listf(pli_machine *m, pli_arena *arena, pli_names *out, const char *format, ...)
{
    struct path path;
    FORMAT_PATH(path, format);
    *out = (pli_names){NULL, 0};
    return path.ok ? pli_list(m, arena, path.text, out) : PLIM_INVALID;
}

const char *pli_link_namef(pli_machine *m, pli_arena *arena, const char *format, ...)
{
    struct path path;
    pli_buf target;
    const char *name = NULL;
    FORMAT_PATH(path, format);
    if (!path.ok)
        return NULL;
    pli_buf_init(&target, &m->allocator, PLI_MAX_PATH);
    if (m->ops->link(m, path.text, &target) == PLIM_OK && target.n) {
        pli_str s = pli_buf_str(&target);
        size_t at = s.n;
        while (at > 0 && s.p[at - 1] != '/')
            at--;
        name = pli_strndup(arena, pli_skip(s, at));
    }
    pli_buf_free(&target);
    return name;
}

plim_status pli_stat_path(pli_machine *m, const char *path, pli_stat *out)
{
    memset(out, 0, sizeof *out);
    return m->ops->stat(m, path, out);
}

bool pli_exists(pli_machine *m, const char *path)
{
    pli_stat st;
    return pli_stat_path(m, path, &st) == PLIM_OK;
}

bool pli_existsf(pli_machine *m, pli_arena *arena, const char *format, ...)
{
    struct path path;
    (void)arena;
    FORMAT_PATH(path, format);
    return path.ok && pli_exists(m, path.text);
}

const char *pli_env(pli_machine *m, const char *name)
{
    return m->ops->env(m, name);
}

plim_status pli_query(pli_machine *m, const char *node, const char *what, const void *in,
                      size_t in_size, void *out, size_t out_size, size_t *length)
{
    size_t n = 0;
    plim_status status = m->ops->query(m, node, what, in, in_size, out, out_size, &n);
    if (length)
        *length = status == PLIM_OK ? n : 0;
    return status;
}
