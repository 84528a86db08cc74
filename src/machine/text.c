/* A recorded machine: every operation is answered from an archive, nothing else is touched. */
#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"
#include "archive.h"
#include "journal.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 40 /* as the kernel */

struct text_machine {
    pli_machine base;
    pli_archive archive;
};

static struct text_machine *text_of(pli_machine *m)
{
    return (struct text_machine *)m;
}

/* ---- paths: a recording is asked under the names it was made with; what is written by hand may
 * be reached through its links ---------------------------------------------------------------- */

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
        const pli_entry *link =
            rest.n || follow ? pli_archive_find(a, PLI_KIND_LINK, view(out)) : NULL;
        if (!link || link->failed != PLIM_OK)
            continue;
        pli_str target = pli_trim(link->body);
        if (link->hex || ++links > MAX_LINKS || !splice(&left, target, rest))
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

/* The entry that answers for this path now, NULL when there is none. */
static pli_entry *serve(struct text_machine *t, pli_kind kind, const char *path)
{
    struct path other;
    pli_entry *e = pli_archive_serve(&t->archive, kind, pli_s(path));
    if (e || !has_other_name(&t->archive, path))
        return e;
    if (!resolve(&t->archive, path, kind != PLI_KIND_LINK, &other))
        return NULL;
    return pli_archive_serve(&t->archive, kind, view(&other));
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

/* The name under which the archive has a file or a directory: the one that is asked for, else the
 * one without links. False when it has neither. */
static bool locate(const pli_archive *a, const char *path, struct path *out)
{
    size_t n = strlen(path);
    if (n < sizeof out->text) {
        memcpy(out->text, path, n);
        out->n = n;
        if (pli_archive_find(a, PLI_KIND_FILE, view(out)) ||
            pli_archive_find(a, PLI_KIND_DIR, view(out)) || has_children(a, out))
            return true;
    }
    return resolve(a, path, true, out) &&
           (pli_archive_find(a, PLI_KIND_FILE, view(out)) ||
            pli_archive_find(a, PLI_KIND_DIR, view(out)) || has_children(a, out));
}

static plim_status add_name(pli_arena *arena, pli_names *names, pli_str name)
{
    if (name.n == 0 || pli_eq(name, ".") || pli_eq(name, ".."))
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

/* Names of what lies below a directory that has no entry of its own. */
static plim_status list_implied(const pli_archive *a, struct path *directory, pli_arena *arena,
                                pli_names *out)
{
    pli_str prefix = {"", 0};
    plim_status status = PLIM_OK;
    size_t at = first_below(a, directory, &prefix);
    while (status == PLIM_OK && is_below(a, at, prefix)) {
        pli_str rest = pli_skip(a->entries[at].key, prefix.n), name;
        (void)pli_next_part(&rest, '/', &name);
        status = add_name(arena, out, name);
        at++;
        if (!rest.p)
            continue;
        /* Over everything deeper below this name: '0' follows '/'. */
        struct path after = {.n = prefix.n};
        memcpy(after.text, prefix.p, prefix.n);
        after.n--;
        if (push(&after, name) && after.n < sizeof after.text) {
            after.text[after.n++] = '0';
            at = pli_archive_lower_bound(a, view(&after));
        }
    }
    drop_repeated(out);
    return status == PLIM_OK && out->count == 0 ? PLIM_NOT_FOUND : status;
}

static plim_status list_entry(const pli_entry *e, pli_arena *arena, pli_names *out)
{
    plim_status status = e->failed;
    pli_str rest = e->body, line;
    while (status == PLIM_OK && pli_next_line(&rest, &line))
        status = add_name(arena, out, pli_unescape(arena, line));
    return status;
}

static plim_status text_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    struct text_machine *t = text_of(m);
    struct path found;
    const pli_entry *e = serve(t, PLI_KIND_DIR, path);
    if (e)
        return list_entry(e, arena, out);
    if (serve(t, PLI_KIND_DENIED, path))
        return PLIM_PERMISSION;
    return locate(&t->archive, path, &found) ? list_implied(&t->archive, &found, arena, out)
                                             : PLIM_NOT_FOUND;
}

/* ---- files ----------------------------------------------------------------------------------- */

static plim_status text_read(pli_machine *m, const char *path, pli_buf *out)
{
    struct text_machine *t = text_of(m);
    const pli_entry *e = serve(t, PLI_KIND_FILE, path);
    if (e)
        return e->failed != PLIM_OK ? e->failed : pli_entry_content(e, out);
    if (serve(t, PLI_KIND_DENIED, path))
        return PLIM_PERMISSION;
    struct path found;
    return locate(&t->archive, path, &found) ? PLIM_IO : PLIM_NOT_FOUND; /* a directory */
}

/* The handle is the path: a series moves on whoever asks. A failure that comes next is that of
 * opening. */
static plim_status text_open(pli_machine *m, const char *path, void **file)
{
    struct text_machine *t = text_of(m);
    struct path found;
    *file = NULL;
    if (!locate(&t->archive, path, &found))
        return serve(t, PLI_KIND_DENIED, path) ? PLIM_PERMISSION : PLIM_NOT_FOUND;
    const pli_entry *first = pli_archive_find(&t->archive, PLI_KIND_FILE, view(&found));
    if (first && first[first->next].failed != PLIM_OK)
        return pli_archive_serve(&t->archive, PLI_KIND_FILE, view(&found))->failed;
    *file = pli_strdup(t->archive.arena, path);
    return *file ? PLIM_OK : PLIM_NOMEM;
}

static plim_status text_reread(pli_machine *m, void *file, pli_buf *out)
{
    return text_read(m, file, out);
}

static void text_close(pli_machine *m, void *file)
{
    (void)m, (void)file; /* of the archive's arena */
}

static plim_status text_link(pli_machine *m, const char *path, pli_buf *target)
{
    struct text_machine *t = text_of(m);
    pli_entry *e = serve(t, PLI_KIND_LINK, path);
    if (!e)
        return PLIM_NOT_FOUND;
    if (e->failed != PLIM_OK)
        return e->failed;
    const char *text = pli_entry_text(&t->archive, e);
    return text ? pli_buf_addz(target, text) : PLIM_NOMEM;
}

static plim_status text_stat(pli_machine *m, const char *path, pli_stat *out)
{
    struct text_machine *t = text_of(m);
    const pli_entry *e = serve(t, PLI_KIND_STAT, path);
    *out = (pli_stat){.type = PLI_FILE_OTHER};
    if (e) {
        (void)pli_stat_parse(e->body, out);
        return e->failed;
    }
    /* Nobody asked while it was recorded: what the other entries tell. */
    if (serve(t, PLI_KIND_DENIED, path))
        return PLIM_OK;
    struct path found;
    if (!locate(&t->archive, path, &found))
        return PLIM_NOT_FOUND;
    e = pli_archive_find(&t->archive, PLI_KIND_FILE, view(&found));
    if (e && e->failed == PLIM_NOT_FOUND)
        return PLIM_NOT_FOUND;
    *out = (pli_stat){.type = e ? PLI_FILE_REGULAR : PLI_FILE_DIRECTORY,
                      .size = e ? pli_entry_size(e) : 0,
                      .readable = !e || e->failed == PLIM_OK};
    return PLIM_OK;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static const char *text_env(pli_machine *m, const char *name)
{
    struct text_machine *t = text_of(m);
    pli_entry *e = pli_archive_serve(&t->archive, PLI_KIND_ENV, pli_s(name));
    return e ? pli_entry_text(&t->archive, e) : NULL;
}

/* Without entries time stands still, so that a recording always gives the same bytes. */
static uint64_t text_clock(pli_machine *m)
{
    const pli_entry *e = pli_archive_serve(&text_of(m)->archive, PLI_KIND_CLOCK, pli_s(""));
    uint64_t ns = 0;
    return e && pli_parse_u64(e->body, &ns) ? ns : 0;
}

static plim_status text_lib(pli_machine *m, const pli_lib *lib, pli_symbol *symbols)
{
    const pli_entry *e = pli_archive_serve(&text_of(m)->archive, PLI_KIND_LIB, pli_s(lib->id));
    for (size_t i = 0; i < lib->symbol_count; i++)
        symbols[i] = NULL;
    return e ? e->failed : PLIM_UNSUPPORTED; /* nobody asked: it may have been there */
}

static bool text_call_before(pli_machine *m, const pli_call *call, int *rc)
{
    *rc = pli_journal_replay(&text_of(m)->archive, call);
    return true;
}

static void text_call_after(pli_machine *m, const pli_call *call, int rc)
{
    (void)m, (void)call, (void)rc;
}

static plim_status text_run(pli_machine *m, const char *const argv[], uint32_t timeout_ms,
                            pli_run *run)
{
    struct text_machine *t = text_of(m);
    pli_buf key;
    (void)timeout_ms;
    pli_buf_init(&key, &m->allocator, PLI_MAX_RECORDING);
    for (size_t i = 0; argv[i]; i++)
        pli_key_add(&key, pli_s(argv[i]));
    plim_status status = key.failed;
    const pli_entry *out = pli_archive_serve(&t->archive, PLI_KIND_RUN, pli_buf_str(&key));
    const pli_entry *err = pli_archive_serve(&t->archive, PLI_KIND_STDERR, pli_buf_str(&key));
    pli_buf_free(&key);
    if (status == PLIM_OK)
        status = out ? out->failed : PLIM_NOT_FOUND;
    if (status != PLIM_OK)
        return status;
    run->exit_status = out->value;
    (void)pli_entry_content(out, &run->out); /* a cap that is hit stands in the buffer */
    if (err)
        (void)pli_entry_content(err, &run->err);
    return PLIM_OK;
}

static bool text_cpuid(pli_machine *m, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    char key[32];
    struct text_machine *t = text_of(m);
    pli_cpuid_key(leaf, sub, key);
    const pli_entry *e = pli_archive_serve(&t->archive, PLI_KIND_CPUID, pli_s(key));
    return e && pli_cpuid_parse(e->body, out);
}

static plim_status text_query(pli_machine *m, const char *node, const char *what, const void *in,
                              size_t in_size, void *out, size_t out_size, size_t *length)
{
    struct text_machine *t = text_of(m);
    pli_buf key, content;
    pli_buf_init(&key, &m->allocator, PLI_MAX_RECORDING);
    pli_key_add(&key, pli_s(node));
    pli_key_add(&key, pli_s(what));
    pli_query_input(&key, in, in_size);
    plim_status status = key.failed;
    const pli_entry *e = pli_archive_serve(&t->archive, PLI_KIND_QUERY, pli_buf_str(&key));
    pli_buf_free(&key);
    if (status == PLIM_OK)
        status = e ? e->failed : PLIM_NOT_FOUND;
    if (status != PLIM_OK)
        return status;
    pli_buf_init(&content, &m->allocator, out_size);
    status = pli_entry_content(e, &content);
    if (status == PLIM_OK) {
        memcpy(out, content.p, content.n);
        *length = content.n;
    }
    pli_buf_free(&content);
    return status;
}

/* The job is run here; how it ended was recorded. */
static void text_isolate(pli_machine *m, const char *name, pli_job job, void *arg,
                         uint32_t timeout_ms, pli_isolation *end)
{
    const pli_entry *e = pli_archive_serve(&text_of(m)->archive, PLI_KIND_ISOLATED, pli_s(name));
    (void)timeout_ms;
    *end = (pli_isolation){.status = PLIM_OK};
    job(m, arg);
    if (e && pli_isolation_parse(e->body, end))
        end->status = e->failed;
}

static void text_free(pli_machine *m)
{
    plim_allocator allocator = m->allocator;
    pli_archive_free(&text_of(m)->archive);
    pli_hook_resize(&allocator, m, sizeof(struct text_machine), 0);
}

static const pli_machine_ops text_ops = {
    text_read, text_open,  text_reread, text_close,   text_list,        text_link,
    text_stat, text_env,   text_clock,  text_lib,     text_call_before, text_call_after,
    text_run,  text_cpuid, text_query,  text_isolate, text_free,
};

bool pli_machine_is_text(const pli_machine *m)
{
    return m->ops == &text_ops;
}

bool pli_text_has(pli_machine *m, pli_kind kind, const char *path)
{
    const pli_archive *a = &text_of(m)->archive;
    struct path other;
    return pli_archive_find(a, kind, pli_s(path)) ||
           (has_other_name(a, path) && resolve(a, path, kind != PLI_KIND_LINK, &other) &&
            pli_archive_find(a, kind, view(&other)));
}

static void take_facts(struct text_machine *t)
{
    const pli_entry *e = pli_archive_find(&t->archive, PLI_KIND_FACTS, pli_s(""));
    t->base.facts.os = PLI_OS_LINUX;
    if (e)
        (void)pli_facts_parse(e->body, &t->base.facts);
}

plim_status pli_machine_text(const plim_allocator *allocator, pli_str text, const char *name,
                             plim_error *error, pli_machine **out)
{
    *out = NULL;
    struct text_machine *t = pli_hook_resize(allocator, NULL, 0, sizeof *t);
    if (!t)
        return pli_fail(error, PLIM_NOMEM, name, PLIM_NO_OFFSET, "out of memory");
    *t = (struct text_machine){.base = {.ops = &text_ops}};
    if (allocator)
        t->base.allocator = *allocator;
    /* The arena copies the allocator: the caller's may be gone before the machine. */
    plim_status status = pli_archive_parse(&t->archive, allocator, text, name, error);
    if (status != PLIM_OK) {
        pli_hook_resize(allocator, t, sizeof *t, 0);
        return status;
    }
    take_facts(t);
    *out = &t->base;
    return PLIM_OK;
}
