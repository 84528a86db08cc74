/* What is loaded beside the model, as fields of the answer, terms of its explanation and flags of
 * the command. */
#include <inttypes.h>

#include "extras_tell.h"
#include "extras.h"

void pli_extras_tell_place(const pli_share *load, plim_placement *r)
{
    if (load->draft)
        PLI_SET(placement, r, draft_bytes, load->draft, NULL);
    if (load->projector)
        PLI_SET(placement, r, projector_bytes, load->projector, NULL);
    if (load->adapters)
        PLI_SET(placement, r, adapters_bytes, load->adapters, NULL);
    if (load->prompts)
        PLI_SET(placement, r, prompt_cache_bytes, load->prompts, NULL);
}

void pli_extras_tell_memory(const pli_plan *plan, const pli_sites *sites, plim_fit_memory *r)
{
    pli_share sum = {0};
    for (size_t i = 0; i <= sites->devices; i++) {
        sum.draft = pli_add_sat(sum.draft, plan->at[i].draft);
        sum.projector = pli_add_sat(sum.projector, plan->at[i].projector);
        sum.adapters = pli_add_sat(sum.adapters, plan->at[i].adapters);
        sum.prompts = pli_add_sat(sum.prompts, plan->at[i].prompts);
    }
    if (sum.draft)
        PLI_SET(fit_memory, r, draft_bytes, sum.draft, NULL);
    if (sum.projector)
        PLI_SET(fit_memory, r, projector_bytes, sum.projector, NULL);
    if (sum.adapters)
        PLI_SET(fit_memory, r, adapters_bytes, sum.adapters, NULL);
    if (sum.prompts)
        PLI_SET(fit_memory, r, prompt_cache_bytes, sum.prompts, NULL);
}

/* ---- terms ----------------------------------------------------------------------------------- */

typedef struct telling {
    pli_arena *arena;
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    const pli_plan *plan;
    plim_items *out;
} telling;

static void add(const telling *t, size_t site, const char *name, pli_certainty kind, uint64_t bytes,
                const char *formula)
{
    if (bytes)
        pli_add_term(t->arena, t->out, t->sites->at[site].name, name, kind, bytes, formula, true);
}

static void tell_draft(const telling *t)
{
    pli_calc calc = {false};
    pli_plan own;
    size_t to[PLI_MAX_SITES], count;
    const pli_draft *draft = t->setup->extras->draft;
    pli_draft_place(&calc, draft, t->shape, t->setup, t->sites, t->plan, &own, to, &count);
    for (size_t i = 0; i < count && !calc.overflow; i++) {
        const pli_share *load = &own.at[i];
        bool exact = t->sites->at[to[i]].backend->exact && !own.weights_estimated &&
                     !(draft->shape.arch->flags & (PLI_ARCH_INEXACT | PLI_ARCH_UNKNOWN));
        pli_certainty kind = exact ? PLI_EXACT : PLI_ESTIMATE;
        add(t, to[i], draft->own ? "next-token heads" : "draft model, weights", kind, load->weights,
            pli_printf(t->arena, "%" PRIu64 " layers", load->layers));
        add(t, to[i], "draft model, cache", kind, pli_add_sat(load->kv, load->state),
            pli_printf(t->arena, "%" PRIu64 " tokens, K %s, V %s", t->setup->context,
                       draft->type_k->name, draft->type_v->name));
        add(t, to[i], "draft model, compute", load->compute_kind, load->compute,
            "a graph of its own, for the same batch");
        add(t, to[i], "draft model, output", PLI_EXACT, load->output, "logits of a row a sequence");
    }
}

static void tell_projector(const telling *t)
{
    pli_calc calc = {false};
    const pli_projector *p = t->setup->extras->projector;
    size_t site = p->offloaded ? 0 : t->sites->devices;
    const pli_backend *backend = t->sites->at[site].backend;
    add(t, site, "projector, weights", backend->exact ? PLI_EXACT : PLI_ESTIMATE,
        pli_projector_weights(&calc, p, backend),
        pli_printf(t->arena, "%zu tensors; each a multiple of %" PRIu64 " B",
                   p->model->tensor_count, backend->alignment));
    add(t, site, "projector, compute", p->kind, pli_projector_compute(&calc, p, t->setup),
        pli_printf(t->arena,
                   "at most: %" PRIu64 " patches of the largest image x %" PRIu64 " x 4 B%s",
                   p->positions, p->elements, p->masked ? ", and a mask over all pairs" : ""));
}

static void tell_prompts(const telling *t)
{
    const pli_extras *extras = t->setup->extras;
    size_t host = t->sites->devices;
    if (extras->cache_unlimited)
        pli_add_term(t->arena, t->out, t->sites->at[host].name, "prompt cache", PLI_ESTIMATE, 0,
                     "grows without a limit (--cache-ram -1); not counted", false);
    else if (extras->cache_given)
        add(t, host, "prompt cache", PLI_BOUND, extras->cache, "at most: --cache-ram");
    else if (extras->cache)
        pli_add_term(t->arena, t->out, t->sites->at[host].name, "prompt cache", PLI_BOUND,
                     extras->cache, "grows with use up to this (--cache-ram); not counted", false);
}

void pli_extras_explain(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, const pli_plan *plan, plim_items *out)
{
    telling t = {arena, shape, setup, sites, plan, out};
    const pli_extras *extras = setup->extras;
    if (!extras)
        return;
    for (size_t i = 0; i <= sites->devices; i++)
        add(&t, i, "adapters", extras->adapter_count ? PLI_BOUND : PLI_EXACT, plan->at[i].adapters,
            extras->adapter_count
                ? "both halves where their tensors are, and the widest product of one"
                : "a row of the embeddings' width for each layer but the first");
    if (extras->projector)
        tell_projector(&t);
    if (extras->draft)
        tell_draft(&t);
    tell_prompts(&t);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static void add_file(pli_buf *out, const char *flag, const pli_model *model)
{
    (void)pli_buf_printf(out, " %s ", flag);
    pli_add_quoted(out, model->path ? model->path : "FILE.gguf");
}

static void add_draft(pli_buf *out, const pli_draft *draft, const pli_setup *setup)
{
    (void)pli_buf_printf(out, " --spec-type %s", draft->own ? "draft-mtp" : "draft-simple");
    if (!draft->own)
        add_file(out, "-md", draft->shape.model);
    if (!draft->own && draft->gpu_layers <= draft->shape.layers)
        (void)pli_buf_printf(out, " -ngld %" PRIu64, draft->gpu_layers);
    if (setup->drafted != 3)
        (void)pli_buf_printf(out, " --spec-draft-n-max %" PRIu64, setup->drafted);
    if (draft->devices)
        (void)pli_buf_addz(out, " -devd ");
    if (draft->devices)
        pli_add_quoted(out, draft->devices);
    pli_add_type(out, "-ctkd", draft->type_k);
    pli_add_type(out, "-ctvd", draft->type_v);
}

void pli_extras_command(pli_buf *out, const pli_setup *setup)
{
    const pli_extras *extras = setup->extras;
    if (!extras)
        return;
    if (extras->draft)
        add_draft(out, extras->draft, setup);
    if (extras->projector)
        add_file(out, "--mmproj", extras->projector->model);
    if (extras->projector && extras->kept_on_host)
        (void)pli_buf_addz(out, " --no-mmproj-offload");
    for (size_t i = 0; i < extras->adapter_count; i++)
        add_file(out, "--lora", extras->adapters[i].model);
    for (size_t i = 0; i < extras->control_count; i++)
        add_file(out, "--control-vector", extras->controls[i]);
    if (extras->cache_unlimited)
        (void)pli_buf_addz(out, " -cram -1");
    else if (extras->cache_given)
        (void)pli_buf_printf(out, " -cram %" PRIu64, extras->cache >> 20);
}
