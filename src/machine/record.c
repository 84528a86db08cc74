/* A machine that passes every question on and writes down what was answered. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "archive.h"
#include "redact.h"
#include "series.h"

struct recorder {
    pli_machine base;
    pli_machine_ops ops;
    pli_machine *inner;
    pli_series series;
    pli_redactor *redactor;
    pli_record_sink sink;
    pli_buf words, body, entry, bytes; /* scratch */
};

static struct recorder *recorder_of(pli_machine *m)
{
    return (struct recorder *)m;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void scratch_failed(struct recorder *r, const pli_buf *scratch)
{
    if (scratch->failed != PLIM_OK && r->series.text->failed == PLIM_OK)
        r->series.text->failed = scratch->failed;
}

/* A copy of the bytes without identities, in r->bytes. */
static pli_str redacted(struct recorder *r, pli_subject what, const char *subject,
                        const void *bytes, size_t n)
{
    pli_buf_reset(&r->bytes);
    (void)pli_buf_add(&r->bytes, bytes, n);
    scratch_failed(r, &r->bytes);
    pli_redact(r->redactor, what, subject, r->bytes.p, r->bytes.n);
    return pli_buf_str(&r->bytes);
}

/* begin, arguments, body, end: one entry. */
static void begin(struct recorder *r)
{
    pli_buf_reset(&r->words);
    pli_buf_reset(&r->body);
    pli_buf_reset(&r->entry);
}

static void argument(struct recorder *r, const char *word)
{
    pli_key_add(&r->words, redacted(r, PLI_SUBJECT_NAME, word, word, strlen(word)));
}

static void body(struct recorder *r, pli_subject what, const char *subject, const void *bytes,
                 size_t n)
{
    pli_str clean = redacted(r, what, subject, bytes, n);
    (void)pli_buf_add(&r->body, clean.p, clean.n);
}

static void end(struct recorder *r, pli_kind kind, const char *attribute, bool absent)
{
    size_t question =
        pli_entry_write(&r->entry, kind, pli_buf_str(&r->words), attribute, pli_buf_str(&r->body));
    scratch_failed(r, &r->words);
    scratch_failed(r, &r->body);
    scratch_failed(r, &r->entry);
    pli_series_add(&r->series, pli_buf_str(&r->entry), question, absent);
}

/* An operation on a named thing that failed. */
static void failed(struct recorder *r, pli_kind kind, plim_status status)
{
    char attribute[32];
    if (status == PLIM_NOMEM)
        return; /* ours, not the machine's */
    (void)snprintf(attribute, sizeof attribute, "failed=%s", plim_status_name(status));
    pli_buf_reset(&r->body);
    /* What a text answers of which it knows nothing. */
    plim_status nothing = kind == PLI_KIND_LIB ? PLIM_UNSUPPORTED : PLIM_NOT_FOUND;
    end(r, kind, attribute, status == nothing);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void file_answered(struct recorder *r, const char *path, plim_status status, pli_str content)
{
    begin(r);
    argument(r, path);
    if (status == PLIM_OK) {
        body(r, PLI_SUBJECT_FILE, path, content.p, content.n);
        end(r, PLI_KIND_FILE, NULL, false);
    } else {
        failed(r, PLI_KIND_FILE, status);
    }
}

static plim_status record_read(pli_machine *m, const char *path, pli_buf *out)
{
    struct recorder *r = recorder_of(m);
    size_t before = out->n;
    plim_status status = r->inner->ops->read(r->inner, path, out);
    file_answered(r, path, status, pli_skip(pli_buf_str(out), before));
    return status;
}

struct kept_file {
    void *inner;
    size_t size; /* of this */
    char path[];
};

static plim_status record_open(pli_machine *m, const char *path, void **file)
{
    struct recorder *r = recorder_of(m);
    size_t n = strlen(path) + 1, size = sizeof(struct kept_file) + n;
    *file = NULL;
    struct kept_file *kept = pli_hook_resize(&m->allocator, NULL, 0, size);
    if (!kept)
        return PLIM_NOMEM;
    kept->size = size;
    memcpy(kept->path, path, n);
    plim_status status = r->inner->ops->open(r->inner, path, &kept->inner);
    if (status == PLIM_OK) {
        *file = kept;
        return PLIM_OK;
    }
    file_answered(r, path, status, pli_s(""));
    pli_hook_resize(&m->allocator, kept, size, 0);
    return status;
}

static plim_status record_reread(pli_machine *m, void *file, pli_buf *out)
{
    struct recorder *r = recorder_of(m);
    struct kept_file *kept = file;
    size_t before = out->n;
    plim_status status = r->inner->ops->reread(r->inner, kept->inner, out);
    file_answered(r, kept->path, status, pli_skip(pli_buf_str(out), before));
    return status;
}

static void record_close(pli_machine *m, void *file)
{
    struct recorder *r = recorder_of(m);
    struct kept_file *kept = file;
    if (!kept)
        return;
    r->inner->ops->close(r->inner, kept->inner);
    pli_hook_resize(&m->allocator, kept, kept->size, 0);
}

static int compare_names(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = pli_natural_compare(x, y);
    return order ? order : strcmp(x, y);
}

static plim_status record_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    struct recorder *r = recorder_of(m);
    pli_buf line;
    plim_status status = r->inner->ops->list(r->inner, path, arena, out);
    begin(r);
    argument(r, path);
    if (status != PLIM_OK) {
        failed(r, PLI_KIND_DIR, status);
        return status;
    }
    if (out->count) /* the kernel's order says nothing, and differs between two runs */
        qsort(out->items, out->count, sizeof *out->items, compare_names);
    pli_buf_init(&line, &m->allocator, PLI_MAX_RECORDING);
    for (size_t i = 0; i < out->count; i++) {
        const char *name = out->items[i];
        pli_buf_reset(&line);
        pli_key_add(&line, redacted(r, PLI_SUBJECT_NAME, name, name, strlen(name)));
        (void)pli_buf_add(&r->body, line.p, line.n);
        (void)pli_buf_addz(&r->body, "\n");
    }
    scratch_failed(r, &line);
    pli_buf_free(&line);
    end(r, PLI_KIND_DIR, NULL, false);
    return status;
}

static plim_status record_link(pli_machine *m, const char *path, pli_buf *target)
{
    struct recorder *r = recorder_of(m);
    size_t before = target->n;
    plim_status status = r->inner->ops->link(r->inner, path, target);
    begin(r);
    argument(r, path);
    if (status == PLIM_OK) {
        pli_str text = pli_skip(pli_buf_str(target), before);
        body(r, PLI_SUBJECT_NAME, path, text.p, text.n);
        (void)pli_buf_addz(&r->body, "\n");
        end(r, PLI_KIND_LINK, NULL, false);
    } else {
        failed(r, PLI_KIND_LINK, status);
    }
    return status;
}

static plim_status record_stat(pli_machine *m, const char *path, pli_stat *out)
{
    struct recorder *r = recorder_of(m);
    plim_status status = r->inner->ops->stat(r->inner, path, out);
    begin(r);
    argument(r, path);
    if (status == PLIM_OK) {
        pli_stat_write(&r->body, out);
        end(r, PLI_KIND_STAT, NULL, false);
    } else {
        failed(r, PLI_KIND_STAT, status);
    }
    return status;
}

/* ---- environment, time, libraries, calls ----------------------------------------------------- */

static const char *record_env(pli_machine *m, const char *name)
{
    struct recorder *r = recorder_of(m);
    const char *value = r->inner->ops->env(r->inner, name);
    if (value) {
        begin(r);
        argument(r, name);
        body(r, PLI_SUBJECT_ENV, name, value, strlen(value));
        (void)pli_buf_addz(&r->body, "\n");
        end(r, PLI_KIND_ENV, NULL, false);
    }
    return value;
}

/* Not written: how long something took is no part of the machine. */
static uint64_t record_clock(pli_machine *m)
{
    struct recorder *r = recorder_of(m);
    return r->inner->ops->clock(r->inner);
}

static plim_status record_lib(pli_machine *m, const pli_lib *lib, pli_symbol *symbols)
{
    struct recorder *r = recorder_of(m);
    plim_status status = r->inner->ops->lib(r->inner, lib, symbols);
    begin(r);
    argument(r, lib->id);
    if (status == PLIM_OK)
        end(r, PLI_KIND_LIB, NULL, false);
    else
        failed(r, PLI_KIND_LIB, status);
    return status;
}

static void call_answered(struct recorder *r, const pli_call *call, int rc)
{
    char attribute[32];
    begin(r);
    argument(r, call->name);
    argument(r, call->ordinal);
    for (size_t i = 0; rc != PLI_CALL_MISSING && i < call->out_count; i++) {
        pli_str bytes =
            redacted(r, PLI_SUBJECT_OUTPUT, call->name, call->outs[i].p, call->outs[i].n);
        pli_bytes_encode(&r->body, bytes.p, bytes.n);
        (void)pli_buf_addz(&r->body, "\n");
    }
    (void)snprintf(attribute, sizeof attribute, rc == PLI_CALL_MISSING ? "rc=missing" : "rc=%d",
                   rc);
    end(r, PLI_KIND_CALL, attribute, false);
}

static bool record_call_before(pli_machine *m, const pli_call *call, int *rc)
{
    struct recorder *r = recorder_of(m);
    if (r->inner->ops->call_before(r->inner, call, rc)) {
        call_answered(r, call, *rc);
        return true;
    }
    if (r->sink.enter)
        r->sink.enter(r->sink.user, call);
    return false;
}

static void record_call_after(pli_machine *m, const pli_call *call, int rc)
{
    struct recorder *r = recorder_of(m);
    r->inner->ops->call_after(r->inner, call, rc);
    call_answered(r, call, rc);
    if (r->sink.leave)
        r->sink.leave(r->sink.user);
}

/* ---- tools, registers, queries --------------------------------------------------------------- */

static void tool_words(struct recorder *r, const char *const argv[])
{
    begin(r);
    for (size_t i = 0; argv[i]; i++)
        argument(r, argv[i]);
}

static plim_status record_run(pli_machine *m, const char *const argv[], uint32_t timeout_ms,
                              pli_run *run)
{
    struct recorder *r = recorder_of(m);
    char attribute[32];
    plim_status status = r->inner->ops->run(r->inner, argv, timeout_ms, run);
    tool_words(r, argv);
    if (status != PLIM_OK) {
        failed(r, PLI_KIND_RUN, status);
        return status;
    }
    (void)snprintf(attribute, sizeof attribute, "exit=%d", run->exit_status);
    body(r, PLI_SUBJECT_TEXT, argv[0], run->out.p, run->out.n);
    end(r, PLI_KIND_RUN, attribute, false);
    tool_words(r, argv);
    body(r, PLI_SUBJECT_TEXT, argv[0], run->err.p, run->err.n);
    end(r, PLI_KIND_STDERR, NULL, run->err.n == 0);
    return status;
}

static bool record_cpuid(pli_machine *m, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    struct recorder *r = recorder_of(m);
    bool there = r->inner->ops->cpuid(r->inner, leaf, sub, out);
    if (there) {
        char key[32];
        begin(r);
        pli_cpuid_key(leaf, sub, key);
        (void)pli_buf_addz(&r->words, key);
        (void)pli_buf_printf(&r->body, "%08x %08x %08x %08x\n", (unsigned)out[0], (unsigned)out[1],
                             (unsigned)out[2], (unsigned)out[3]);
        end(r, PLI_KIND_CPUID, NULL, false);
    }
    return there;
}

static plim_status record_query(pli_machine *m, const char *node, const char *what, const void *in,
                                size_t in_size, void *out, size_t out_size, size_t *length)
{
    struct recorder *r = recorder_of(m);
    plim_status status =
        r->inner->ops->query(r->inner, node, what, in, in_size, out, out_size, length);
    begin(r);
    argument(r, node);
    argument(r, what);
    pli_query_input(&r->words, in, in_size);
    if (status == PLIM_OK) {
        body(r, PLI_SUBJECT_TEXT, what, out, *length);
        end(r, PLI_KIND_QUERY, NULL, false);
    } else {
        failed(r, PLI_KIND_QUERY, status);
    }
    return status;
}

/* ---- isolation ------------------------------------------------------------------------------- */

struct isolated {
    struct recorder *r;
    pli_job job;
    void *arg;
};

/* In the child nobody reads what this recorder writes; in the parent the job is answered by what
 * the child saw, and that goes into the recording like anything else. */
static void record_job(pli_machine *machine, void *arg)
{
    struct isolated *isolated = arg;
    pli_machine *before = isolated->r->inner;
    isolated->r->inner = machine;
    isolated->job(&isolated->r->base, isolated->arg);
    isolated->r->inner = before;
}

static void record_isolate(pli_machine *m, const char *name, pli_job job, void *arg,
                           uint32_t timeout_ms, pli_isolation *how)
{
    struct recorder *r = recorder_of(m);
    struct isolated isolated = {r, job, arg};
    char attribute[32];
    r->inner->ops->isolate(r->inner, name, record_job, &isolated, timeout_ms, how);
    if (how->status == PLIM_OK)
        return;
    begin(r);
    argument(r, name);
    pli_isolation_write(&r->body, how);
    (void)snprintf(attribute, sizeof attribute, "failed=%s", plim_status_name(how->status));
    end(r, PLI_KIND_ISOLATED, attribute, false);
}

/* ---- making one ------------------------------------------------------------------------------ */

static void record_free(pli_machine *m)
{
    struct recorder *r = recorder_of(m);
    plim_allocator allocator = m->allocator;
    pli_buf *const scratch[] = {&r->words, &r->body, &r->entry, &r->bytes};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++)
        pli_buf_free(scratch[i]);
    pli_series_free(&r->series);
    pli_redactor_free(r->redactor);
    pli_hook_resize(&allocator, r, sizeof *r, 0);
}

static const pli_machine_ops record_ops = {
    record_read, record_open,  record_reread, record_close,   record_list,        record_link,
    record_stat, record_env,   record_clock,  record_lib,     record_call_before, record_call_after,
    record_run,  record_cpuid, record_query,  record_isolate, record_free,
};

static void write_head(struct recorder *r)
{
    begin(r);
    argument(r, "1");
    end(r, PLI_KIND_VERSION, NULL, false);
    begin(r);
    pli_facts_write(&r->body, &r->base.facts);
    end(r, PLI_KIND_FACTS, NULL, false);
}

plim_status pli_machine_record_to(const plim_allocator *allocator, pli_machine *inner,
                                  bool keep_identities, pli_buf *text, const pli_record_sink *sink,
                                  pli_machine **out)
{
    *out = NULL;
    struct recorder *r = pli_hook_resize(allocator, NULL, 0, sizeof *r);
    if (!r)
        return PLIM_NOMEM;
    *r = (struct recorder){.ops = record_ops, .inner = inner};
    r->base = (pli_machine){.ops = &r->ops, .facts = inner->facts};
    if (allocator)
        r->base.allocator = *allocator;
    if (sink)
        r->sink = *sink;
    if (!inner->ops->isolate)
        r->ops.isolate = NULL;
    pli_buf *const scratch[] = {&r->words, &r->body, &r->entry, &r->bytes};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++)
        pli_buf_init(scratch[i], &r->base.allocator, PLI_MAX_RECORDING);
    pli_series_init(&r->series, &r->base.allocator, text, &r->sink);
    r->redactor = keep_identities ? NULL : pli_redactor_new(allocator, inner);
    if (!keep_identities && !r->redactor) {
        record_free(&r->base);
        return PLIM_NOMEM;
    }
    write_head(r);
    *out = &r->base;
    return PLIM_OK;
}

plim_status pli_machine_record(const plim_allocator *allocator, pli_machine *inner,
                               bool keep_identities, pli_buf *text, pli_machine **out)
{
    return pli_machine_record_to(allocator, inner, keep_identities, text, NULL, out);
}
