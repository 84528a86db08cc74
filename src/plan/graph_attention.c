/* Attention over a cache (llama-graph.cpp: build_attn). */
#include "graph_build.h"

#define F32 4u

pli_id pli_build_rope(pli_builder *b, pli_id operand)
{
    if (b->positions == PLI_NO_NODE)
        return operand;
    return b->graph->failed
               ? PLI_NO_NODE
               : pli_build_op(b, PLI_OP_ROPE, b->graph->node[operand].dims, operand, b->positions);
}

typedef struct heads {
    pli_id query, key, value;
} heads;

static heads fused_heads(pli_builder *b, pli_id x, const pli_layer *layer)
{
    uint64_t dk = b->shape->key_length, dv = b->shape->value_length;
    uint64_t width = layer->heads * dk + layer->heads_kv * (dk + dv);
    pli_id qkv = pli_build_product(b, "attn_qkv", x, width);
    heads h = {pli_build_slice(b, qkv, pli_dims_of(dk, layer->heads, b->tokens), width),
               pli_build_slice(b, qkv, pli_dims_of(dk, layer->heads_kv, b->tokens), width),
               pli_build_slice(b, qkv, pli_dims_of(dv, layer->heads_kv, b->tokens), width)};
    h.query = pli_build_rope(b, h.query);
    h.key = pli_build_rope(b, h.key);
    return h;
}

static heads separate_heads(pli_builder *b, pli_id x, const pli_layer *layer, bool rotates)
{
    uint64_t dk = b->shape->key_length, dv = b->shape->value_length;
    heads h;
    h.query = pli_build_product(b, "attn_q", x, layer->heads * dk);
    h.key = pli_build_product(b, "attn_k", x, layer->heads_kv * dk);
    h.value = pli_build_product(b, "attn_v", x, layer->heads_kv * dv);
    if (b->flags & PLI_GRAPH_ROW_NORM) {
        h.query = pli_build_norm(b, h.query, "attn_q_norm", PLI_OF_LAYER);
        h.key = pli_build_norm(b, h.key, "attn_k_norm", PLI_OF_LAYER);
    }
    h.query = pli_build_view(b, h.query, pli_dims_of(dk, layer->heads, b->tokens));
    h.key = pli_build_view(b, h.key, pli_dims_of(dk, layer->heads_kv, b->tokens));
    h.value = pli_build_view(b, h.value, pli_dims_of(dv, layer->heads_kv, b->tokens));
    if (b->flags & PLI_GRAPH_HEAD_NORM)
        h.query = pli_build_norm(b, h.query, "attn_q_norm", PLI_OF_LAYER);
    if (rotates)
        h.query = pli_build_rope(b, h.query);
    if (b->flags & PLI_GRAPH_HEAD_NORM)
        h.key = pli_build_norm(b, h.key, "attn_k_norm", PLI_OF_LAYER);
    if (rotates)
        h.key = pli_build_rope(b, h.key);
    return h;
}

/* A layer's cache tensor, and how attention sees it: cells x heads of the cache's own type. */
pli_id pli_build_cache(pli_builder *b)
{
    pli_id id = pli_graph_add(b->graph, PLI_OP_LEAF, pli_dims_of(0, 0, 0), 0);
    if (id == PLI_NO_NODE)
        return id;
    size_t host = b->sites->devices;
    b->graph->node[id].flags = PLI_NODE_STORED;
    b->graph->node[id].site =
        (int)(b->setup->kv_offload ? pli_layer_site(b->plan, b->sites, b->il) : host);
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

pli_id pli_build_cached(pli_builder *b, pli_id cache, const pli_quant *type, uint64_t head,
                        uint64_t count, uint64_t cells)
{
    uint64_t tokens = pli_times(&b->graph->calc, cells, b->setup->streams), row = 0;
    pli_id id = pli_build_view(b, cache, pli_dims_of(head, tokens, count));
    if (id == PLI_NO_NODE)
        return id;
    if (!pli_quant_row_bytes(type, head, &row))
        b->graph->failed = true;
    b->graph->node[id].bytes =
        pli_times(&b->graph->calc, row, pli_times(&b->graph->calc, tokens, count));
    bool is_f32 = type->block_elements == 1 && type->block_bytes == F32;
    id = pli_build_view(b, id, b->graph->node[id].dims); /* permuted */
    if (id == PLI_NO_NODE)
        return id;
    b->graph->node[id].bytes = b->graph->node[id - 1].bytes;
    if (!b->setup->flash || !is_f32)
        return id;
    pli_id cast = pli_graph_add(b->graph, PLI_OP_PLAIN, b->graph->node[id].dims, 2);
    pli_graph_source(b->graph, cast, id);
    return cast;
}

pli_id pli_build_attend(pli_builder *b, pli_id query, pli_id keys, pli_id values,
                        const pli_cache_input *in, const pli_layer *layer)
{
    uint64_t dv = b->shape->value_length;
    pli_dims out = pli_dims_of(dv, layer->heads, b->tokens);
    if (b->setup->flash) {
        pli_id id = pli_build_new(b, out, query, keys);
        pli_graph_source(b->graph, id, values);
        pli_graph_source(b->graph, id, in->used);
        if (b->flags & PLI_GRAPH_GATE_LATE) /* gpt-oss: attention sinks */
            pli_graph_source(b->graph, id,
                             pli_build_weight(b, "attn_sinks", "weight", PLI_OF_LAYER));
        return pli_build_view(b, id, pli_dims_of(dv * layer->heads, b->tokens, 1));
    }
    pli_id scores = pli_build_new(b, pli_dims_of(in->cells, b->tokens, layer->heads), keys, query);
    for (int i = 0; (b->flags & PLI_GRAPH_SCORE_CAP) && i < 3; i++)
        scores = pli_build_onto(b, scores, PLI_NO_NODE);
    scores = pli_build_onto(b, scores, in->used);
    pli_id id = pli_build_new(b, pli_dims_of(dv, b->tokens, layer->heads), values, scores);
    id = pli_build_new(b, pli_dims_of(dv * layer->heads, b->tokens, 1), pli_build_view(b, id, out),
                       PLI_NO_NODE);
    if (!b->setup->kv_offload && id != PLI_NO_NODE)
        b->graph->node[id].site = (int)b->sites->devices;
    return id;
}

pli_id pli_build_attention_of(pli_builder *b, pli_id query, pli_id key, pli_id value)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    const pli_cache_input *in = &b->input[layer->slides];
    uint64_t dk = b->shape->key_length, dv = b->shape->value_length;
    pli_graph_expand(b->graph, query);
    pli_graph_expand(b->graph, b->shape->window ? key : value);
    pli_graph_expand(b->graph, b->shape->window ? value : key);
    pli_id keys = pli_build_cache(b), values = pli_build_cache(b);
    pli_build_store(b, key, in->keys, keys);
    pli_build_store(b, value, in->values, values);
    query = pli_build_view(b, query, pli_dims_of(dk, layer->heads, b->tokens));
    query = pli_build_view(b, query, pli_dims_of(dk, b->tokens, layer->heads));
    keys = pli_build_cached(b, keys, b->setup->type_k, dk, layer->heads_kv, in->cells);
    values = pli_build_cached(b, values, b->setup->type_v, dv, layer->heads_kv, in->cells);
    pli_id out = pli_build_attend(b, query, keys, values, in, layer);
    pli_graph_expand(b->graph, out);
    return pli_build_product(b, "attn_output", out, b->shape->embedding);
}

pli_id pli_build_attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    bool rotates = !(b->flags & PLI_GRAPH_ROPE_SLIDING) || layer->slides || !b->shape->window;
    heads h = b->flags & PLI_GRAPH_FUSED_QKV ? fused_heads(b, x, layer)
                                             : separate_heads(b, x, layer, rotates);
    if (b->flags & PLI_GRAPH_QUERY_SCALE)
        h.query = pli_build_onto(b, h.query, PLI_NO_NODE);
    return pli_build_attention_of(b, h.query, h.key, h.value);
}
