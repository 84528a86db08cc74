/* gemma4 (llama.cpp 0.7.0): sliding layers with heads of their own length,
 * last layers that attend to the caches of earlier ones, experts beside a feed-forward, and where
 * the file has them, an embedding of the token for every layer. */
#include "graph_build.h"

static pli_id turned(pli_builder *b, pli_id x, const char *weight, const char *norm, uint64_t heads)
{
    uint64_t length = b->shape->layer[b->il].key_length;
    pli_id id = pli_build_product(b, weight, x, length * heads);
    id = pli_build_view(b, id, pli_dims_of(length, heads, b->tokens));
    return pli_build_rope(b, pli_build_norm(b, id, norm, PLI_OF_LAYER));
}

/* The last layer of its kind with a cache of its own. */
static uint64_t lender(const pli_builder *b)
{
    const pli_layer *layer = b->shape->layer;
    uint64_t il = b->il;
    while (il > 0 && !(layer[il].cached && layer[il].slides == layer[b->il].slides))
        il--;
    return il;
}

static pli_id attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    uint64_t length = layer->key_length, kv = layer->heads_kv;
    pli_id query = turned(b, x, "attn_q", "attn_q_norm", layer->heads);
    if (!layer->cached) {
        pli_graph_expand(b->graph, query);
        pli_id keys = pli_build_cache(b, lender(b)), values = pli_build_cache(b, lender(b));
        return pli_build_attention_over(b, query, keys, values);
    }
    pli_dims dims = pli_dims_of(length, kv, b->tokens);
    pli_id rows = pli_build_product(b, "attn_k", x, length * kv), value = rows;
    if (pli_build_has(b, "attn_v")) /* else keys serve as values, normed but not turned */
        value = pli_build_product(b, "attn_v", x, length * kv);
    pli_id key = pli_build_norm(b, pli_build_view(b, rows, dims), "attn_k_norm", PLI_OF_LAYER);
    value = pli_build_onto(b, pli_build_view(b, value, dims), PLI_NO_NODE);
    return pli_build_attention_of(b, query, pli_build_rope(b, key), value);
}

/* Experts, chosen by a norm of their own, beside a feed-forward. */
static pli_id mixture(pli_builder *b, pli_id residual)
{
    uint64_t width = b->shape->layer[b->il].feed_forward;
    pli_id fed = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    fed = pli_build_feed_forward(b, fed, width, "");
    fed = pli_build_norm(b, fed, "post_ffw_norm_1", PLI_OF_LAYER);
    pli_id x = pli_build_norm(b, residual, "pre_ffw_norm_2", PLI_OF_LAYER);
    pli_id by = pli_build_onto(b, pli_build_onto(b, residual, PLI_NO_NODE), PLI_NO_NODE);
    by = pli_build_onto(b, by, pli_build_weight(b, "ffn_gate_inp", "scale", PLI_OF_LAYER));
    b->scores = pli_build_product(b, "ffn_gate_inp", by, b->shape->experts);
    pli_id id = pli_build_norm(b, pli_build_experts(b, x), "post_ffw_norm_2", PLI_OF_LAYER);
    return pli_build_onto(b, fed, id);
}

/* What the layer is told of its tokens. */
static pli_id told(pli_builder *b, pli_id hidden)
{
    uint64_t width = b->graph->failed ? 0 : b->graph->node[b->per_layer].dims.n[0];
    pli_id own = pli_build_view(b, b->per_layer, pli_dims_of(width, b->tokens, 1));
    if (b->il + 1 == b->shape->run_layers)
        own = pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(width, b->rows, 1), own, b->outputs);
    pli_id id = pli_build_onto(b, pli_build_product(b, "inp_gate", hidden, width), PLI_NO_NODE);
    id = pli_build_product(b, "proj", pli_build_onto(b, id, own), b->shape->embedding);
    id = pli_build_norm(b, id, "post_norm", PLI_OF_LAYER);
    return pli_build_onto(b, hidden, id);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    uint64_t width = pli_model_number(b->shape->model, "%s.embedding_length_per_layer_input", 0);
    if (b->il == 0 && pli_model_tensor(b->shape->model, "per_layer_token_embd.weight"))
        b->per_layer = pli_build_layer_embeddings(b, hidden, width);
    pli_id id = attention(b, pli_build_norm(b, hidden, "attn_norm", PLI_OF_LAYER));
    pli_build_last_rows(b, &id, &hidden);
    id = pli_build_norm(b, id, "post_attention_norm", PLI_OF_LAYER);
    pli_id residual = pli_build_onto(b, id, hidden);
    id = b->shape->layer[b->il].routed
             ? mixture(b, residual)
             : pli_build_feed_forward(b, pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER),
                                      b->shape->layer[b->il].feed_forward, "");
    id = pli_build_onto(b, pli_build_norm(b, id, "post_ffw_norm", PLI_OF_LAYER), residual);
    if (b->per_layer)
        id = told(b, id);
    if (!pli_build_has(b, "layer_output_scale"))
        return id;
    return pli_build_onto(b, id, pli_build_weight(b, "layer_output_scale", "weight", PLI_OF_LAYER));
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    static const char *const names[] = {"blk.0.attn_q.weight", "blk.0.attn_output.weight",
                                        "blk.0.ffn_up.weight", "token_embd.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_model_tensor(shape->model, names[i]))
            return false;
    uint64_t width = pli_model_number(shape->model, "%s.embedding_length_per_layer_input", 0);
    bool known =
        b->setup->generation->flags & PLI_GEN_MIXED_INPUT; /* 0.7.0's; 0.5.0's is another */
    return known && shape->window && shape->layer[0].cached && width <= UINT16_MAX &&
           (!shape->experts || shape->experts_used);
}

const pli_template pli_template_gemma4 = {
    .fits = fits, .inputs = pli_build_attention_inputs, .layer = layer_of, .numbered = true};
