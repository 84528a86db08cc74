/* A recorded machine of anything at all: every entry is asked for, through a recorder; the text
 * that the recorder writes answers the same questions the same way. Another recorder takes the
 * identities out. */
#include "target.h"

#include <stdio.h>
#include <string.h>

#include "src/base/limits.h"
#include "src/machine/archive.h"

#define MAX_ASKED 2000 /* entries: more teach nothing new and cost time */

struct asker {
    pli_machine *m;
    pli_arena *arena;
    pli_buf log;
};

/* What is a directory to one and absent to the other is contradictory in the input. */
static void note(struct asker *a, plim_status status)
{
    (void)pli_buf_printf(&a->log, "%d\n", status == PLIM_IO ? PLIM_NOT_FOUND : status);
}

static void ask_path(struct asker *a, const pli_entry *e, const char *path)
{
    pli_names names;
    pli_stat st;
    if (e->kind == PLI_KIND_FILE || e->kind == PLI_KIND_DENIED) {
        note(a, a->m->ops->read(a->m, path, &a->log));
    } else if (e->kind == PLI_KIND_LINK) {
        note(a, a->m->ops->link(a->m, path, &a->log));
    } else if (e->failed != PLIM_NOT_FOUND && e->kind == PLI_KIND_DIR) {
        note(a, pli_list(a->m, a->arena, path, &names));
        for (size_t i = 0; i < names.count; i++)
            (void)pli_buf_addz(&a->log, names.items[i]);
    } else if (e->failed != PLIM_NOT_FOUND) {
        note(a, pli_stat_path(a->m, path, &st));
        pli_stat_write(&a->log, &st);
    }
}

static void ask_call(struct asker *a, pli_str words)
{
    char outs[3][64] = {"as the caller", "left", "them"};
    pli_str name, ordinal;
    int rc, (*fn)(void) = NULL;
    (void)pli_next_word(&words, &name);
    (void)pli_next_word(&words, &ordinal);
    const char *n = pli_strndup(a->arena, pli_unescape(a->arena, name));
    const char *o = pli_strndup(a->arena, pli_unescape(a->arena, ordinal));
    PLI_CALL(a->m, rc, fn, n, o, PLI_OUTS({outs[0], 4}, {outs[1], 64}), ());
    (void)pli_buf_printf(&a->log, "%d", rc);
    (void)pli_buf_add(&a->log, outs, sizeof outs);
    PLI_CALL(a->m, rc, fn, n, o, PLI_OUTS({outs[0], 4}), ());
    (void)pli_buf_printf(&a->log, "%d", rc);
}

static void ask_tool(struct asker *a, pli_str words)
{
    const char *argv[64];
    size_t n = 0;
    pli_run run = {.exit_status = 0};
    for (pli_str word; n < 63 && pli_next_word(&words, &word); n++)
        argv[n] = pli_strndup(a->arena, pli_unescape(a->arena, word));
    argv[n] = NULL;
    pli_buf_init(&run.out, NULL, 4096);
    pli_buf_init(&run.err, NULL, 4096);
    note(a, a->m->ops->run(a->m, argv, 1, &run));
    (void)pli_buf_printf(&a->log, "%d", run.exit_status);
    (void)pli_buf_add(&a->log, run.out.p, run.out.n);
    (void)pli_buf_add(&a->log, run.err.p, run.err.n);
    pli_buf_free(&run.out);
    pli_buf_free(&run.err);
}

static void ask_query(struct asker *a, pli_str words)
{
    pli_str node, what, in = {"", 0};
    unsigned char input[64], out[512];
    size_t size = 0, n = 0;
    (void)pli_next_word(&words, &node);
    (void)pli_next_word(&words, &what);
    (void)pli_next_word(&words, &in);
    if (!pli_bytes_decode(in, input, sizeof input, &size) || size > sizeof input)
        return;
    note(a, a->m->ops->query(a->m, pli_strndup(a->arena, pli_unescape(a->arena, node)),
                             pli_strndup(a->arena, pli_unescape(a->arena, what)), input, size, out,
                             sizeof out, &n));
    (void)pli_buf_add(&a->log, out, n);
}

static void job(pli_machine *m, void *arg)
{
    (void)m, (void)arg;
}

static void ask_name(struct asker *a, const pli_entry *e, const char *name)
{
    pli_lib lib = {.id = name};
    pli_isolation end;
    const char *value;
    if (e->kind == PLI_KIND_LIB) {
        note(a, a->m->ops->lib(a->m, &lib, NULL));
    } else if (e->kind == PLI_KIND_ENV) {
        value = pli_env(a->m, name);
        (void)pli_buf_addz(&a->log, value ? value : "unset");
    } else if (e->kind == PLI_KIND_ISOLATED) {
        a->m->ops->isolate(a->m, name, job, NULL, 1, &end);
        note(a, end.status);
        (void)pli_buf_addz(&a->log, end.last_call);
    }
}

static void ask_cpuid(struct asker *a, pli_str key)
{
    unsigned leaf, sub;
    uint32_t r[4] = {0};
    if (sscanf(key.p, "0x%x 0x%x", &leaf, &sub) == 2 && a->m->ops->cpuid(a->m, leaf, sub, r))
        (void)pli_buf_add(&a->log, r, sizeof r);
}

static void ask_all(struct asker *a, const pli_archive *archive)
{
    for (size_t i = 0; i < archive->count && i < MAX_ASKED; i++) {
        const pli_entry *e = &archive->entries[i];
        const char *name = pli_strndup(a->arena, e->key);
        if (pli_kind_is_path(e->kind))
            ask_path(a, e, name);
        else if (e->kind == PLI_KIND_CALL)
            ask_call(a, e->key);
        else if (e->kind == PLI_KIND_RUN)
            ask_tool(a, e->key);
        else if (e->kind == PLI_KIND_QUERY)
            ask_query(a, e->key);
        else if (e->kind == PLI_KIND_CPUID)
            ask_cpuid(a, pli_s(name));
        else
            ask_name(a, e, name);
    }
}

static struct asker new_asker(pli_machine *m)
{
    struct asker a = {.m = m, .arena = pli_arena_new(NULL, PLI_MAX_ARENA)};
    pli_buf_init(&a.log, NULL, PLI_MAX_PROC_FILE);
    return a;
}

static void free_asker(struct asker *a)
{
    pli_machine_close(a->m);
    pli_arena_free(a->arena);
    pli_buf_free(&a->log);
}

static void round_trip(pli_machine *inner, const pli_archive *archive)
{
    pli_machine *recorder, *again;
    pli_buf text;
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    FUZZ_CHECK(pli_machine_record(NULL, inner, true, &text, &recorder) == PLIM_OK);
    struct asker first = new_asker(recorder);
    ask_all(&first, archive);
    FUZZ_CHECK(text.failed == PLIM_OK || text.failed == PLIM_LIMIT);
    plim_status status = pli_machine_text(NULL, pli_buf_str(&text), "again", NULL, &again);
    FUZZ_CHECK(status == PLIM_OK);
    struct asker second = new_asker(again);
    ask_all(&second, archive);
    FUZZ_CHECK(first.log.failed != PLIM_OK || text.failed != PLIM_OK ||
               pli_same(pli_buf_str(&first.log), pli_buf_str(&second.log)));
    free_asker(&second);
    free_asker(&first);
    pli_buf_free(&text);
}

/* Whatever is taken out of it, a recording stays one. */
static void without_identities(pli_machine *inner, const pli_archive *archive)
{
    pli_machine *recorder, *again;
    pli_buf text;
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    FUZZ_CHECK(pli_machine_record(NULL, inner, false, &text, &recorder) == PLIM_OK);
    struct asker asker = new_asker(recorder);
    ask_all(&asker, archive);
    FUZZ_CHECK(pli_machine_text(NULL, pli_buf_str(&text), "again", NULL, &again) == PLIM_OK);
    pli_machine_close(again);
    free_asker(&asker);
    pli_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pli_str text = {size ? (const char *)data : "", size};
    plim_error error = PLIM_ERROR_INIT;
    pli_archive archive;
    pli_machine *m;
    plim_status status = pli_archive_parse(&archive, NULL, text, "fuzz", &error);
    FUZZ_CHECK(status == PLIM_OK || (error.what[0] && error.offset <= size));
    if (status != PLIM_OK)
        return 0;
    FUZZ_CHECK(pli_machine_text(NULL, text, "fuzz", NULL, &m) == PLIM_OK);
    round_trip(m, &archive);
    without_identities(m, &archive);
    pli_machine_close(m);
    pli_archive_free(&archive);
    return 0;
}
