/* What the engine itself answers: llama.cpp's llama-fit-params, which plans without loading. */
#include <plimsoll/plimsoll.h>

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/limits.h"
#include "base/reader.h"
#include "base/status.h"
#include "machine/machine.h"
#include "plan/check.h"

#define TOOL "llama-fit-params"
#define MAX_ARGUMENTS 256u

/* ---- its command line ------------------------------------------------------------------------ */

typedef struct arguments {
    pli_arena *arena;
    const char *at[MAX_ARGUMENTS + 1]; /* NULL-terminated */
    size_t count;
    bool full;
} arguments;

static void add(arguments *a, const char *text)
{
    if (!text || a->count == MAX_ARGUMENTS) {
        a->full = true;
        return;
    }
    a->at[a->count++] = text;
}

static void add_pair(arguments *a, const char *flag, const char *value)
{
    add(a, flag);
    add(a, value);
}

static void add_number(arguments *a, const char *flag, uint64_t value)
{
    add_pair(a, flag, pli_printf(a->arena, "%" PRIu64, value));
}

static const char *shares_text(pli_arena *arena, const plim_fit_options *options)
{
    const char *text = "";
    for (size_t i = 0; text && i < options->tensor_split_count; i++)
        text = pli_printf(arena, "%s%s%.6g", text, i ? "," : "", options->tensor_split[i]);
    return text;
}

/* The settings as plimsoll judged them, so that both plan the same run. The tool has no word for a
 * cache that several conversations share: one conversation stands for them. */
static void describe(arguments *a, const char *path, const plim_fit_settings *s,
                     const plim_fit_options *options)
{
    bool shared = s->kv_unified && s->sequences > 1;
    add(a, TOOL);
    add_pair(a, "-m", path);
    add_pair(a, "-fit", "off");
    add_pair(a, "-fitp", "on");
    add_pair(a, "-lv", "5");
    add_number(a, "-c", s->context);
    add_number(a, "-b", s->batch);
    add_number(a, "-ub", s->ubatch);
    add_number(a, "-np", shared ? 1 : s->sequences);
    add_pair(a, "-fa", s->flash_attention ? "on" : "off");
    add_pair(a, "-ctk", s->kv_type_k);
    add_pair(a, "-ctv", s->kv_type_v);
    add_number(a, "-ngl", s->gpu_layers);
    if (options->split_mode)
        add_pair(a, "-sm", options->split_mode);
    if (options->tensor_split_count)
        add_pair(a, "-ts", shares_text(a->arena, options));
    if (options->main_gpu)
        add_number(a, "-mg", options->main_gpu);
    for (size_t i = 0; options->overrides && options->overrides[i]; i++)
        add_pair(a, "-ot", options->overrides[i]);
    if (s->swa_full)
        add(a, "--swa-full");
    if (!s->kv_offload)
        add(a, "--no-kv-offload");
    if (!s->op_offload)
        add(a, "--no-op-offload");
}

/* ---- running it ------------------------------------------------------------------------------ */

/* Its last words, for the message. */
static pli_str last_line(pli_str text)
{
    pli_str line, last = {"", 0};
    while (pli_next_line(&text, &line))
        if (pli_trim(line).n)
            last = pli_trim(line);
    return last;
}

static plim_status failed(plim_error *error, const pli_run *run)
{
    char said[160];
    (void)pli_clean(last_line(pli_buf_str(&run->err)), said, sizeof said);
    return pli_fail(error, PLIM_IO, TOOL, PLIM_NO_OFFSET, "ended with status %d: %s",
                    run->exit_status, said);
}

static plim_status not_run(plim_error *error, plim_status status)
{
    const char *why = status == PLIM_NOT_FOUND ? "not found in PATH: it comes with llama.cpp"
                      : status == PLIM_TIMEOUT ? "gave no answer in time"
                                               : plim_status_text(status);
    return pli_fail(error, status, TOOL, PLIM_NO_OFFSET, "%s", why);
}

/* What it prints, in both ways, as one log. */
static plim_status ask(pli_machine *m, const arguments *a, uint32_t timeout_ms, plim_error *error,
                       pli_buf *log)
{
    pli_run run = {.exit_status = 0};
    pli_buf_init(&run.out, &m->allocator, PLI_MAX_LOG);
    pli_buf_init(&run.err, &m->allocator, PLI_MAX_LOG);
    plim_status status = m->ops->run(m, a->at, timeout_ms, &run);
    if (status != PLIM_OK)
        status = not_run(error, status);
    else if (run.exit_status != 0)
        status = failed(error, &run);
    else if (pli_buf_add(log, run.err.p, run.err.n) || pli_buf_add(log, run.out.p, run.out.n))
        status = pli_fail(error, PLIM_NOMEM, TOOL, PLIM_NO_OFFSET, "out of memory");
    pli_buf_free(&run.out);
    pli_buf_free(&run.err);
    return status;
}

/* The engine ran here: what this processor rearranges is part of its answer. */
static plim_status check(plimsoll *context, const pli_buf *log, const plim_model *model,
                         const plim_fit_options *options, plim_error *error, plim_check **out)
{
    static const char *const processor[] = {"host_cpu", NULL};
    const pli_str text = pli_buf_str(log);
    plim_reader reader = pli_reader_memory(TOOL, &text);
    plim_detect_options look = PLIM_DETECT_OPTIONS_INIT;
    plim_machine *here;
    look.only = processor;
    plim_status status = plim_machine_detect(context, &look, error, NULL, &here);
    if (status != PLIM_OK)
        return status;
    status = pli_check_log(context, &reader, model, options->engine, here, error, out);
    plim_machine_free(here);
    return status;
}

plim_status plim_verify_fit(plimsoll *context, const char *path, const plim_model *model,
                            const plim_fit *fit, const plim_fit_options *options,
                            uint32_t timeout_ms, plim_error *error, plim_check **out)
{
    plim_fit_options none = PLIM_FIT_OPTIONS_INIT;
    pli_machine *machine = NULL;
    *out = NULL;
    if (!context || !path || !model || !fit || !PLIM_KNOWN(fit, fit, settings))
        return pli_fail(error, PLIM_INVALID, TOOL, PLIM_NO_OFFSET,
                        "a model's file and a fit with its settings are needed");
    const plim_allocator *allocator = pli_context_allocator(context);
    pli_arena *arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    arguments *a = arena ? pli_alloc(arena, sizeof *a) : NULL;
    plim_status status = a ? pli_machine_live(allocator, &machine) : PLIM_NOMEM;
    if (status == PLIM_OK) {
        pli_buf log;
        pli_buf_init(&log, allocator, 2 * (size_t)PLI_MAX_LOG);
        a->arena = arena;
        describe(a, path, fit->settings, options ? options : &none);
        status = a->full ? PLIM_LIMIT : ask(machine, a, timeout_ms, error, &log);
        if (status == PLIM_OK)
            status = check(context, &log, model, options ? options : &none, error, out);
        pli_buf_free(&log);
        machine->ops->free(machine);
    }
    if (status == PLIM_NOMEM || status == PLIM_LIMIT)
        (void)pli_fail(error, status, TOOL, PLIM_NO_OFFSET, "%s", plim_status_text(status));
    pli_arena_free(arena);
    return status;
}
