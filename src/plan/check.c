/* plimsoll's figures against an engine's load log, term by term. */
#include <stdio.h>
#include <string.h>

#include "../base/context.h"
#include "../base/limits.h"
#include "../base/reader.h"
#include "../base/status.h"
#include "check.h"
#include "graph.h"
#include "repack.h"
#include "settings.h"

typedef struct check_result {
    plim_check pub; /* first */
    pli_arena *arena;
} check_result;

static void miss(pli_check *c, const char *text)
{
    if (pli_strs_add(c->arena, &c->check->missing, text))
        pli_mark(&c->check->head, PLIM_F_check_missing, NULL);
}

/* ---- the log's devices as a machine ---------------------------------------------------------- */

/* Which of the families that are planned for a device of this name means. */
static const char *family_of(pli_str device)
{
    static const struct {
        const char *prefix, *family;
    } families[] = {{"CUDA", "cuda"},
                    {"ROCm", "rocm"},
                    {"Metal", "metal"},
                    {"MTL", "metal"},
                    {"SYCL", "intel"}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (pli_starts(device, families[i].prefix))
            return families[i].family;
    return "vulkan";
}

/* "cuda:22000MiB,cuda:22000MiB": what was free on each; a TiB where the log does not say. */
static const char *spec_of(pli_check *c, double *shares, size_t *count)
{
    uint64_t free_mib[PLI_MAX_PLAN_DEVICES] = {0}, layers[PLI_MAX_PLAN_DEVICES] = {0};
    bool all_free = true, assigned = false;
    const char *family = NULL, *text = "cpu";
    *count = 0;
    for (size_t i = 0; i < c->log.device_count; i++) {
        const pli_log_device *d = &c->log.device[i];
        size_t at = pli_log_accelerator(&c->log, d->name);
        if (pli_log_is_host(d->name) || at >= PLI_MAX_PLAN_DEVICES)
            continue;
        *count = at + 1 > *count ? at + 1 : *count;
        family = family ? family : family_of(d->name);
        free_mib[at] = d->free_known ? d->free_mib : free_mib[at];
        layers[at] += d->layers;
        assigned |= d->layers > 0;
    }
    for (size_t i = 0; i < *count; i++) {
        all_free &= free_mib[i] > 0;
        shares[i] = (double)layers[i];
    }
    for (size_t i = 0; text && i < *count; i++)
        text = pli_printf(c->arena, "%s%s%s:%lluMiB", i ? text : "", i ? "," : "", family,
                          all_free ? (unsigned long long)free_mib[i] : 1ull << 20);
    c->split_known = assigned || all_free;
    if (!assigned)
        *count = 0;
    return text;
}

/* ---- the log's settings ---------------------------------------------------------------------- */

static const char *text_of(pli_check *c, pli_str view)
{
    return view.n ? pli_strndup(c->arena, view) : NULL;
}

static const char *engine_of(pli_check *c, const char *asked)
{
    static const char *const by_age[] = {"llama.cpp@b3000", "llama.cpp@b5400", "llama.cpp"};
    const pli_log *log = &c->log;
    if (asked)
        return asked;
    if (log->is_ik)
        return log->is_early_ik ? "ik_llama.cpp@2025-06" : "ik_llama.cpp";
    if (log->setting_known[PLI_LOG_BUILD] && log->setting[PLI_LOG_BUILD] >= 3000)
        return pli_printf(c->arena, "llama.cpp@b%llu",
                          (unsigned long long)log->setting[PLI_LOG_BUILD]);
    return by_age[log->age];
}

static uint64_t setting(const pli_check *c, pli_log_setting which, uint64_t otherwise)
{
    return c->log.setting_known[which] ? c->log.setting[which] : otherwise;
}

/* Everything cached lies with the host, though there are devices. */
static bool keeps_cache(const pli_log *log)
{
    bool host = false, device = false;
    for (size_t i = 0; i < log->device_count; i++)
        if (log->device[i].amount[PLI_LOG_KV].parts)
            *(pli_log_is_host(log->device[i].name) ? &host : &device) = true;
    return host && !device;
}

static void read_options(pli_check *c, const char *engine)
{
    const pli_log *log = &c->log;
    plim_fit_options *o = &c->options;
    o->engine = engine_of(c, engine);
    o->context = setting(c, PLI_LOG_CONTEXT, 0);
    o->batch = setting(c, PLI_LOG_BATCH, 0);
    o->ubatch = setting(c, PLI_LOG_UBATCH, 0);
    o->sequences = setting(c, PLI_LOG_SEQUENCES, 1);
    o->gpu_layers = (int64_t)pli_smaller(setting(c, PLI_LOG_LAYERS, INT32_MAX), INT32_MAX);
    o->kv_type_k = text_of(c, log->type_k);
    o->kv_type_v = text_of(c, log->type_v);
    o->kv_unified = log->setting_known[PLI_LOG_UNIFIED]
                        ? log->setting[PLI_LOG_UNIFIED] ? PLIM_ON : PLIM_OFF
                    : log->age == PLI_LOG_NEW ? PLIM_OFF
                                              : PLIM_ON; /* one cache was all there was */
    if (log->setting_known[PLI_LOG_FLASH])
        o->flash_attention = log->setting[PLI_LOG_FLASH] ? PLIM_ON : PLIM_OFF;
    if (log->setting_known[PLI_LOG_MLA] && o->engine && pli_starts(pli_s(o->engine), "ik_"))
        o->latent_attention = (int64_t)pli_smaller(log->setting[PLI_LOG_MLA], 4);
    o->swa_full = log->whole_windows;
    o->no_kv_offload = keeps_cache(log);
    if (!log->setting_known[PLI_LOG_CONTEXT])
        miss(c, "the tokens of context: as many as the model was trained for are assumed");
}

/* What the engine says of its context needs no rule of ours. */
static void take_context(pli_check *c)
{
    pli_setup *s = &c->setup;
    if (!c->log.setting_known[PLI_LOG_CONTEXT])
        return;
    s->context = c->log.setting[PLI_LOG_CONTEXT];
    s->context_per_sequence = setting(c, PLI_LOG_CONTEXT_EACH, s->context / s->streams);
    s->batch = setting(c, PLI_LOG_BATCH, s->batch);
    s->ubatch = setting(c, PLI_LOG_UBATCH, s->ubatch);
    s->outputs = setting(c, PLI_LOG_OUTPUTS, 0);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static plim_status plan(pli_check *c, const plim_machine *machine)
{
    pli_sites_read(machine, &c->sites);
    c->sites.repacks = c->where ? pli_repacks_of(c->where) : 0;
    plim_status status = pli_shape_read(c->arena, c->model, c->error, &c->shape);
    if (!status && c->shape.lacking)
        return pli_fail(c->error, PLIM_PARSE, c->name, PLIM_NO_OFFSET,
                        "the log does not tell the model's %s; name its file", c->shape.lacking);
    if (!status)
        status = pli_shape_for_engine(&c->shape, &c->options, c->error);
    if (!status)
        status = pli_setup_read(c->arena, &c->shape, &c->options, c->error, &c->setup);
    if (status)
        return status;
    take_context(c);
    c->shape.graph = pli_graph_new(c->arena);
    status = pli_resolve(c->arena, &c->shape, &c->sites, c->error, &c->setup);
    if (!status && (pli_place_weights(&c->shape, &c->setup, &c->sites, &c->plan) ||
                    pli_place_context(&c->shape, &c->setup, &c->sites, &c->plan)))
        return pli_fail(c->error, PLIM_LIMIT, c->name, PLIM_NO_OFFSET,
                        "the figures multiply to more than 2^64 bytes");
    return status;
}

/* "AMX", "CPU_REPACK", "CPU_AARCH64": weights in a layout of the processor's. */
static bool names_rearranged(const pli_log *log)
{
    for (size_t i = 0; i < log->device_count; i++) {
        pli_str name = log->device[i].name;
        if (pli_eq(name, "AMX") || pli_ends(name, "_REPACK") || pli_ends(name, "_AARCH64"))
            return true;
    }
    return false;
}

static void write_check(pli_check *c)
{
    plim_check *check = c->check;
    const plim_model *copy = pli_record_copy(c->arena, &plim_record_model, &c->model->pub);
    const plim_fit_settings *settings = pli_settings_record(c->arena, &c->setup, c->plan.offloaded);
    PLI_SET_STR(check, check, engine, pli_engine_text(c->arena, c->setup.generation), NULL);
    if (copy)
        PLI_SET(check, check, model, copy, NULL);
    if (settings)
        PLI_SET(check, check, settings, settings, NULL);
    if (c->model->tensor_count == 0)
        miss(c, "the model's tensors, so that weights are not predicted: name its file");
    c->rearranged = names_rearranged(&c->log);
    if (c->rearranged && !c->where)
        miss(c, "the processor, so that weights that it rearranges are estimated");
    if (c->log.more)
        miss(c, "what the log says of a second model or context is left out");
    if (!c->split_known && c->sites.devices > 1)
        miss(c, "which layer is on which device");
    pli_check_compare(c);
}

static plim_status judge(pli_check *c, const char *engine)
{
    double shares[PLI_MAX_PLAN_DEVICES];
    plim_machine *machine = NULL;
    const char *spec = spec_of(c, shares, &c->options.tensor_split_count);
    if (!spec)
        return PLIM_NOMEM;
    read_options(c, engine);
    c->options.tensor_split = shares;
    plim_status status = plim_machine_from_spec(c->context, spec, c->error, &machine);
    if (!status)
        status = plan(c, machine);
    if (!status)
        write_check(c);
    plim_machine_free(machine);
    return status;
}

/* The log's text; *missing where it is longer than what is read. */
static plim_status read_text(pli_check *c, const plim_reader *reader, pli_str *text)
{
    uint64_t size = pli_smaller(reader->size, PLI_MAX_LOG);
    char *bytes = pli_alloc_array(c->arena, (size_t)size + 1, 1);
    if (!bytes)
        return PLIM_NOMEM;
    *text = (pli_str){bytes, (size_t)size};
    if (reader->size > size)
        miss(c, "the log behind its first 64 MiB");
    return pli_reader_exact(reader, 0, bytes, (size_t)size, c->error);
}

static plim_status run(pli_check *c, const plim_reader *reader, const plim_model *model,
                       const char *engine)
{
    pli_str text;
    pli_model *told = NULL;
    plim_status status = read_text(c, reader, &text);
    if (!status)
        status = pli_log_read(c->arena, text, c->name, c->error, &c->log);
    if (!status && !c->log.loaded)
        return pli_fail(c->error, PLIM_PARSE, c->name, PLIM_NO_OFFSET,
                        "no line of a model being loaded (llama.cpp prints them with -v or -lv 5)");
    if (!status && !model)
        status =
            pli_log_model(&c->log, c->name, pli_context_allocator(c->context), c->error, &told);
    if (status)
        return status;
    c->model = model ? pli_model_of(model) : told;
    status = judge(c, engine);
    plim_model_free(told ? &told->pub : NULL);
    return status;
}

static pli_check *begin(plimsoll *context, pli_arena *arena, plim_error *error, const char *name)
{
    pli_check *c = arena ? pli_alloc(arena, sizeof *c) : NULL;
    check_result *result = c ? pli_alloc(arena, sizeof *result) : NULL;
    const char **source =
        result ? pli_alloc_array(arena, plim_record_check.field_count, sizeof *source) : NULL;
    if (!source)
        return NULL;
    result->arena = arena;
    *c = (pli_check){.context = context,
                     .arena = arena,
                     .check = &result->pub,
                     .error = error,
                     .name = name,
                     .options = PLIM_FIT_OPTIONS_INIT};
    result->pub.head.source = source;
    PLI_SET(check, &result->pub, schema, "plimsoll.check/1", NULL);
    PLI_SET(check, &result->pub, version, PLIM_VERSION_TEXT, NULL);
    return c;
}

plim_status plim_check_log(plimsoll *context, const plim_reader *log, const plim_model *model,
                           const char *engine, plim_error *error, plim_check **out)
{
    return pli_check_log(context, log, model, engine, NULL, error, out);
}

plim_status pli_check_log(plimsoll *context, const plim_reader *log, const plim_model *model,
                          const char *engine, const plim_machine *where, plim_error *error,
                          plim_check **out)
{
    *out = NULL;
    if (!context || !log || log->struct_size < sizeof *log || !log->read)
        return pli_fail(error, PLIM_INVALID, "check", PLIM_NO_OFFSET, "a log is needed");
    const char *name = log->name ? log->name : "log";
    pli_arena *arena = pli_arena_new(pli_context_allocator(context), PLI_MAX_ARENA);
    pli_check *c = begin(context, arena, error, name);
    if (c)
        c->where = where;
    plim_status status = c ? run(c, log, model, engine) : PLIM_NOMEM;
    if (!status && pli_arena_failed(arena))
        status = PLIM_NOMEM;
    if (status == PLIM_NOMEM)
        (void)pli_fail(error, PLIM_NOMEM, name, PLIM_NO_OFFSET, "out of memory");
    if (status)
        pli_arena_free(arena);
    else
        *out = c->check;
    return status;
}

void plim_check_free(plim_check *check)
{
    if (check)
        pli_arena_free(((check_result *)(void *)check)->arena);
}

plim_status plim_check_to_json(const plim_check *check, unsigned flags, char **text, size_t *length)
{
    return plim_record_to_json(&plim_record_check, check, flags, text, length);
}
