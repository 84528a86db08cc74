/* Buffers of intermediate results. On the host: the inputs of the graph, byte for byte. On a
 * device: a bound in closed form that was held against 1,520 plans of the engine itself (never
 * under them by more than 1 %), in elements of f32 for each token of the physical batch. Terms:
 * E embedding, H heads, Q K V their rows, F feed-forward, n cells of all caches. */
#include "compute.h"

#include <string.h>

#include "roles.h"

#define F32 4u
#define BATCH_PADDING 256u /* tokens */

/* The reserved graph holds the same number of tokens for each sequence. */
uint64_t pli_graph_tokens(const pli_setup *setup)
{
    uint64_t n = setup->sequences;
    return (setup->ubatch + n - 1) / n * n;
}

/* Rows of logits that are reserved. */
uint64_t pli_output_rows(const pli_setup *setup)
{
    /* What a draft proposes is checked in one go. */
    uint64_t server = pli_mul_sat(setup->sequences, pli_add_sat(setup->drafted, 1));
    uint64_t slots = setup->outputs ? setup->outputs : server;
    if (setup->outputs || setup->generation->flags & PLI_GEN_SLOT_LOGITS)
        return pli_smaller(slots, setup->ubatch);
    return setup->generation->flags & PLI_GEN_BATCH_LOGITS ? setup->ubatch
                                                           : pli_graph_tokens(setup);
}

uint64_t pli_mask_element(const pli_setup *setup)
{
    return setup->flash && (setup->generation->flags & PLI_GEN_HALF_MASK) ? F32 / 2 : F32;
}

#define LEAST_ROTATION 64u

/* Length of a head's keys or values, the same in all layers of a cache; else 0. */
static uint64_t head_length(const pli_shape *shape, bool sliding, bool values)
{
    uint64_t common = 0;
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        const pli_layer *layer = &shape->layer[il];
        uint64_t length = values ? layer->value_length : layer->key_length;
        if (!layer->cached || layer->slides != sliding)
            continue;
        if (common && common != length)
            return 0;
        common = length;
    }
    return common;
}

/* Hybrids whose attention slides have inputs of their own, and none for rotations among them. */
static bool rotates(const pli_shape *shape, const pli_setup *setup, const pli_quant *type,
                    uint64_t length)
{
    return !(shape->hybrid && shape->window) &&
           (setup->generation->flags & PLI_GEN_ROTATED_CACHE) && !shape->latent &&
           type->block_elements > 1 && length && length % LEAST_ROTATION == 0;
}

uint64_t pli_key_rotation(const pli_shape *shape, const pli_setup *setup, bool sliding)
{
    uint64_t length = head_length(shape, sliding, false), rank = LEAST_ROTATION;
    if (!rotates(shape, setup, setup->type_k, length))
        return 0;
    while (length % (rank * 2) == 0)
        rank *= 2;
    return rank;
}

uint64_t pli_value_rotation(const pli_shape *shape, const pli_setup *setup, bool sliding)
{
    uint64_t length = head_length(shape, sliding, true);
    return rotates(shape, setup, setup->type_v, length) ? LEAST_ROTATION : 0;
}

bool pli_is_pipelined(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites)
{
    if (sites->devices < 2 || setup->gpu_layers <= shape->layers ||
        setup->split != PLI_SPLIT_LAYER || !setup->kv_offload || setup->taken)
        return false;
    for (size_t i = 0; i < sites->devices; i++)
        if (!sites->at[i].backend->pipelines)
            return false;
    return true;
}

/* ---- inputs, which are made on the host ------------------------------------------------------ */

static uint64_t input_of(pli_calc *calc, uint64_t elements, uint64_t size)
{
    return pli_padded(calc, pli_times(calc, elements, size), 32);
}

static uint64_t rotation_inputs(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                                bool sliding)
{
    uint64_t keys = pli_key_rotation(shape, setup, sliding),
             values = pli_value_rotation(shape, setup, sliding);
    return pli_plus(calc, input_of(calc, keys * keys, F32), input_of(calc, values * values, F32));
}

static uint64_t cache_inputs(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                             const pli_cache *cache)
{
    uint64_t tokens = pli_graph_tokens(setup);
    uint64_t mask = input_of(calc, pli_times(calc, cache->cells, tokens), pli_mask_element(setup));
    uint64_t keys = input_of(calc, tokens, sizeof(uint64_t));
    uint64_t values = setup->flash ? tokens : pli_times(calc, tokens, shape->value_width_max);
    mask = pli_plus(calc, mask, rotation_inputs(calc, shape, setup, cache->sliding));
    return pli_plus(calc, pli_plus(calc, mask, keys),
                    shape->latent ? 0 : input_of(calc, values, sizeof(uint64_t)));
}

/* Rows of the table, and embeddings that the caller gives: for each token, in numbers of tokens. */
static uint64_t embedding_rows(uint64_t generation, uint64_t copies)
{
    uint64_t looked_up = generation & PLI_GEN_MIXED_INPUT ? 2 : 1;
    uint64_t given = generation & PLI_GEN_MIXED_INPUT ? 2 : generation & PLI_GEN_TWO_INPUTS ? 1 : 0;
    return looked_up + given * (generation & PLI_GEN_EVERY_INPUT ? copies : 1);
}

uint64_t pli_batch_cells(pli_calc *calc, const pli_setup *setup)
{
    bool padded = setup->generation->flags & PLI_GEN_PADDED_BATCH;
    uint64_t tokens = pli_graph_tokens(setup);
    return padded ? pli_padded(calc, tokens, BATCH_PADDING) : tokens;
}

static uint64_t batch_masks(pli_calc *calc, const pli_shape *shape, const pli_setup *setup)
{
    uint64_t elements = pli_times(calc, pli_batch_cells(calc, setup), pli_graph_tokens(setup));
    return pli_times(calc, shape->window ? 2 : 1,
                     input_of(calc, elements, pli_mask_element(setup)));
}

static uint64_t host_inputs(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                            const pli_sites *sites, const pli_plan *plan)
{
    uint64_t flags = shape->arch->flags;
    uint64_t tokens = pli_graph_tokens(setup);
    unsigned generation = setup->generation->flags;
    uint64_t bytes = input_of(calc, tokens, sizeof(int32_t)); /* token ids */
    if (generation & PLI_GEN_MIXED_INPUT)
        bytes =
            pli_plus(calc, bytes, pli_plus(calc, bytes, input_of(calc, tokens, sizeof(int64_t))));
    if (shape->rotates)
        bytes = pli_plus(calc, bytes, input_of(calc, tokens, sizeof(int32_t)));
    if (flags & PLI_ARCH_THIRD_INPUT)
        bytes = pli_plus(calc, bytes, input_of(calc, tokens, sizeof(int32_t)));
    bytes = pli_plus(calc, bytes, input_of(calc, pli_output_rows(setup), sizeof(int32_t)));
    if (flags & PLI_ARCH_NO_CACHE)
        bytes = pli_plus(calc, bytes, batch_masks(calc, shape, setup));
    for (size_t i = 0; i < plan->cache_count; i++)
        bytes = pli_plus(calc, bytes, cache_inputs(calc, shape, setup, &plan->cache[i]));
    uint64_t copies = pli_is_pipelined(shape, setup, sites) ? PLI_PIPELINE_COPIES : 1;
    bytes = pli_times(calc, bytes, copies);
    uint64_t embeddings = embedding_rows(generation, copies);
    embeddings = pli_times(calc, embeddings, pli_times(calc, shape->embedding, tokens));
    bytes = pli_plus(calc, bytes, pli_times(calc, embeddings, F32));
    uint64_t states = input_of(calc, setup->sequences, sizeof(int32_t));
    if (plan->state_layers)
        bytes = pli_plus(calc, bytes,
                         pli_times(calc, states, generation & PLI_GEN_EVERY_INPUT ? copies : 1));
    return bytes;
}

/* ---- the bound ------------------------------------------------------------------------------- */

typedef struct widths {
    uint64_t query, key, value, heads; /* largest of any layer */
    uint64_t block;                    /* the feed-forward, or the experts */
    uint64_t dense;                    /* feed-forward of a layer without experts */
    uint64_t recurrent;
    uint64_t state; /* of a sequence, as often as it is live */
    uint64_t cells; /* of all caches */
} widths;

/* A recurrent layer's projections (twice: as they are, and as what they are turned into), what its
 * convolution mixes, and what enters and leaves its scan: what the matrices of the first such layer
 * read and write. */
static uint64_t recurrent_width(pli_calc *calc, const pli_shape *shape)
{
    const pli_model *model = shape->model;
    uint64_t il = 0, in = 0, out = 0, taps = pli_larger(pli_sub_sat(shape->scan.kernel, 1), 1);
    while (il < shape->run_layers && !shape->layer[il].recurrent)
        il++;
    if (il == shape->run_layers)
        return 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_tensor *tensor = &model->tensors[i];
        if (shape->role[i].place != PLI_AT_LAYER || shape->role[i].layer != il ||
            tensor->dims != 2 || strstr(tensor->name, ".ffn_"))
            continue;
        if (tensor->shape[0] == shape->embedding)
            in = pli_plus(calc, in, tensor->shape[1]);
        if (tensor->shape[1] == shape->embedding)
            out = pli_larger(out, tensor->shape[0]);
    }
    return pli_plus(calc, pli_plus(calc, pli_times(calc, 2, in), pli_times(calc, 6, out)),
                    pli_times(calc, 3, shape->state_conv / taps));
}

static widths widths_of(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                        const pli_plan *plan)
{
    widths w = {0};
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        const pli_layer *layer = &shape->layer[il];
        w.query = pli_larger(w.query, pli_times(calc, layer->heads, shape->key_length));
        w.value = pli_larger(w.value, pli_times(calc, layer->heads, shape->value_length));
        w.key = pli_larger(w.key, pli_times(calc, layer->heads_kv, shape->key_length));
        w.heads = pli_larger(w.heads, layer->heads);
        w.dense = pli_larger(w.dense, layer->feed_forward);
    }
    w.block = pli_times(calc, 3, w.dense);
    if (shape->experts) {
        uint64_t inside = pli_times(calc, shape->experts_used, shape->expert_width);
        uint64_t outside = pli_times(calc, shape->experts_used, shape->embedding);
        uint64_t up =
            pli_plus(calc, pli_times(calc, 3, inside), pli_times(calc, 2, shape->embedding));
        uint64_t down = pli_plus(calc, inside, pli_times(calc, 2, outside));
        uint64_t routed = pli_plus(calc, pli_larger(up, down), pli_times(calc, 2, shape->experts));
        routed = pli_plus(calc, routed, pli_times(calc, 3, shape->shared_width));
        w.block = shape->dense_lead ? pli_larger(routed, w.block) : routed;
    }
    w.recurrent = recurrent_width(calc, shape);
    w.state = pli_plus(calc, pli_times(calc, 3, shape->state_scan),
                       pli_times(calc, 2, shape->state_conv));
    for (size_t i = 0; i < plan->cache_count; i++)
        w.cells = pli_plus(calc, w.cells, plan->cache[i].cells);
    if (shape->arch->flags & PLI_ARCH_NO_CACHE)
        w.cells = pli_times(calc, shape->window ? 2 : 1, pli_batch_cells(calc, setup));
    return w;
}

/* Elements for each token of the widest point inside a layer, and at the logits. */
static uint64_t layer_elements(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                               const widths *w)
{
    uint64_t attention =
        pli_plus(calc, pli_times(calc, 2, pli_plus(calc, w->query, w->key)), w->value);
    uint64_t hidden = pli_times(calc, 5, shape->embedding);
    uint64_t mask =
        pli_plus(calc, w->cells, setup->flash ? w->cells / 2 : 0); /* f32, and its f16 copy */
    uint64_t most = pli_larger(pli_larger(w->block, attention), w->recurrent);
    most = pli_plus(calc, pli_plus(calc, mask, hidden), most);
    if (!setup->flash) {
        uint64_t scores = pli_times(calc, w->cells, pli_plus(calc, 1, w->heads));
        most = pli_larger(most, pli_plus(calc, scores, pli_plus(calc, hidden, attention)));
    }
    return most;
}

static uint64_t layer_bytes(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                            const widths *w)
{
    uint64_t tokens = pli_graph_tokens(setup), states = pli_times(calc, w->state, setup->sequences);
    uint64_t elements = pli_times(calc, layer_elements(calc, shape, setup, w), tokens);
    return pli_times(calc, F32, pli_plus(calc, elements, states));
}

static uint64_t logits_bytes(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                             const widths *w)
{
    uint64_t tokens = pli_graph_tokens(setup), rows = pli_output_rows(setup);
    uint64_t beside = pli_plus(calc, pli_times(calc, 2, shape->embedding), w->cells);
    beside = pli_plus(calc, beside, setup->flash ? w->cells / 2 : 0);
    beside = pli_plus(calc, beside, rows == tokens ? w->dense : 0);
    beside = pli_times(calc, beside, tokens);
    return pli_times(calc, F32, pli_plus(calc, beside, pli_times(calc, shape->vocabulary, rows)));
}

/* f32 caches are cast to f16 for flash attention, a layer at a time. */
static uint64_t cast_bytes(pli_calc *calc, const pli_setup *setup, const widths *w)
{
    uint64_t width = 0;
    if (setup->flash && setup->type_k->block_bytes == F32 && setup->type_k->block_elements == 1)
        width = pli_plus(calc, width, w->key);
    if (setup->flash && setup->type_v->block_bytes == F32 && setup->type_v->block_elements == 1)
        width = pli_plus(calc, width, w->key);
    return pli_times(calc, 2, pli_times(calc, width, pli_times(calc, w->cells, setup->streams)));
}

/* The inputs of a device that exist PLI_PIPELINE_COPIES times, less the one that the bound holds
 * already. */
static uint64_t copies_bytes(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                             const widths *w)
{
    /* hidden states: of one layer, what a recurrent one leaves for the next, other inputs */
    uint64_t crossing =
        2u + (w->recurrent ? 5u : 0) + (setup->generation->flags & PLI_GEN_MIXED_INPUT ? 2u : 0);
    uint64_t elements = pli_plus(calc, w->cells, pli_times(calc, crossing, shape->embedding));
    elements = pli_times(calc, elements, pli_graph_tokens(setup));
    return pli_times(calc, (PLI_PIPELINE_COPIES - 1) * F32, elements);
}

/* A device that attends to a cache on the host takes a layer of it at a time. */
static uint64_t lent_cache_bytes(pli_calc *calc, const pli_setup *setup, const pli_plan *plan,
                                 uint64_t on_host)
{
    uint64_t most = 0;
    for (size_t i = 0; on_host && i < plan->cache_count; i++) {
        const pli_cache *c = &plan->cache[i];
        uint64_t row = pli_plus(calc, c->key_bytes, c->value_bytes) / c->layers + 1;
        row = pli_times(calc, row, pli_times(calc, c->cells, setup->streams));
        most = pli_larger(most, row);
    }
    return most;
}

static pli_certainty certainty_of(const pli_shape *shape)
{
    unsigned odd = PLI_ARCH_INEXACT | PLI_ARCH_WIDE_GRAPH;
    return shape->arch->flags & odd || shape->arch->state || shape->latent ? PLI_ESTIMATE
                                                                           : PLI_BOUND;
}

static void bound_site(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                       const pli_sites *sites, const widths *w, size_t site, pli_plan *plan)
{
    pli_share *load = &plan->at[site];
    bool is_host = site == sites->devices, with_head = plan->output_site == site && shape->has_head;
    bool lends = !is_host && site == 0 && setup->op_offload && plan->copied;
    bool helps = is_host && (plan->copied || !setup->kv_offload);
    load->compute_kind = certainty_of(shape);
    if (load->layers || lends || helps)
        load->compute = layer_bytes(calc, shape, setup, w);
    if (with_head || lends)
        load->compute = pli_larger(load->compute, logits_bytes(calc, shape, setup, w));
    if (load->compute)
        load->compute = pli_plus(calc, load->compute, cast_bytes(calc, setup, w));
    if (lends)
        load->compute = pli_plus(calc, load->compute, plan->copied);
    if (lends || (!is_host && load->layers))
        load->compute = pli_plus(calc, load->compute,
                                 lent_cache_bytes(calc, setup, plan, plan->at[sites->devices].kv));
    if (!is_host && (load->layers || with_head) && pli_is_pipelined(shape, setup, sites))
        load->compute = pli_plus(calc, load->compute, copies_bytes(calc, shape, setup, w));
}

void pli_bound_compute(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                       const pli_sites *sites, pli_plan *plan)
{
    widths w = widths_of(calc, shape, setup, plan);
    for (size_t i = 0; i <= sites->devices; i++) {
        plan->at[i].compute = 0;
        bound_site(calc, shape, setup, sites, &w, i, plan);
    }
    pli_share *host = &plan->at[sites->devices];
    bool works = host->compute != 0;
    uint64_t inputs = host_inputs(calc, shape, setup, sites, plan);
    host->compute = pli_plus(calc, host->compute, inputs);
    if (!works) /* which inputs a graph has, only its template says */
        host->compute_kind = PLI_ESTIMATE;
}
