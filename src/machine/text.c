/* A recorded machine: every operation is answered from an archive, nothing else is touched. */
#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"
#include "archive.h"
#include "journal.h"
#include "text.h"

#include <string.h>

struct text_machine {
    pli_machine base;
    pli_archive archive;
};

static struct text_machine *text_of(pli_machine *m)
{
    return (struct text_machine *)m;
}

/* ---- files and directories ------------------------------------------------------------------- */

static plim_status text_read(pli_machine *m, const char *path, pli_buf *out)
{
    const pli_archive *a = &text_of(m)->archive;
    pli_entry *e = pli_archive_serve_path(a, PLI_KIND_FILE, path);
    if (e)
        return e->failed != PLIM_OK ? e->failed : pli_entry_content(e, out);
    if (pli_archive_has_path(a, PLI_KIND_DENIED, path))
        return PLIM_PERMISSION;
    return pli_archive_locate(a, path, &e) ? PLIM_IO : PLIM_NOT_FOUND; /* a directory */
}

/* The handle is the path: a series moves on whoever asks. A failure that comes next is that of
 * opening. */
static plim_status text_open(pli_machine *m, const char *path, void **file)
{
    const pli_archive *a = &text_of(m)->archive;
    pli_entry *first;
    *file = NULL;
    if (!pli_archive_locate(a, path, &first))
        return pli_archive_has_path(a, PLI_KIND_DENIED, path) ? PLIM_PERMISSION : PLIM_NOT_FOUND;
    if (first && first[first->next].failed != PLIM_OK)
        return pli_archive_serve(a, PLI_KIND_FILE, first->key)->failed;
    *file = pli_strdup(a->arena, path);
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

static plim_status text_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    const pli_archive *a = &text_of(m)->archive;
    const pli_entry *e = pli_archive_serve_path(a, PLI_KIND_DIR, path);
    if (e)
        return e->failed != PLIM_OK ? e->failed : pli_entry_names(e, arena, out);
    if (pli_archive_has_path(a, PLI_KIND_DENIED, path))
        return PLIM_PERMISSION;
    return pli_archive_list_implied(a, path, arena, out);
}

static plim_status text_link(pli_machine *m, const char *path, pli_buf *target)
{
    const pli_archive *a = &text_of(m)->archive;
    pli_entry *e = pli_archive_serve_path(a, PLI_KIND_LINK, path);
    if (!e || e->failed != PLIM_OK)
        return e ? e->failed : PLIM_NOT_FOUND;
    const char *text = pli_entry_text(a, e);
    return text ? pli_buf_addz(target, text) : PLIM_NOMEM;
}

/* Nobody asked while it was recorded: what the other entries tell. */
static plim_status stat_implied(const pli_archive *a, const char *path, pli_stat *out)
{
    pli_entry *file;
    if (pli_archive_has_path(a, PLI_KIND_DENIED, path))
        return PLIM_OK;
    if (!pli_archive_locate(a, path, &file) || (file && file->failed == PLIM_NOT_FOUND))
        return PLIM_NOT_FOUND;
    *out = (pli_stat){.type = file ? PLI_FILE_REGULAR : PLI_FILE_DIRECTORY,
                      .size = file ? pli_entry_size(file) : 0,
                      .readable = !file || file->failed == PLIM_OK};
    return PLIM_OK;
}

static plim_status text_stat(pli_machine *m, const char *path, pli_stat *out)
{
    const pli_archive *a = &text_of(m)->archive;
    const pli_entry *e = pli_archive_serve_path(a, PLI_KIND_STAT, path);
    *out = (pli_stat){.type = PLI_FILE_OTHER};
    if (!e)
        return stat_implied(a, path, out);
    if (e->failed == PLIM_OK)
        (void)pli_stat_parse(e->body, out);
    return e->failed;
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
    return pli_archive_has_path(&text_of(m)->archive, kind, path);
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
