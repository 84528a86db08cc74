#include "fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool cli_resolve(const plim_record *record, const void *r, const char *path, size_t length,
                 cli_found *found)
{
    const plim_head *head = r;
    for (unsigned i = 0; i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        if (field->key[0] != path[0])
            continue;
        size_t n = strlen(field->key);
        if (n > length || memcmp(field->key, path, n) != 0 || !plim_known(head, i))
            continue;
        if (n == length) {
            *found = (cli_found){field, r, head->source ? head->source[i] : NULL};
            return true;
        }
        if (field->type == PLIM_TYPE_RECORD && path[n] == '.') {
            const void *inner;
            memcpy(&inner, (const char *)r + field->offset, sizeof inner);
            return inner && cli_resolve(field->record, inner, path + n + 1, length - n - 1, found);
        }
    }
    return false;
}

/* ---- what is written ------------------------------------------------------------------------ */

struct output {
    char *p;
    size_t n, size;
    bool pending; /* a separator is due before the next text */
    bool cut;
    bool said; /* a field was known */
};

static void put(struct output *out, const char *text, size_t n)
{
    if (n == 0)
        return;
    if (out->pending) {
        out->pending = false;
        put(out, ", ", 2);
    }
    if (n >= out->size - out->n) {
        n = out->size - out->n - 1;
        out->cut = true;
    }
    memcpy(out->p + out->n, text, n);
    out->n += n;
    out->p[out->n] = '\0';
}

/* ---- pieces of a template ------------------------------------------------------------------- */

struct piece {
    const char *p;
    size_t n;
};

/* What stands between the bracket at p and its partner; *end points behind it. */
static struct piece inside(const char *p, const char *limit, const char **end)
{
    struct piece piece = {p + 1, 0};
    size_t depth = 0;
    for (; p < limit; p++) {
        if (*p == '{' || *p == '[' || *p == '<')
            depth++;
        else if ((*p == '}' || *p == ']' || *p == '>') && --depth == 0)
            break;
    }
    piece.n = (size_t)(p - piece.p);
    *end = p < limit ? p + 1 : limit;
    return piece;
}

/* Bytes before the first of the stops. */
static size_t until(struct piece piece, const char *stops)
{
    for (size_t i = 0; i < piece.n; i++)
        for (const char *stop = stops; *stop; stop++)
            if (piece.p[i] == *stop)
                return i;
    return piece.n;
}

static bool put_template(struct output *out, struct piece template, const plim_record *record,
                         const void *r);

static void put_plural(struct output *out, const plim_field *field, const char *at,
                       struct piece noun)
{
    char text[96];
    uint64_t value;
    if (field->type != PLIM_TYPE_U64)
        return;
    memcpy(&value, at, sizeof value);
    int n = snprintf(text, sizeof text, "%" PRIu64 " %.*s%s", value, (int)noun.n, noun.p,
                     value == 1 ? "" : "s");
    put(out, text, n > 0 ? (size_t)n : 0);
}

/* "a/b/c" */
static bool first_known(const plim_record *record, const void *r, struct piece paths,
                        cli_found *found)
{
    while (paths.n) {
        size_t n = until(paths, "/");
        if (cli_resolve(record, r, paths.p, n, found))
            return true;
        n += n < paths.n;
        paths = (struct piece){paths.p + n, paths.n - n};
    }
    return false;
}

static bool is_zero(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value == 0;
}

static bool is_figure(plim_type type)
{
    return type == PLIM_TYPE_U64 || type == PLIM_TYPE_I64 || type == PLIM_TYPE_F64;
}

/* "{path}", "{path+}", "{path#noun}", "{path?words}". False where it is unknown. */
static bool put_field(struct output *out, struct piece piece, const plim_record *record,
                      const void *r)
{
    char text[2048];
    cli_found found;
    size_t n = until(piece, "#?+");
    if (!first_known(record, r, (struct piece){piece.p, n}, &found))
        return false;
    const plim_field *field = found.field;
    struct piece rest = {piece.p + n + 1, n < piece.n ? piece.n - n - 1 : 0};
    const char *at = (const char *)found.holder + field->offset;
    char kind = n < piece.n ? piece.p[n] : '+';
    if (kind == '#') {
        put_plural(out, field, at, rest);
    } else if (kind == '?') {
        if (field->type != PLIM_TYPE_BOOL || !*at)
            return false;
        put(out, rest.p, rest.n);
    } else {
        if (n < piece.n && field->type == PLIM_TYPE_U64 && is_zero(at))
            return false;
        if (!plim_field_text(field, found.holder, text, sizeof text))
            return false;
        put(out, text, strlen(text));
    }
    if (is_figure(field->type) && found.source && strcmp(found.source, "table") == 0)
        put(out, " (nominal)", 10);
    out->said = true;
    return true;
}

/* "[...]": all or nothing. */
static void put_optional(struct output *out, struct piece piece, const plim_record *record,
                         const void *r)
{
    struct output before = *out;
    if (put_template(out, piece, record, r))
        return;
    *out = before;
    out->p[out->n] = '\0';
}

/* "<path|between|template>" */
static void put_list(struct output *out, struct piece piece, const plim_record *record,
                     const void *r)
{
    cli_found found;
    plim_items list;
    size_t n = until(piece, "|");
    if (!cli_resolve(record, r, piece.p, n, &found) || found.field->type != PLIM_TYPE_RECORDS ||
        n == piece.n)
        return;
    struct piece between = {piece.p + n + 1, piece.n - n - 1};
    struct piece each = between;
    between.n = until(between, "|");
    each.p += between.n + 1;
    each.n -= between.n < each.n ? between.n + 1 : each.n;
    memcpy(&list, (const char *)found.holder + found.field->offset, sizeof list);
    for (size_t i = 0; i < list.count; i++) {
        if (i)
            put(out, between.p, between.n);
        (void)put_template(out, each, found.field->record, list.items[i]);
    }
}

/* False where a field outside "[...]" and "<...>" is unknown. */
static bool put_template(struct output *out, struct piece template, const plim_record *record,
                         const void *r)
{
    const char *p = template.p, *limit = template.p + template.n;
    bool known = true;
    while (p < limit) {
        switch (*p) {
        case '{':
            known = put_field(out, inside(p, limit, &p), record, r) && known;
            break;
        case '[':
            put_optional(out, inside(p, limit, &p), record, r);
            break;
        case '<':
            put_list(out, inside(p, limit, &p), record, r);
            break;
        case '~':
            out->pending = out->n > 0;
            p++;
            break;
        default: {
            size_t n = until((struct piece){p, (size_t)(limit - p)}, "{[<~");
            put(out, p, n);
            p += n;
        }
        }
    }
    return known;
}

size_t cli_fill(char *buf, size_t size, const char *template, const plim_record *record,
                const void *r)
{
    struct output out = {buf, 0, size, false, false, false};
    buf[0] = '\0';
    (void)put_template(&out, (struct piece){template, strlen(template)}, record, r);
    if (out.cut && out.n > 3)
        memcpy(buf + out.n - 3, "...", 3);
    return out.said ? out.n : 0;
}
