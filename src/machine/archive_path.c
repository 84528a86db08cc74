/* Entries by path. A recording is asked under the names it was made with, so a path is looked for
 * as it is first; what is written by hand may be reached through its links. */
#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "archive.h"

#define MAX_LINKS 40 /* as the kernel */

struct path {
    char text[PLI_MAX_PATH];
    size_t n;
};

static pli_str view(const struct path *path)
{
    return (pli_str){path->text, path->n};
}

static bool push(struct path *path, pli_str part)
{
    if (part.n + 1 >= sizeof path->text - path->n)
        return false;
    path->text[path->n++] = '/';
    memcpy(path->text + path->n, part.p, part.n);
    path->n += part.n;
    return true;
}

static void pop(struct path *path)
{
    while (path->n && path->text[--path->n] != '/')
        ;
}

/* The link's target in front of what is left of the path. */
static bool splice(struct path *left, pli_str target, pli_str rest)
{
    struct path joined = {.n = 0};
    if (target.n + rest.n + 2 > sizeof joined.text)
        return false;
    memcpy(joined.text, target.p, target.n);
    joined.n = target.n;
    if (rest.n && !push(&joined, rest))
        return false;
    *left = joined;
    return true;
}

/* Takes out . and .. and follows links, that of the last part only if `follow`. False for what is
 * no path: too long, or links in a circle. "/" is the empty path. */
static bool resolve(const pli_archive *a, const char *path, bool follow, struct path *out)
{
    struct path left = {.n = strlen(path)};
    pli_str part;
    int links = 0;
    if (left.n >= sizeof left.text)
        return false;
    memcpy(left.text, path, left.n);
    out->n = 0;
    for (pli_str rest = view(&left); pli_next_part(&rest, '/', &part);) {
        if (part.n == 0 || pli_eq(part, "."))
            continue;
        if (pli_eq(part, "..")) {
            pop(out);
            continue;
        }
        size_t parent = out->n;
        if (!push(out, part))
            return false;
        pli_entry *link = rest.n || follow ? pli_archive_find(a, PLI_KIND_LINK, view(out)) : NULL;
        if (!link || link->failed != PLIM_OK)
            continue;
        pli_str target = pli_s(pli_entry_text(a, link));
        if (++links > MAX_LINKS || !splice(&left, target, rest))
            return false;
        out->n = pli_starts(target, "/") ? 0 : parent;
        rest = view(&left);
    }
    return true;
}

/* Is there a chance that another name of the path is in the archive? */
static bool has_other_name(const pli_archive *a, const char *path)
{
    size_t n = strlen(path);
    return a->has_links || strstr(path, "//") || strstr(path, "/.") || (n && path[n - 1] == '/');
}

pli_entry *pli_archive_serve_path(const pli_archive *a, pli_kind kind, const char *path)
{
    struct path other;
    pli_entry *e = pli_archive_serve(a, kind, pli_s(path));
    if (e || !has_other_name(a, path) || !resolve(a, path, kind != PLI_KIND_LINK, &other))
        return e;
    return pli_archive_serve(a, kind, view(&other));
}

bool pli_archive_has_path(const pli_archive *a, pli_kind kind, const char *path)
{
    struct path other;
    return pli_archive_find(a, kind, pli_s(path)) ||
           (has_other_name(a, path) && resolve(a, path, kind != PLI_KIND_LINK, &other) &&
            pli_archive_find(a, kind, view(&other)));
}

/* ---- directories ----------------------------------------------------------------------------- */

/* First entry below the directory, past the end when there is none. */
static size_t first_below(const pli_archive *a, struct path *directory, pli_str *prefix)
{
    if (!push(directory, pli_s("")))
        return a->count;
    *prefix = view(directory);
    return pli_archive_lower_bound(a, *prefix);
}

static bool is_below(const pli_archive *a, size_t at, pli_str prefix)
{
    return at < a->count && pli_kind_is_path(a->entries[at].kind) &&
           a->entries[at].key.n > prefix.n && memcmp(a->entries[at].key.p, prefix.p, prefix.n) == 0;
}

static bool has_children(const pli_archive *a, const struct path *directory)
{
    struct path copy = *directory;
    pli_str prefix = {"", 0};
    return is_below(a, first_below(a, &copy, &prefix), prefix);
}

static bool is_there(const pli_archive *a, const struct path *path)
{
    return pli_archive_find(a, PLI_KIND_FILE, view(path)) ||
           pli_archive_find(a, PLI_KIND_DIR, view(path)) || has_children(a, path);
}

/* The name under which the archive has a file or a directory: the one that is asked for, else the
 * one without links. False when it has neither. */
static bool locate(const pli_archive *a, const char *path, struct path *out)
{
    size_t n = strlen(path);
    if (n < sizeof out->text) {
        memcpy(out->text, path, n);
        out->n = n;
        if (is_there(a, out))
            return true;
    }
    return resolve(a, path, true, out) && is_there(a, out);
}

bool pli_archive_locate(const pli_archive *a, const char *path, pli_entry **file)
{
    struct path found;
    bool there = locate(a, path, &found);
    *file = there ? pli_archive_find(a, PLI_KIND_FILE, view(&found)) : NULL;
    return there;
}

/* Names that no directory has, whatever a text written by hand says. */
static bool is_no_name(pli_str name)
{
    return name.n == 0 || pli_eq(name, ".") || pli_eq(name, "..") || memchr(name.p, '/', name.n) ||
           memchr(name.p, '\0', name.n);
}

static plim_status add_name(pli_arena *arena, pli_names *names, pli_str name)
{
    if (is_no_name(name))
        return PLIM_OK;
    if (names->count >= PLI_MAX_DIR_ENTRIES)
        return PLIM_LIMIT;
    char **items = pli_grow_array(arena, names->items, names->count, sizeof *items);
    char *copy = pli_strndup(arena, name);
    if (!items || !copy)
        return PLIM_NOMEM;
    names->items = items;
    names->items[names->count++] = copy;
    return PLIM_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_repeated(pli_names *names)
{
    size_t kept = 0;
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    for (size_t i = 0; i < names->count; i++)
        if (kept == 0 || strcmp(names->items[kept - 1], names->items[i]) != 0)
            names->items[kept++] = names->items[i];
    names->count = kept;
}

/* Index of the first entry that is not `prefix` + `name` or below it: '0' follows '/'. */
static size_t skip_name(const pli_archive *a, size_t at, pli_str prefix, pli_str name)
{
    struct path after = {.n = prefix.n - 1};
    memcpy(after.text, prefix.p, after.n);
    if (!push(&after, name) || after.n >= sizeof after.text)
        return at + 1;
    after.text[after.n++] = '0';
    return pli_archive_lower_bound(a, view(&after));
}

plim_status pli_archive_list_implied(const pli_archive *a, const char *path, pli_arena *arena,
                                     pli_names *out)
{
    struct path directory;
    pli_str prefix = {"", 0};
    plim_status status = PLIM_OK;
    if (!locate(a, path, &directory))
        return PLIM_NOT_FOUND;
    size_t at = first_below(a, &directory, &prefix);
    while (status == PLIM_OK && is_below(a, at, prefix)) {
        pli_str rest = pli_skip(a->entries[at].key, prefix.n), name;
        (void)pli_next_part(&rest, '/', &name);
        status = add_name(arena, out, name);
        at = rest.p ? skip_name(a, at, prefix, name) : at + 1;
    }
    drop_repeated(out);
    return status == PLIM_OK && out->count == 0 ? PLIM_NOT_FOUND : status;
}

plim_status pli_entry_names(const pli_entry *e, pli_arena *arena, pli_names *out)
{
    plim_status status = PLIM_OK;
    pli_str rest = e->body, line;
    while (status == PLIM_OK && pli_next_line(&rest, &line))
        status = add_name(arena, out, pli_unescape(arena, line));
    return status;
}
