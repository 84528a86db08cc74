/* Layers that see a chunk of the context and rotate, beside layers that see all of it and do not
 * (llama.cpp b7847: src/models/llama-iswa.cpp). */
#include "graph_build.h"

#define EXPERTS_WITHOUT_NORM 128u /* the model of so many experts does not norm queries and keys */

static pli_id turned(pli_builder *b, pli_id id)
{
    id = pli_build_rope(b, id);
    bool normed = b->shape->experts != EXPERTS_WITHOUT_NORM;
    return normed ? pli_build_onto(b, id, PLI_NO_NODE) : id;
}

static pli_id attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_heads h = pli_build_heads(b, x);
    if (layer->slides || !b->shape->window) {
        h.query = turned(b, h.query);
        h.key = turned(b, h.key);
    } else {
        h.query = pli_build_onto(b, h.query, b->temperature);
    }
    return pli_build_attention_of(b, h.query, h.key, h.value);
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
