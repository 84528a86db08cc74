#include "explain.h"

#include <inttypes.h>
#include <string.h>

#include "compute.h"
#include "extras_tell.h"

#define NO_PARENT UINT64_MAX

typedef struct explaining {
    pli_arena *arena;
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    const pli_plan *plan;
    plim_items *out;
    uint64_t parent, depth; /* of the terms that follow */
} explaining;

/* Its number in the list. */
static uint64_t add_term(const explaining *e, const char *device, const char *name,
                         pli_certainty kind, uint64_t bytes, const char *formula)
{
    plim_term *term = PLI_NEW(e->arena, term);
    uint64_t id = e->out->count;
    if (!term)
        return id;
    PLI_SET(term, term, device, device, NULL);
    PLI_SET(term, term, term, name, NULL);
    PLI_SET_STR(term, term, formula, formula, NULL);
    PLI_SET(term, term, bytes, bytes, NULL);
    PLI_SET(term, term, kind, pli_certainty_name(kind), NULL);
    PLI_SET(term, term, id, id, NULL);
    if (e->parent != NO_PARENT)
        PLI_SET(term, term, parent, e->parent, NULL);
    PLI_SET(term, term, depth, e->depth, NULL);
    (void)pli_items_add(e->arena, e->out, term);
    return id;
}

/* The same explanation, one level down. */
static explaining below(const explaining *e, uint64_t parent)
{
    explaining part = *e;
    part.parent = parent;
    part.depth++;
    return part;
}

static const char in_all[] = "in all"; /* the root of a memory's terms */

void pli_add_term(pli_arena *arena, plim_items *out, const char *device, const char *name,
                  pli_certainty kind, uint64_t bytes, const char *formula, bool counted)
{
    explaining e = {.arena = arena, .out = out, .parent = NO_PARENT};
    for (size_t i = 0; counted && i < out->count; i++) {
        const plim_term *term = out->items[i];
        if (term->depth == 0 && strcmp(term->term, in_all) == 0 &&
            strcmp(term->device, device) == 0) {
            e.parent = i;
            e.depth = 1;
        }
    }
    (void)add_term(&e, device, name, kind, bytes, formula);
}

static pli_certainty cache_kind(const explaining *e, const pli_site *site)
{
    return (e->shape->arch->flags & PLI_ARCH_INEXACT) || !site->backend->exact ? PLI_ESTIMATE
                                                                               : PLI_EXACT;
}

/* "input, 4 layers, output (the embeddings again)" */
static const char *contents(const explaining *e, size_t i)
{
    bool is_host = i == e->sites->devices, has_output = i == e->plan->output_site;
    const pli_share *load = &e->plan->at[i];
    const char *layers =
        is_host && !load->layers
            ? "input"
            : pli_printf(e->arena, "%s%" PRIu64 " layers", is_host ? "input, " : "", load->layers);
    return layers ? pli_printf(e->arena, "%s%s%s%s", layers, has_output ? ", output" : "",
                               has_output && e->plan->tied_copy ? " (the embeddings again)" : "",
                               e->setup->taken ? ", less or more by -ot" : "")
                  : NULL;
}

static const char *const uses[PLI_USES] = {
    [PLI_FOR_INPUT] = "embeddings",      [PLI_FOR_ATTENTION] = "attention",
    [PLI_FOR_RECURRENCE] = "recurrence", [PLI_FOR_FEED_FORWARD] = "feed-forward",
    [PLI_FOR_EXPERTS] = "experts",       [PLI_FOR_OUTPUT] = "output and norms",
    [PLI_FOR_ELSE] = "other tensors",
};

/* What the processor rearranges is no page of the file, and not given back under pressure. */
static const char *repacked(const explaining *e, size_t i)
{
    char bytes[32];
    const char *text = "";
    if (i == e->sites->devices && e->plan->repacked)
        text = pli_printf(e->arena, "; %s rearranged for this processor (-nr: as in the file)",
                          plim_bytes_text(e->plan->repacked, bytes, sizeof bytes));
    return text ? text : "";
}

static void explain_weights(const explaining *e, size_t i)
{
    const pli_site *site = &e->sites->at[i];
    const pli_share *load = &e->plan->at[i];
    pli_certainty kind =
        site->backend->exact && !e->plan->weights_estimated ? PLI_EXACT : PLI_ESTIMATE;
    const char *what = contents(e, i);
    if (!load->weights || !what)
        return;
    explaining parts =
        below(e, add_term(e, site->name, "weights", kind, load->weights,
                          pli_printf(e->arena, "%s; each tensor a multiple of %" PRIu64 " B%s",
                                     what, site->backend->alignment, repacked(e, i))));
    for (size_t k = 0; k < PLI_USES; k++)
        if (load->weights_for[k])
            (void)add_term(&parts, site->name, uses[k], kind, load->weights_for[k],
                           "as the file stores it, padded");
}

/* The sum over the machine: one line for each kind of cache. */
static void explain_caches(const explaining *e)
{
    const pli_setup *s = e->setup;
    for (size_t i = 0; i < e->plan->cache_count; i++) {
        const pli_cache *c = &e->plan->cache[i];
        uint64_t bytes = pli_mul_sat(pli_mul_sat(c->cells, c->streams),
                                     pli_add_sat(c->key_bytes, c->value_bytes));
        (void)add_term(e, "all", pli_cache_kind_name(c->kind),
                       e->shape->arch->flags & PLI_ARCH_INEXACT ? PLI_ESTIMATE : PLI_EXACT, bytes,
                       pli_printf(e->arena,
                                  "%" PRIu64 " cells x %" PRIu64 " streams x (K %" PRIu64
                                  " B %s + V %" PRIu64 " B %s) over %" PRIu64 " layers",
                                  c->cells, c->streams, c->key_bytes, s->type_k->name,
                                  c->value_bytes, s->type_v->name, c->layers));
    }
    if (e->plan->state_layers)
        (void)add_term(e, "all", "recurrent state",
                       e->shape->arch->flags & PLI_ARCH_INEXACT ? PLI_ESTIMATE : PLI_EXACT,
                       pli_mul_sat(e->plan->state_bytes, s->sequences),
                       pli_printf(e->arena,
                                  "%" PRIu64 " sequences x %" PRIu64 " B over %" PRIu64 " layers",
                                  s->sequences, e->plan->state_bytes, e->plan->state_layers));
}

static const char *compute_formula(const explaining *e, size_t i)
{
    uint64_t tokens = pli_graph_tokens(e->setup);
    switch (e->plan->at[i].compute_kind) {
    case PLI_EXACT:
        return i == e->sites->devices
                   ? pli_printf(e->arena,
                                "inputs of %" PRIu64 " tokens: ids, positions, embeddings, masks",
                                tokens)
                   : pli_printf(e->arena,
                                "the engine's graph of %" PRIu64
                                " tokens, allocated as it would be",
                                tokens);
    case PLI_BOUND:
        return pli_printf(
            e->arena, "at most: widest point of a layer or the logits, %" PRIu64 " tokens x 4 B",
            tokens);
    case PLI_ESTIMATE:
        break;
    }
    if (e->shape->graph && !e->setup->checked)
        return pli_printf(e->arena, "about: the graph of %" PRIu64 " tokens as %s allocates it",
                          tokens, e->setup->generation->name);
    return pli_printf(
        e->arena, "about: widest point of a layer or the logits, %" PRIu64 " tokens x 4 B", tokens);
}

/* As uncertain as the most uncertain of its parts. */
static pli_certainty whole_kind(const explaining *e, size_t i)
{
    const pli_share *load = &e->plan->at[i];
    bool exact = e->sites->at[i].backend->exact && !e->plan->weights_estimated && !load->overhead &&
                 !(e->shape->arch->flags & PLI_ARCH_INEXACT);
    return exact ? load->compute_kind : PLI_ESTIMATE;
}

static const char *whole_formula(const explaining *e, size_t i)
{
    const pli_site *site = &e->sites->at[i];
    if (!site->budget_known)
        return "the sum of its parts";
    return pli_printf(e->arena, "the sum of its parts; %" PRIu64 " B may be used", site->budget);
}

static void explain_parts(const explaining *e, size_t i)
{
    const pli_site *site = &e->sites->at[i];
    const pli_share *load = &e->plan->at[i];
    explain_weights(e, i);
    if (load->kv)
        (void)add_term(e, site->name, "KV cache here", cache_kind(e, site), load->kv,
                       pli_printf(e->arena,
                                  "of its layers, each tensor rounded up to %" PRIu64 " B",
                                  site->backend->alignment));
    if (load->state)
        (void)add_term(e, site->name, "recurrent state here", cache_kind(e, site), load->state,
                       "of its layers");
    if (load->compute)
        (void)add_term(e, site->name, "compute buffers", load->compute_kind, load->compute,
                       compute_formula(e, i));
    if (load->output)
        (void)add_term(e, site->name, "output", PLI_EXACT, load->output,
                       pli_printf(e->arena, "vocabulary %" PRIu64 " x %" PRIu64 " sequences x 4 B",
                                  e->shape->vocabulary, e->setup->sequences));
    if (load->overhead)
        (void)add_term(
            e, site->name, "driver and kernels", PLI_ESTIMATE, load->overhead,
            "the backend's own context, and a layer's cache as f16 where it is another type");
}

static void explain_site(const explaining *e, size_t i)
{
    if (!e->plan->at[i].used)
        return;
    explaining parts = below(e, add_term(e, e->sites->at[i].name, in_all, whole_kind(e, i),
                                         e->plan->at[i].used, whole_formula(e, i)));
    explain_parts(&parts, i);
}

static void explain_budgets(const explaining *e)
{
    const pli_site *host = pli_sites_host(e->sites);
    for (size_t i = 0; i < e->sites->devices; i++)
        if (e->sites->at[i].shared)
            (void)add_term(e, host->name, "of devices that share it", PLI_EXACT,
                           pli_sub_sat(e->plan->at[i].used, e->sites->at[i].own),
                           pli_printf(e->arena, "%s has no memory of its own: counted in RAM too",
                                      e->sites->at[i].name));
    if (host->budget_known)
        (void)add_term(e, host->name, "kept for the system", PLI_EXACT, e->sites->safety,
                       "safety buffer, taken from what is free before anything is compared");
}

bool pli_explain(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                 const pli_sites *sites, const pli_plan *plan, plim_items *out)
{
    explaining e = {arena, shape, setup, sites, plan, out, NO_PARENT, 0};
    explain_caches(&e);
    for (size_t i = 0; i <= sites->devices; i++)
        explain_site(&e, i);
    pli_extras_explain(arena, shape, setup, sites, plan, out);
    explain_budgets(&e);
    return !pli_arena_failed(arena);
}
