/* The graph of a transformer of attention layers, by flags (llama.cpp b7847: src/models,
 * src/llama-graph.cpp). Additions of biases take over their operand and change nothing: they are
 * left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compute.h"
#include "graph_build.h"

#define F32 4u
#define MAX_TEMPLATE_LAYERS 256u

static const struct {
    const char *name;
    unsigned flags;
} graphs[] = {
#define GRAPH(name, flags) {name, flags},
#include "graphs.def"
#undef GRAPH
};

/* ---- words ----------------------------------------------------------------------------------- */

static pli_id rope(pli_builder *b, pli_id operand)
{
    return b->graph->failed
               ? PLI_NO_NODE
               : pli_build_op(b, PLI_OP_ROPE, b->graph->node[operand].dims, operand, b->positions);
}

static pli_id rows_with_output(pli_builder *b, pli_id of)
{
    return pli_build_op(b, PLI_OP_LOOKUP,
                        pli_dims_of(b->shape->embedding, pli_output_rows(b->setup), 1), of,
                        b->outputs);
}

/* ---- attention ------------------------------------------------------------------------------- */

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
    h.query = rope(b, h.query);
    h.key = rope(b, h.key);
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
        h.query = rope(b, h.query);
    if (b->flags & PLI_GRAPH_HEAD_NORM)
        h.key = pli_build_norm(b, h.key, "attn_k_norm", PLI_OF_LAYER);
    if (rotates)
        h.key = rope(b, h.key);
    return h;
}

/* A layer's cache tensor, and how attention sees it: cells x heads of the cache's own type. */
static pli_id cache_leaf(pli_builder *b)
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

static void store(pli_builder *b, pli_id what, pli_id where, pli_id cache)
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

static pli_id cached(pli_builder *b, pli_id cache, const pli_quant *type, uint64_t head,
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

static pli_id attend(pli_builder *b, pli_id query, pli_id keys, pli_id values,
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

static pli_id attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    const pli_cache_input *in = &b->input[layer->slides];
    uint64_t dk = b->shape->key_length, dv = b->shape->value_length;
    bool rotates = !(b->flags & PLI_GRAPH_ROPE_SLIDING) || layer->slides || !b->shape->window;
    heads h = b->flags & PLI_GRAPH_FUSED_QKV ? fused_heads(b, x, layer)
                                             : separate_heads(b, x, layer, rotates);
    if (b->flags & PLI_GRAPH_QUERY_SCALE)
        h.query = pli_build_onto(b, h.query, PLI_NO_NODE);
    pli_graph_expand(b->graph, h.query);
    pli_graph_expand(b->graph, b->shape->window ? h.key : h.value);
    pli_graph_expand(b->graph, b->shape->window ? h.value : h.key);
    pli_id keys = cache_leaf(b), values = cache_leaf(b);
    store(b, h.key, in->keys, keys);
    store(b, h.value, in->values, values);
    pli_id query = pli_build_view(b, h.query, pli_dims_of(dk, layer->heads, b->tokens));
    query = pli_build_view(b, query, pli_dims_of(dk, b->tokens, layer->heads));
    keys = cached(b, keys, b->setup->type_k, dk, layer->heads_kv, in->cells);
    values = cached(b, values, b->setup->type_v, dv, layer->heads_kv, in->cells);
    pli_id out = attend(b, query, keys, values, in, layer);
    pli_graph_expand(b->graph, out);
    return pli_build_product(b, "attn_output", out, b->shape->embedding);
}

/* ---- feed-forward
 * ------------------------------------------------------------------------------ */

pli_id pli_build_feed_forward(pli_builder *b, pli_id x, uint64_t width, const char *suffix)
{
    char name[32];
    pli_id inside;
    (void)snprintf(name, sizeof name, "ffn_up%s", suffix);
    if (b->flags & PLI_GRAPH_FUSED_UP) {
        pli_id both = pli_build_product(b, name, x, 2 * width);
        inside = pli_build_new(b, pli_dims_of(width, b->rows, 1), both, PLI_NO_NODE);
    } else {
        pli_id up = pli_build_product(b, name, x, width);
        if (b->flags & PLI_GRAPH_UNGATED) {
            inside = pli_build_onto(b, up, PLI_NO_NODE);
        } else {
            (void)snprintf(name, sizeof name, "ffn_gate%s", suffix);
            pli_id gate = pli_build_product(b, name, x, width);
            inside = pli_build_new(b, pli_dims_of(width, b->rows, 1), gate, up);
        }
    }
    (void)snprintf(name, sizeof name, "ffn_down%s", suffix);
    return pli_build_product(b, name, inside, b->shape->embedding);
}

static pli_id feed_forward(pli_builder *b, pli_id x)
{
    const pli_shape *shape = b->shape;
    if (shape->experts && b->il >= shape->dense_lead)
        return pli_build_experts(b, x);
    return pli_build_feed_forward(b, x, shape->layer[b->il].feed_forward, "");
}

/* ---- a layer --------------------------------------------------------------------------------- */

/* Attention and feed-forward side by side. */
static pli_id parallel_layer(pli_builder *b, pli_id residual, pli_id x, pli_id attended)
{
    if (b->flags & PLI_GRAPH_PARALLEL_SUM) {
        pli_id sum = pli_build_onto(b, attended, residual);
        return pli_build_onto(b, feed_forward(b, x), sum);
    }
    pli_id id = pli_build_onto(b, feed_forward(b, x), residual);
    return pli_build_onto(b, id, attended);
}

static pli_id layer_of(pli_builder *b, pli_id residual)
{
    bool after = b->flags & (PLI_GRAPH_POST_NORM | PLI_GRAPH_POST_ONLY);
    bool parallel = b->flags & (PLI_GRAPH_PARALLEL | PLI_GRAPH_PARALLEL_SUM);
    pli_id x = b->flags & PLI_GRAPH_POST_ONLY
                   ? residual
                   : pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    pli_id id = attention(b, x);
    if (b->il + 1 == b->shape->run_layers) {
        id = rows_with_output(b, id);
        residual = rows_with_output(b, residual);
        if (parallel)
            x = rows_with_output(b, x);
        b->rows = pli_output_rows(b->setup);
    }
    if (after)
        id = pli_build_norm(b, id, "post_attention_norm", PLI_OF_LAYER);
    if (b->flags & PLI_GRAPH_RESIDUAL_SCALE)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    if (parallel)
        return parallel_layer(b, residual, x, id);
    residual = pli_build_onto(b, id, residual);
    id = b->flags & PLI_GRAPH_POST_ONLY ? residual
                                        : pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    id = feed_forward(b, id);
    if (after)
        id = pli_build_norm(b, id, "post_ffw_norm", PLI_OF_LAYER);
    if (b->flags & PLI_GRAPH_RESIDUAL_SCALE)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    return b->flags & PLI_GRAPH_RESIDUAL_FIRST ? pli_build_onto(b, residual, id)
                                               : pli_build_onto(b, id, residual);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static pli_id embeddings(pli_builder *b)
{
    pli_dims dims = pli_dims_of(b->shape->embedding, b->tokens, 1);
    pli_id table = pli_build_weight(b, "token_embd", "weight", PLI_OF_INPUT),
           ids = pli_build_input(b, b->tokens, sizeof(int32_t));
    pli_id id = pli_build_op(b, PLI_OP_LOOKUP, dims, table, ids);
    pli_graph_expand(b->graph, id);
    if (b->setup->generation->flags & PLI_GEN_TWO_INPUTS)
        pli_graph_expand(
            b->graph,
            pli_build_input(b, pli_times(&b->graph->calc, b->shape->embedding, b->tokens), F32));
    if (b->flags & PLI_GRAPH_EMBED_SCALE)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    return id;
}

static void cache_inputs(pli_builder *b)
{
    pli_graph *g = b->graph;
    uint64_t values = b->setup->flash ? 1 : b->shape->value_width_max;
    for (size_t i = 0; i < b->plan->cache_count; i++) {
        const pli_cache *cache = &b->plan->cache[i];
        pli_cache_input *in = &b->input[cache->sliding];
        in->cells = cache->cells;
        in->keys = pli_build_input(b, b->tokens, sizeof(uint64_t));
        in->values = pli_build_input(b, pli_times(&g->calc, b->tokens, values), sizeof(uint64_t));
        in->mask = in->used = pli_build_input(b, pli_times(&g->calc, cache->cells, b->tokens), F32);
        if (!b->setup->flash)
            continue;
        in->used = pli_graph_add(g, PLI_OP_PLAIN, pli_dims_of(cache->cells, b->tokens, 1), 2);
        pli_graph_source(g, in->used, in->mask);
    }
}

static void logits(pli_builder *b, pli_id hidden, bool tied)
{
    pli_id id = pli_build_norm(b, hidden, "output_norm", PLI_OF_OUTPUT);
    id = pli_build_new(b, pli_dims_of(b->shape->vocabulary, b->rows, 1),
                       pli_build_weight(b, tied ? "token_embd" : "output", "weight", PLI_OF_OUTPUT),
                       id);
    int more = b->flags & PLI_GRAPH_LOGIT_CAP ? 3 : b->flags & PLI_GRAPH_LOGIT_SCALE ? 1 : 0;
    for (int i = 0; i < more; i++)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    pli_graph_expand(b->graph, id);
}

/* Does the file hold what the template multiplies with? */
static bool is_as_expected(const pli_builder *b)
{
    const pli_model *model = b->shape->model;
    bool lead = b->shape->experts && b->shape->dense_lead == 0;
    const char *const names[] = {
        b->flags & PLI_GRAPH_FUSED_QKV ? "blk.0.attn_qkv.weight" : "blk.0.attn_q.weight",
        "blk.0.attn_output.weight",
        lead ? "blk.0.ffn_up_exps.weight" : "blk.0.ffn_up.weight",
        "output_norm.weight",
        "token_embd.weight",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_model_tensor(model, names[i]))
            return false;
    bool gated = pli_model_tensor(model, "blk.0.ffn_gate.weight") != NULL;
    if (!lead && gated == ((b->flags & (PLI_GRAPH_UNGATED | PLI_GRAPH_FUSED_UP)) != 0))
        return false;
    bool side_by_side = b->flags & (PLI_GRAPH_PARALLEL | PLI_GRAPH_PARALLEL_SUM);
    return !side_by_side || !pli_model_tensor(model, "blk.0.ffn_norm.weight");
}

/* Graphs that the templates do not draw. */
static bool is_known(pli_builder *b)
{
    const pli_shape *shape = b->shape;
    size_t i = 0;
    while (i < sizeof graphs / sizeof *graphs && strcmp(graphs[i].name, shape->arch->name) != 0)
        i++;
    if (i == sizeof graphs / sizeof *graphs || b->setup->split == PLI_SPLIT_ROW || shape->latent ||
        shape->run_layers == 0 || shape->run_layers > MAX_TEMPLATE_LAYERS ||
        shape->experts_used > PLI_GRAPH_MAX_EXPERTS || (shape->experts && shape->experts_used < 2))
        return false;
    b->flags = graphs[i].flags;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!shape->layer[il].cached || shape->layer[il].heads > UINT16_MAX ||
            shape->layer[il].feed_forward > UINT32_MAX ||
            (!b->setup->flash && shape->layer[il].value_width != shape->value_width_max))
            return false;
    const uint64_t figures[] = {shape->embedding, shape->vocabulary, shape->experts,
                                shape->expert_width, shape->shared_width};
    for (i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i] > UINT32_MAX)
            return false;
    return shape->key_length <= UINT16_MAX && shape->value_length <= UINT16_MAX &&
           is_as_expected(b);
}

bool pli_graph_build(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, const pli_plan *plan)
{
    pli_builder b = {.graph = graph, .shape = shape, .setup = setup, .sites = sites, .plan = plan};
    if (!is_known(&b))
        return false;
    b.tokens = pli_graph_tokens(setup);
    pli_id hidden = embeddings(&b);
    b.rows = b.tokens;
    b.positions = pli_build_input(&b, b.tokens, sizeof(int32_t));
    b.outputs = pli_build_input(&b, pli_output_rows(setup), sizeof(int32_t));
    cache_inputs(&b);
    for (b.il = 0; b.il < shape->run_layers && !graph->failed; b.il++)
        hidden = layer_of(&b, hidden);
    logits(&b, hidden, pli_model_tensor(shape->model, "output.weight") == NULL);
    return !graph->failed;
}
