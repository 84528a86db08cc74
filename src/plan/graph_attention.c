/* Attention over a cache (llama-graph.cpp: build_attn). */
#include "graph_build.h"

#define F32 4u
#define ROPE_STEP 4u
#define ROPE_AT 32u

pli_id pli_build_rope(pli_builder *b, pli_id operand)
{
    if (b->positions == PLI_NO_NODE)
        return operand;
    return b->graph->failed
               ? PLI_NO_NODE
               : pli_build_op(b, PLI_OP_ROPE, b->graph->node[operand].dims, operand, b->positions);
}

bool pli_build_rotates(const pli_builder *b, uint64_t il)
{
    if (b->flags & PLI_GRAPH_NO_ROPE ||
        (b->flags & PLI_GRAPH_ROPE_AT_32 && b->shape->layers != ROPE_AT))
        return false;
    if (b->flags & PLI_GRAPH_ROPE_SLIDING)
        return b->shape->layer[il].slides || !b->shape->window;
    return !(b->flags & PLI_GRAPH_ROPE_STEP) || (il + 1) % ROPE_STEP != 0;
}

/* ---- queries, keys, values ------------------------------------------------------------------- */

/* Some keep what they project within bounds. */
static pli_id within(pli_builder *b, pli_id id)
{
    double bound = 0;
    bool bounded = pli_model_f64(b->shape->model, "%s.attention.clamp_kqv", &bound) && bound > 0;
    return bounded ? pli_build_clamped(b, id) : id;
}

/* One matrix for all three; where rows are normed, a part of its own of each. */
static pli_heads fused(pli_builder *b, pli_id x, const pli_layer *layer)
{
    uint64_t dk = layer->key_length, dv = layer->value_length, kv = layer->heads_kv;
    uint64_t width = pli_build_columns(b, "attn_qkv", layer->heads * dk + kv * (dk + dv));
    pli_id qkv = within(b, pli_build_product(b, "attn_qkv", x, width));
    pli_heads h = {pli_build_slice(b, qkv, pli_dims_of(dk, layer->heads, b->tokens), width),
                   pli_build_slice(b, qkv, pli_dims_of(dk, kv, b->tokens), width),
                   pli_build_slice(b, qkv, pli_dims_of(dv, kv, b->tokens), width)};
    if (!(b->flags & PLI_GRAPH_ROW_NORM))
        return h;
    h.query = pli_build_new(b, pli_dims_of(dk * layer->heads, b->tokens, 1), h.query, PLI_NO_NODE);
    h.key = pli_build_new(b, pli_dims_of(dk * kv, b->tokens, 1), h.key, PLI_NO_NODE);
    h.value = pli_build_new(b, pli_dims_of(dv * kv, b->tokens, 1), h.value, PLI_NO_NODE);
    return h;
}

static pli_heads separate(pli_builder *b, pli_id x, const pli_layer *layer)
{
    return (pli_heads){pli_build_product(b, "attn_q", x, layer->heads * layer->key_length),
                       pli_build_product(b, "attn_k", x, layer->heads_kv * layer->key_length),
                       pli_build_product(b, "attn_v", x, layer->heads_kv * layer->value_length)};
}

static pli_id heads_of(pli_builder *b, pli_id rows, uint64_t length, uint64_t heads)
{
    return pli_build_view(b, rows, pli_dims_of(length, heads, b->tokens));
}

static pli_id normed(pli_builder *b, pli_id id, const char *name)
{
    return pli_build_has(b, name) ? pli_build_norm(b, id, name, PLI_OF_LAYER) : id;
}

/* Of queries or keys, as attention compares them. */
static pli_id turned(pli_builder *b, pli_id id, const char *name)
{
    bool by_row = b->flags & PLI_GRAPH_ROW_NORM, after = b->flags & PLI_GRAPH_TURNED_NORM;
    if (!by_row && !after)
        id = normed(b, id, name);
    if (pli_build_rotates(b, b->il))
        id = pli_build_rope(b, id);
    return after ? normed(b, id, name) : id;
}

pli_heads pli_build_heads(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    bool is_fused = pli_build_has(b, "attn_qkv");
    pli_heads h = is_fused ? fused(b, x, layer) : separate(b, x, layer);
    if (b->flags & PLI_GRAPH_ROW_NORM) {
        h.query = normed(b, h.query, "attn_q_norm");
        h.key = normed(b, h.key, "attn_k_norm");
    }
    if (!is_fused || (b->flags & PLI_GRAPH_ROW_NORM)) {
        h.query = heads_of(b, h.query, layer->key_length, layer->heads);
        h.key = heads_of(b, h.key, layer->key_length, layer->heads_kv);
        h.value = heads_of(b, h.value, layer->value_length, layer->heads_kv);
    }
    return h;
}

/* As attention compares them. */
static pli_heads projected(pli_builder *b, pli_id x)
{
    pli_heads h = pli_build_heads(b, x);
    h.query = turned(b, h.query, "attn_q_norm");
    h.key = turned(b, h.key, "attn_k_norm");
    if (b->temperature)
        h.query = pli_build_onto(b, h.query, b->temperature);
    if (b->flags & PLI_GRAPH_QUERY_SCALE)
        h.query = pli_build_onto(b, h.query, PLI_NO_NODE);
    return h;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* A layer's cache tensor, and how attention sees it: cells x heads of the cache's own type. */
pli_id pli_build_cache(pli_builder *b, uint64_t il)
{
    pli_id id = pli_graph_add(b->graph, PLI_OP_LEAF, pli_dims_of(0, 0, 0), 0);
    if (id == PLI_NO_NODE)
        return id;
    size_t host = b->sites->devices;
    b->graph->node[id].flags = PLI_NODE_STORED;
    b->graph->node[id].site =
        (int)(b->setup->kv_offload ? pli_layer_site(b->plan, b->sites, il) : host);
    return id;
}

void pli_build_store(pli_builder *b, pli_id what, pli_id where, pli_id cache)
{
    if (b->graph->failed)
        return;
    pli_id flat = pli_build_view(b, what, b->graph->node[what].dims);
    pli_id id = pli_build_op(b, PLI_OP_STORE, b->graph->node[what].dims, flat, where);
    pli_graph_source(b->graph, id, cache);
    if (id == PLI_NO_NODE)
        return;
    b->graph->node[flat].bytes = b->graph->node[what].bytes;
    b->graph->node[id].root = cache;
    pli_graph_expand(b->graph, id);
}

/* As the engine counts it, also where a row is no whole number of blocks. */
static uint64_t row_bytes(pli_calc *calc, const pli_quant *type, uint64_t elements)
{
    return pli_times(calc, type->block_bytes, elements) / type->block_elements;
}

pli_id pli_build_cached(pli_builder *b, const pli_cached *cached, const pli_cache_input *in)
{
    pli_calc *calc = &b->graph->calc;
    uint64_t tokens = pli_times(calc, in->cells, b->setup->streams);
    pli_dims dims = pli_dims_of(cached->head, tokens, cached->count);
    pli_id id = pli_build_view(b, pli_build_view(b, cached->cache, dims), dims); /* permuted */
    if (id == PLI_NO_NODE)
        return id;
    const pli_quant *type = cached->type;
    uint64_t row = row_bytes(calc, type, cached->head), wide = row_bytes(calc, type, cached->width);
    uint64_t bytes =
        pli_plus(calc, pli_times(calc, wide, tokens - 1), pli_times(calc, row, cached->count));
    /* what a device's copy of it takes */
    b->graph->node[id].bytes =
        pli_allocated(calc, b->sites->at[0].backend, type, cached->head, bytes);
    bool is_f32 = type->block_elements == 1 && type->block_bytes == F32;
    if (!b->setup->flash || !is_f32)
        return id;
    pli_id cast = pli_graph_add(b->graph, PLI_OP_PLAIN, dims, 2);
    pli_graph_source(b->graph, cast, id);
    return cast;
}

/* Heads x the weight that decompresses them. */
static pli_id expanded(pli_builder *b, const pli_attention *a, pli_id id, uint64_t heads)
{
    if (!a->expand)
        return id;
    id = pli_build_new(b, pli_dims_of(a->expanded_length, b->tokens, heads), a->expand, id);
    if (id != PLI_NO_NODE) /* each stream by itself: lending looks at the tokens of one */
        b->graph->node[id].rows = b->tokens / b->setup->streams;
    return id;
}

static pli_id attend_flash(pli_builder *b, const pli_attention *a, const pli_cache_input *in,
                           uint64_t heads)
{
    bool free = b->setup->generation->flags & PLI_GEN_FREE_SINKS;
    pli_id id = pli_build_op(b, free ? PLI_OP_ATTEND : PLI_OP_PLAIN,
                             pli_dims_of(a->value_length, heads, b->tokens), a->query, a->keys);
    pli_graph_source(b->graph, id, a->values);
    pli_graph_source(b->graph, id, in->used);
    if (id != PLI_NO_NODE) {
        b->graph->node[id].flags |= PLI_NODE_FLASH;
        b->graph->node[id].layer_site = (uint8_t)pli_layer_site(b->plan, b->sites, b->il);
    }
    if (pli_build_has(b, "attn_sinks"))
        pli_graph_source(b->graph, id, pli_build_weight(b, "attn_sinks", "weight", PLI_OF_LAYER));
    if (!a->expand)
        return pli_build_view(b, id, pli_dims_of(a->value_length * heads, b->tokens, 1));
    id = pli_build_view(b, id, pli_dims_of(a->value_length, b->tokens, heads));
    id = expanded(b, a, id, heads);
    id = pli_build_view(b, id, pli_dims_of(a->expanded_length, heads, b->tokens));
    id = pli_build_new(b, pli_dims_of(a->expanded_length, heads, b->tokens), id, PLI_NO_NODE);
    return pli_build_view(b, id, pli_dims_of(a->expanded_length * heads, b->tokens, 1));
}

static pli_id attend_step_by_step(pli_builder *b, const pli_attention *a, const pli_cache_input *in,
                                  uint64_t heads)
{
    pli_id scores = pli_build_new(b, pli_dims_of(in->cells, b->tokens, heads), a->keys, a->query);
    for (int i = 0; (b->flags & PLI_GRAPH_SCORE_CAP) && i < 3; i++)
        scores = pli_build_onto(b, scores, PLI_NO_NODE);
    scores = pli_build_onto(b, scores, in->used);
    if (pli_build_has(b, "attn_sinks"))
        pli_graph_source(b->graph, scores,
                         pli_build_weight(b, "attn_sinks", "weight", PLI_OF_LAYER));
    uint64_t length = a->expand ? a->expanded_length : a->value_length;
    pli_id id = pli_build_new(b, pli_dims_of(a->value_length, b->tokens, heads), a->values, scores);
    id = expanded(b, a, id, heads);
    id = pli_build_view(b, id, pli_dims_of(length, heads, b->tokens));
    id = pli_build_new(b, pli_dims_of(length * heads, b->tokens, 1), id, PLI_NO_NODE);
    return id;
}

/* A factor for every element, or one for every head. */
static pli_id gated(pli_builder *b, const pli_attention *a, pli_id id, uint64_t heads)
{
    if (b->graph->failed || b->graph->node[a->gate].dims.n[0] != heads)
        return pli_build_onto(b, id, a->gate);
    id = pli_build_view(b, id, pli_dims_of(a->value_length, heads, b->tokens));
    id = pli_build_onto(b, id, pli_build_view(b, a->gate, pli_dims_of(1, heads, b->tokens)));
    return pli_build_view(b, id, pli_dims_of(a->value_length * heads, b->tokens, 1));
}

pli_id pli_build_attend(pli_builder *b, const pli_attention *attention, const pli_cache_input *in)
{
    uint64_t heads = b->shape->layer[b->il].heads;
    pli_id id = b->setup->flash ? attend_flash(b, attention, in, heads)
                                : attend_step_by_step(b, attention, in, heads);
    pli_graph_expand(b->graph, id);
    id = pli_build_rotated(b, id, in->turn_values);
    if (attention->gate)
        id = gated(b, attention, id, heads);
    return pli_build_product(b, "attn_output", id, b->shape->embedding);
}

/* Queries as attention reads them: [head, tokens, heads]. */
pli_id pli_build_queries(pli_builder *b, pli_id query, uint64_t length)
{
    uint64_t heads = b->shape->layer[b->il].heads;
    query = pli_build_view(b, query, pli_dims_of(length, heads, b->tokens));
    return pli_build_view(b, query, pli_dims_of(length, b->tokens, heads));
}

/* Does a view show all of its memory, one element after the other? */
static bool is_whole(const pli_node *node)
{
    return node->op != PLI_OP_VIEW ||
           node->bytes == node->dims.n[0] * node->dims.n[1] * node->dims.n[2] * F32;
}

pli_id pli_build_rotated(pli_builder *b, pli_id id, pli_id by)
{
    if (b->graph->failed || by == PLI_NO_NODE)
        return id;
    const pli_node *node = &b->graph->node[id];
    uint64_t rank = b->graph->node[by].dims.n[0];
    pli_dims dims = node->dims,
             rows = pli_dims_of(rank, dims.n[0] * dims.n[1] * dims.n[2] / rank, 1);
    id = is_whole(node) ? pli_build_view(b, id, rows) : pli_build_new(b, rows, id, PLI_NO_NODE);
    return pli_build_view(b, pli_build_new(b, rows, by, id), dims);
}

static pli_id attention_over(pli_builder *b, pli_id query, pli_id keys, pli_id values, pli_id gate)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    const pli_cache_input *in = &b->input[layer->slides];
    const pli_cached key = {keys, b->setup->type_k, layer->key_length, layer->heads_kv,
                            layer->key_length * layer->heads_kv},
                     value = {values, b->setup->type_v, layer->value_length, layer->heads_kv,
                              layer->value_length * layer->heads_kv};
    const pli_attention a = {.query = pli_build_queries(b, query, layer->key_length),
                             .keys = pli_build_cached(b, &key, in),
                             .values = pli_build_cached(b, &value, in),
                             .value_length = layer->value_length,
                             .gate = gate};
    return pli_build_attend(b, &a, in);
}

pli_id pli_build_attention_over(pli_builder *b, pli_id query, pli_id keys, pli_id values)
{
    query = pli_build_rotated(b, query, b->input[b->shape->layer[b->il].slides].turn_keys);
    return attention_over(b, query, keys, values, PLI_NO_NODE);
}

/* Without flash attention values lie transposed, all layers' as wide as the widest: what is part
 * of a larger result is copied, what is narrower is filled up. */
static pli_id transposable(pli_builder *b, pli_id value, const pli_layer *layer)
{
    uint64_t widest = b->shape->value_width_max;
    if (b->setup->flash || b->graph->failed)
        return value;
    const pli_node *node = &b->graph->node[value];
    pli_dims dims = pli_dims_of(layer->value_width, b->tokens, 1);
    value = node->root && b->graph->node[node->root].bytes != node->bytes
                ? pli_build_new(b, dims, value, PLI_NO_NODE)
                : pli_build_view(b, value, dims);
    dims.n[0] = widest;
    return layer->value_width < widest ? pli_build_new(b, dims, value, PLI_NO_NODE) : value;
}

pli_id pli_build_attention_gated(pli_builder *b, pli_id query, pli_id key, pli_id value,
                                 pli_id gate)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    const pli_cache_input *in = &b->input[layer->slides];
    query = pli_build_rotated(b, query, in->turn_keys);
    key = pli_build_rotated(b, key, in->turn_keys);
    value = pli_build_rotated(b, value, in->turn_values);
    pli_graph_expand(b->graph, query);
    pli_graph_expand(b->graph, b->shape->window ? key : value);
    pli_graph_expand(b->graph, b->shape->window ? value : key);
    pli_id keys = pli_build_cache(b, b->il), values = pli_build_cache(b, b->il);
    pli_build_store(b, key, in->keys, keys);
    pli_build_store(b, transposable(b, value, layer), in->values, values);
    return attention_over(b, query, keys, values, gate);
}

pli_id pli_build_attention_of(pli_builder *b, pli_id query, pli_id key, pli_id value)
{
    return pli_build_attention_gated(b, query, key, value, PLI_NO_NODE);
}

/* The batch's own keys or values as a cache would show them: padded where the generation pads. */
static pli_id batch_rows(pli_builder *b, pli_id rows, uint64_t length, uint64_t heads)
{
    uint64_t cells = b->input[0].cells;
    if (b->setup->generation->flags & PLI_GEN_PADDED_BATCH)
        rows = pli_build_new(b, pli_dims_of(length, heads, cells), rows, PLI_NO_NODE);
    rows = pli_build_view(b, rows, pli_dims_of(length, cells, heads));
    if (!b->setup->flash)
        return rows;
    pli_id cast = pli_graph_add(b->graph, PLI_OP_PLAIN, pli_dims_of(length, cells, heads), 2);
    pli_graph_source(b->graph, cast, rows);
    return cast;
}

/* Over the batch itself: keys and values are not kept. */
static pli_id attention_within(pli_builder *b, const pli_heads *h)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    const pli_cache_input *in = &b->input[layer->slides];
    uint64_t dk = layer->key_length, dv = layer->value_length, kv = layer->heads_kv;
    pli_graph_expand(b->graph, h->query);
    pli_graph_expand(b->graph, h->key);
    pli_graph_expand(b->graph, h->value);
    pli_id keys = batch_rows(b, h->key, dk, kv), values = batch_rows(b, h->value, dv, kv);
    if (!b->setup->flash) /* turned, for they do not lie so in a cache */
        values = pli_build_new(b, pli_dims_of(in->cells, dv, kv), values, PLI_NO_NODE);
    if (!b->setup->flash && b->setup->generation->flags & PLI_GEN_PADDED_BATCH)
        pli_graph_expand(b->graph, values);
    const pli_attention a = {.query = pli_build_queries(b, h->query, dk),
                             .keys = keys,
                             .values = values,
                             .value_length = dv};
    return pli_build_attend(b, &a, in);
}

pli_id pli_build_attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_heads h = projected(b, x);
    if (b->shape->arch->flags & PLI_ARCH_NO_CACHE)
        return attention_within(b, &h);
    if (!pli_build_has(b, "attn_gate"))
        return pli_build_attention_of(b, h.query, h.key, h.value);
    uint64_t width = pli_build_columns(b, "attn_gate", layer->heads * layer->value_length);
    pli_id gate = pli_build_onto(b, pli_build_product(b, "attn_gate", x, width), PLI_NO_NODE);
    return pli_build_attention_gated(b, h.query, h.key, h.value, gate);
}
