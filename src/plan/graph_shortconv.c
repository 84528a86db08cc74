/* LFM2: most layers mix their tokens by a short convolution between two gates, the others attend
 * (llama.cpp: lfm2.cpp). */
#include "compute.h"
#include "graph_build.h"

#define GATES 2u /* before the convolution and after it */

static uint64_t length_of(const pli_builder *b)
{
    return b->tokens / b->sequences;
}

static pli_id convolution(pli_builder *b, pli_id x)
{
    uint64_t width = b->shape->embedding, wide = (GATES + 1) * width, length = length_of(b);
    uint64_t before = b->shape->state_conv / width, columns = before + length;
    pli_dims dims = pli_dims_of(width, length, b->sequences);
    pli_id all = pli_build_product_each(b, "shortconv.in_proj", pli_build_view(b, x, dims), wide);
    pli_id in = pli_build_onto(b, pli_build_part(b, all, dims, wide, wide * length),
                               pli_build_part(b, all, dims, wide, wide * length));
    pli_state state = pli_build_state(b, b->shape->state_conv);
    pli_id id = pli_build_state_loaded(b, &state);
    id = pli_build_view(b, id, pli_dims_of(before, width, b->sequences));
    in = pli_build_view(b, in, pli_dims_of(length, width, b->sequences));
    id = pli_build_new(b, pli_dims_of(columns, width, b->sequences), id, in);
    pli_build_state_store(
        b, &state,
        pli_build_part(b, id, pli_dims_of(before, width, b->sequences), columns, columns * width));
    id = pli_build_new(b, dims, id, pli_build_weight(b, "shortconv.conv", "weight", PLI_OF_LAYER));
    id = pli_build_onto(b, pli_build_part(b, all, dims, wide, wide * length), id);
    id = pli_build_product_each(b, "shortconv.out_proj", id, width);
    return pli_build_view(b, id, pli_dims_of(width, b->tokens, 1));
}

static pli_id layer_of(pli_builder *b, pli_id residual)
{
    pli_id id = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    id = b->shape->layer[b->il].recurrent ? convolution(b, id) : pli_build_attention(b, id);
    pli_build_last_rows(b, &id, &residual);
    residual = pli_build_onto(b, residual, id);
    id = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    return pli_build_onto(b, residual, pli_build_layer_feed_forward(b, id));
}

static void inputs(pli_builder *b)
{
    pli_build_state_inputs(b);
    pli_build_attention_inputs(b);
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    const pli_model *model = shape->model;
    uint64_t width = shape->embedding;
    if (!width || shape->state_conv % width || shape->state_conv < width ||
        shape->state_conv / width > UINT16_MAX || (shape->experts && shape->experts_used < 2))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!shape->layer[il].cached && !shape->layer[il].recurrent)
            return false;
    return pli_model_tensor(model, "token_embd.weight") &&
           pli_model_tensor(model, "token_embd_norm.weight");
}

const pli_template pli_template_shortconv = {.fits = fits, .inputs = inputs, .layer = layer_of};
