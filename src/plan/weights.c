/* Which memory each tensor lies in, by llama.cpp's rules (llama-model.cpp: load_tensors, b7847). */
#include <string.h>

#include "../base/status.h"
#include "load.h"
#include "repack.h"
#include "roles.h"

const char *pli_certainty_name(pli_certainty certainty)
{
    static const char *const names[] = {"exact", "bound", "estimate"};
    return names[certainty];
}

/* Which pattern is the first to match each name: asked once, not at every placement. */
static plim_status take(pli_arena *arena, const pli_model *model, pli_setup *setup)
{
    uint8_t *taken = pli_alloc(arena, model->tensor_count);
    if (!taken)
        return PLIM_NOMEM;
    memset(taken, PLI_NOT_TAKEN, model->tensor_count);
    for (size_t i = 0; i < model->tensor_count; i++)
        for (size_t k = 0; k < setup->override_count && taken[i] == PLI_NOT_TAKEN; k++)
            if (pli_pattern_found(setup->overrides[k].pattern, model->tensors[i].name))
                taken[i] = (uint8_t)setup->overrides[k].site;
    setup->taken = taken;
    return PLIM_OK;
}

/* The engine opens no other device then: nothing is lent to it either. */
static void keep_main(const pli_setup *setup, pli_sites *sites)
{
    if (setup->split != PLI_SPLIT_NONE || sites->devices < 2)
        return;
    sites->at[0] = sites->at[setup->main_gpu];
    sites->at[1] = sites->at[sites->devices];
    sites->devices = 1;
    sites->alone = true;
}

plim_status pli_resolve(pli_arena *arena, const pli_shape *shape, pli_sites *sites,
                        plim_error *error, pli_setup *setup)
{
    if (setup->main_gpu && setup->main_gpu >= sites->devices && !sites->alone)
        return pli_fail(error, PLIM_INVALID, "-mg", PLIM_NO_OFFSET, "there are %zu devices",
                        sites->devices);
    keep_main(setup, sites);
    for (size_t i = 0; i < setup->override_count; i++)
        if (!pli_sites_by_buffer(sites, setup->overrides[i].buffer, &setup->overrides[i].site))
            return pli_fail(error, PLIM_INVALID, "-ot", PLIM_NO_OFFSET,
                            "this machine has no buffer %s", setup->overrides[i].buffer);
    return setup->override_count ? take(arena, shape->model, setup) : PLIM_OK;
}

/* ---- layers to devices ----------------------------------------------------------------------- */

/* What -ts counts when it is not given: free memory; the host's for a device that tells none. */
static float weight_of(const pli_sites *sites, size_t device)
{
    const pli_site *site = &sites->at[device];
    if (site->free_known)
        return (float)site->free;
    return (float)(site->total_known ? site->total : pli_sites_host(sites)->free);
}

/* In float, as the engine computes it: a layer at a boundary must fall on the same side. */
static void set_split(const pli_setup *setup, const pli_sites *sites, pli_plan *plan)
{
    float sum = 0;
    for (size_t d = 0; d < sites->devices; d++) {
        if (setup->split == PLI_SPLIT_NONE) /* there is one */
            sum += 1.0f;
        else if (setup->shares)
            sum += d < setup->share_count ? (float)setup->shares[d] : 0.0f;
        else
            sum += weight_of(sites, d);
        plan->until[d] = sum;
    }
    for (size_t d = 0; d < sites->devices; d++)
        plan->until[d] /= sum;
}

size_t pli_layer_site(const pli_plan *plan, const pli_sites *sites, uint64_t il)
{
    if (il < plan->first || il - plan->first >= plan->offloaded)
        return sites->devices;
    float at = (float)(il - plan->first) / (float)plan->offloaded;
    size_t d = 0;
    while (d + 1 < sites->devices && !(plan->until[d] > at))
        d++;
    return d;
}

static void set_layers(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                       pli_plan *plan)
{
    plan->offloaded = sites->devices ? setup->gpu_layers : 0;
    plan->first = shape->layers + 1 - plan->offloaded;
    if (sites->devices)
        set_split(setup, sites, plan);
    for (uint64_t il = 0; il < shape->layers; il++)
        plan->at[pli_layer_site(plan, sites, il)].layers++;
    plan->output_site = pli_layer_site(plan, sites, shape->layers);
}

/* ---- tensors to memories --------------------------------------------------------------------- */

uint64_t pli_allocated(pli_calc *calc, const pli_backend *backend, const pli_quant *type,
                       uint64_t width, uint64_t bytes)
{
    uint64_t padding = 0, to = backend->row_padding;
    if (type->block_elements > 1 && to && width % to)
        padding = pli_times(calc, type->block_bytes, to - width % to) / type->block_elements;
    return pli_padded(calc, pli_plus(calc, bytes, padding), backend->alignment);
}

typedef struct placing {
    const pli_shape *shape;
    const pli_setup *setup;
    const pli_sites *sites;
    pli_plan *plan;
    pli_calc calc;
    bool input; /* the tensor is looked up, not multiplied */
} placing;

static size_t index_of(const placing *p, const pli_tensor *tensor)
{
    return (size_t)(tensor - p->shape->model->tensors);
}

/* What of it a token needs: of the experts those it is routed to, of the input embeddings a row. */
static uint64_t active_bytes(const placing *p, size_t tensor, uint64_t bytes)
{
    if (p->input)
        return 0;
    if (p->shape->experts && (p->shape->role[tensor].part & PLI_PART_EXPERTS))
        return bytes / p->shape->experts * p->shape->experts_used;
    return bytes;
}

static void add_bytes(placing *p, const pli_tensor *tensor, size_t site, uint64_t bytes)
{
    const pli_backend *backend = p->sites->at[site].backend;
    const pli_quant *type = pli_quant_at(tensor->type);
    uint64_t taken = pli_allocated(&p->calc, backend, type, tensor->shape[0], bytes);
    pli_share *at = &p->plan->at[site];
    uint64_t extra;
    if (site == p->sites->devices && !p->input &&
        pli_repacked(p->sites, p->setup, tensor, &extra)) {
        taken = pli_plus(&p->calc, taken, extra);
        p->plan->repacked = pli_plus(&p->calc, p->plan->repacked, taken);
    }
    uint64_t *use = &at->weights_for[p->shape->role[index_of(p, tensor)].use];
    at->weights = pli_plus(&p->calc, at->weights, taken);
    *use = pli_add_sat(*use, taken);
    p->plan->at[site].read =
        pli_add_sat(p->plan->at[site].read, active_bytes(p, index_of(p, tensor), bytes));
    if (type->block_bytes == 0 || !backend->exact)
        p->plan->weights_estimated = true;
}

/* -sm row cuts the matrices of offloaded layers by rows; experts and vectors stay whole. */
static bool is_cut(const placing *p, const pli_tensor *tensor, size_t site)
{
    return p->setup->split == PLI_SPLIT_ROW && site < p->sites->devices && tensor->dims == 2 &&
           tensor->shape[1] > 1;
}

static void add_cut(placing *p, const pli_tensor *tensor)
{
    uint64_t left = tensor->bytes;
    float before = 0;
    for (size_t d = 0; d < p->sites->devices && left; d++) {
        double share = (double)p->plan->until[d] - (double)before;
        uint64_t rows = (uint64_t)(share * (double)tensor->shape[1] + 0.5);
        uint64_t bytes =
            pli_smaller(left, pli_times(&p->calc, rows, tensor->bytes / tensor->shape[1]));
        before = p->plan->until[d];
        if (d + 1 == p->sites->devices)
            bytes = left;
        add_bytes(p, tensor, d, bytes);
        left -= bytes;
    }
    p->plan->weights_estimated = true;
}

static size_t add_tensor(placing *p, const pli_tensor *tensor, size_t site)
{
    size_t to = pli_overridden(p->setup, index_of(p, tensor), site);
    if (to == site && is_cut(p, tensor, site))
        add_cut(p, tensor);
    else
        add_bytes(p, tensor, to, tensor->bytes);
    return to;
}

/* A matrix of a layer or the output that stays on the host is lent to a device for large
 * batches. */
static void add_working(placing *p, const pli_tensor *tensor, size_t site)
{
    if (add_tensor(p, tensor, site) == p->sites->devices && tensor->dims > 1)
        p->plan->copied = pli_larger(p->plan->copied, tensor->bytes);
}

/* A tensor that every layer names is made once in each memory that has layers. */
static void add_everywhere(placing *p, const pli_tensor *tensor)
{
    bool there[PLI_MAX_SITES] = {false};
    bool full_only = p->shape->arch->flags & PLI_ARCH_FREQS_IN_FULL;
    for (uint64_t il = 0; il < p->shape->run_layers; il++) {
        if (full_only && p->shape->layer[il].slides)
            continue;
        size_t site =
            pli_overridden(p->setup, index_of(p, tensor), pli_layer_site(p->plan, p->sites, il));
        if (!there[site])
            add_bytes(p, tensor, site, tensor->bytes);
        there[site] = true;
    }
}

/* A model without an output matrix uses its embeddings a second time: a copy, unless it would
 * lie in the same memory in the same layout. */
static void add_tied(placing *p, const pli_tensor *embedding, size_t embedding_site)
{
    size_t site = pli_overridden(p->setup, index_of(p, embedding), p->plan->output_site);
    uint64_t extra;
    bool same = site == embedding_site && !(p->shape->arch->flags & PLI_ARCH_EMBEDDING_TWICE);
    if (same && site == p->sites->devices)
        same = !pli_repacked(p->sites, p->setup, embedding, &extra);
    if (same) {
        if (site == p->sites->devices)
            p->plan->copied = pli_larger(p->plan->copied, embedding->bytes);
        return;
    }
    add_working(p, embedding, p->plan->output_site);
    p->plan->tied_copy = true;
}

size_t pli_norm_site(const pli_plan *plan, const pli_setup *setup, const pli_sites *sites)
{
    return setup->generation->flags & PLI_GEN_NORM_AT_FIRST ? pli_layer_site(plan, sites, 0)
                                                            : sites->devices;
}

plim_status pli_place_weights(const pli_shape *shape, const pli_setup *setup,
                              const pli_sites *sites, pli_plan *plan)
{
    placing p = {shape, setup, sites, plan, {false}, false};
    const pli_tensor *embedding = NULL;
    size_t embedding_site = sites->devices;
    bool has_output = false, at_input = setup->generation->flags & PLI_GEN_TABLE_AT_INPUT;
    memset(plan, 0, sizeof *plan);
    set_layers(shape, setup, sites, plan);
    for (size_t i = 0; i < shape->model->tensor_count; i++) {
        const pli_tensor *tensor = &shape->model->tensors[i];
        size_t site = sites->devices;
        switch ((pli_place)shape->role[i].place) {
        case PLI_AT_LAYER:
            add_working(&p, tensor, pli_layer_site(plan, sites, shape->role[i].layer));
            break;
        case PLI_AT_EVERY_LAYER:
            add_everywhere(&p, tensor);
            break;
        case PLI_AT_OUTPUT:
            add_working(&p, tensor, plan->output_site);
            has_output |= strcmp(tensor->name, "output.weight") == 0;
            break;
        case PLI_AT_FIRST:
            add_working(&p, tensor, pli_norm_site(plan, setup, sites));
            break;
        case PLI_AT_MIXER:
            add_working(&p, tensor, at_input ? pli_layer_site(plan, sites, 0) : plan->output_site);
            break;
        case PLI_AT_TABLE:
            if (!at_input) {
                add_working(&p, tensor, plan->output_site);
                break;
            }
            /* fall through */
        case PLI_AT_INPUT:
            p.input = true;
            site = add_tensor(&p, tensor, sites->devices);
            p.input = false;
            if (strcmp(tensor->name, "token_embd.weight") == 0) {
                embedding = tensor;
                embedding_site = site;
            }
            break;
        case PLI_NOT_LOADED:
            break;
        }
    }
    if (!has_output && embedding && shape->has_head && !(shape->arch->flags & PLI_ARCH_NO_COPY))
        add_tied(&p, embedding, embedding_site);
    plan->overflow = p.calc.overflow;
    return plan->overflow ? PLIM_LIMIT : PLIM_OK;
}
