/* Layers that see a chunk of the context and rotate, beside layers that see all of it and do not
 * (llama.cpp b7847: src/models/llama-iswa.cpp). */
#include "graph_build.h"

#define EXPERTS_WITHOUT_NORM 128u /* the model of so many experts does not norm queries and keys */

static pli_id heads_of(pli_builder *b, pli_id x, const char *weight, uint64_t length,
                       uint64_t heads)
{
    return pli_build_view(b, pli_build_product(b, weight, x, length * heads),
                          pli_dims_of(length, heads, b->tokens));
}

static pli_id turned(pli_builder *b, pli_id id)
{
    id = pli_build_rope(b, id);
    bool normed = b->shape->experts != EXPERTS_WITHOUT_NORM;
    return normed ? pli_build_onto(b, id, PLI_NO_NODE) : id;
}

static pli_id attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_id query = heads_of(b, x, "attn_q", layer->key_length, layer->heads);
    pli_id key = heads_of(b, x, "attn_k", layer->key_length, layer->heads_kv);
    pli_id value = heads_of(b, x, "attn_v", layer->value_length, layer->heads_kv);
    if (layer->slides || !b->shape->window) {
        query = turned(b, query);
        key = turned(b, key);
    } else {
        query = pli_build_onto(b, query, b->temperature);
    }
    return pli_build_attention_of(b, query, key, value);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    return pli_build_layer(b, hidden, attention);
}

static void inputs(pli_builder *b)
{
    if (b->shape->window)
        b->temperature = pli_build_input(b, b->tokens, sizeof(float));
    pli_build_attention_inputs(b);
}

const pli_template pli_template_llama4 = {
    .fits = pli_dense_fits, .inputs = inputs, .layer = layer_of};
