/* Runs the probe table: stages in order, selection, timing, isolation of the probes that enter
 * vendors' code. */
#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "probe.h"

static const struct row {
    plim_probe_info info;
    unsigned os;
    pli_stage stage;
    const pli_probe *probe;
} rows[] = {
#define PROBE(id, systems, stage_, title)                                                          \
    {{#id, #stage_, title, false}, PLI_OS_##systems, PLI_STAGE_##stage_, &pli_probe_##id},
#include "table.def"
#undef PROBE
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

const plim_probe_info *plim_probe_at(size_t i)
{
    return i < ROW_COUNT ? &rows[i].info : NULL;
}

static bool named(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool selected(const struct row *row, const plim_detect_options *options, pli_os os)
{
    if (!(row->os & os) || named(options->skip, row->info.name))
        return false;
    return !options->only || named(options->only, row->info.name);
}

static uint32_t deadline_ms(const pli_probe_context *context)
{
    if (context->options->timeout_ms)
        return context->options->timeout_ms;
    /* The first call of a driver that is not kept loaded takes seconds for each device. */
    return 10000 + 2000 * (uint32_t)pli_device_count(context->inv);
}

struct job {
    const pli_probe *probe;
    pli_probe_context *context;
};

static void run_job(pli_machine *m, void *arg)
{
    struct job *job = arg;
    pli_machine *before = job->context->m;
    job->context->m = m;
    job->probe->run(job->context);
    job->context->m = before;
}

static void note_isolation(pli_probe_context *context, const pli_isolation *end)
{
    const char *in = end->last_call[0] ? end->last_call : "the library";
    const char *hint = "what the bus tells about the device is listed all the same";
    if (end->status == PLIM_TIMEOUT)
        pli_note(context->inv, "warning", context->name, in, hint,
                 "did not answer within %u ms and was given up",
                 (unsigned)(end->elapsed_us / 1000));
    else if (end->status == PLIM_CRASHED && end->signal)
        pli_note(context->inv, "warning", context->name, in, hint, "crashed with signal %d",
                 end->signal);
    else if (end->status == PLIM_CRASHED)
        pli_note(context->inv, "warning", context->name, in, hint,
                 "ended the process with status %d", end->exit_status);
    else if (end->status != PLIM_OK)
        pli_note(context->inv, "warning", context->name, in, NULL, "could not be isolated: %s",
                 plim_status_text(end->status));
}

static void run_probe(const struct row *row, pli_probe_context *context)
{
    struct job job = {row->probe, context};
    if (row->probe->gate && !row->probe->gate(context))
        return;
    if (!row->probe->isolated || !context->options->isolate || !context->m->ops->isolate) {
        row->probe->run(context);
        return;
    }
    pli_isolation end = {.status = PLIM_OK};
    context->m->ops->isolate(context->m, row->info.name, run_job, &job, deadline_ms(context), &end);
    note_isolation(context, &end);
}

static plim_status run_row(const struct row *row, pli_probe_context *context, plim_count *timing)
{
    context->scratch = pli_arena_new(&context->m->allocator, PLI_MAX_ARENA);
    if (!context->scratch)
        return PLIM_NOMEM;
    uint64_t start = context->m->ops->clock(context->m);
    context->name = row->info.name;
    run_probe(row, context);
    uint64_t end = context->m->ops->clock(context->m);
    *timing = (plim_count){row->info.name, end > start ? (end - start) / 1000 : 0};
    bool failed = pli_arena_failed(context->scratch);
    pli_arena_free(context->scratch);
    context->scratch = NULL;
    return failed ? PLIM_NOMEM : PLIM_OK;
}

static plim_status run_stages(pli_probe_context *context, plim_count *timings, size_t *count)
{
    for (int stage = 0; stage < PLI_STAGE_COUNT; stage++)
        for (size_t i = 0; i < ROW_COUNT; i++)
            if ((int)rows[i].stage == stage &&
                selected(&rows[i], context->options, context->m->facts.os)) {
                plim_status status = run_row(&rows[i], context, &timings[(*count)++]);
                if (status != PLIM_OK)
                    return status;
            }
    return PLIM_OK;
}

plim_status pli_probe_all(pli_machine *m, const plim_detect_options *options, pli_inventory *inv)
{
    pli_probe_context context = {.m = m, .inv = inv, .options = options};
    plim_count *timings = pli_alloc_array(inv->arena, ROW_COUNT, sizeof *timings);
    plim_timing *timing = PLI_NEW(inv->arena, timing);
    size_t count = 0;
    uint64_t start = m->ops->clock(m);
    if (!timings || !timing)
        return PLIM_NOMEM;
    context.shared = pli_arena_new(&m->allocator, PLI_MAX_ARENA);
    if (!context.shared)
        return PLIM_NOMEM;
    plim_status status = run_stages(&context, timings, &count);
    if (pli_arena_failed(context.shared))
        status = PLIM_NOMEM;
    pli_arena_free(context.shared);
    if (status != PLIM_OK)
        return status;
    pli_inventory_clean(inv);
    pli_inventory_finish(inv);
    uint64_t end = m->ops->clock(m);
    PLI_SET(timing, timing, total_us, end > start ? (end - start) / 1000 : 0, NULL);
    PLI_SET(timing, timing, probes, ((plim_counts){timings, count}), NULL);
    PLI_SET(machine, inv->machine, timing, timing, NULL);
    return PLIM_OK;
}
