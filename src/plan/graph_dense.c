/* A transformer of attention layers, by flags (llama.cpp b7847: src/models). Additions of biases
 * take over their operand and change nothing on a device: they are left out there. */
#include "compute.h"
#include "graph_build.h"

/* Attention and feed-forward side by side. */
static pli_id parallel_layer(pli_builder *b, pli_id residual, pli_id x, pli_id attended)
{
    if (b->flags & PLI_GRAPH_PARALLEL_SUM) {
        pli_id sum = pli_build_onto(b, attended, residual);
        return pli_build_onto(b, pli_build_layer_feed_forward(b, x), sum);
    }
    pli_id id = pli_build_onto(b, pli_build_layer_feed_forward(b, x), residual);
    return pli_build_onto(b, id, attended);
}

pli_id pli_build_layer(pli_builder *b, pli_id residual, pli_mixer mix)
{
    bool after = b->flags & (PLI_GRAPH_POST_NORM | PLI_GRAPH_POST_ONLY);
    bool parallel = b->flags & (PLI_GRAPH_PARALLEL | PLI_GRAPH_PARALLEL_SUM);
    pli_id x = b->flags & PLI_GRAPH_POST_ONLY
                   ? residual
                   : pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    pli_id id = mix(b, x);
    if (b->il + 1 == b->shape->run_layers) {
        id = pli_build_wanted_rows(b, id);
        residual = pli_build_wanted_rows(b, residual);
        if (parallel)
            x = pli_build_wanted_rows(b, x);
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
    id = pli_build_layer_feed_forward(b, id);
    if (after)
        id = pli_build_norm(b, id, "post_ffw_norm", PLI_OF_LAYER);
    if (b->flags & PLI_GRAPH_RESIDUAL_SCALE)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    return b->flags & PLI_GRAPH_RESIDUAL_FIRST ? pli_build_onto(b, residual, id)
                                               : pli_build_onto(b, id, residual);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    return pli_build_layer(b, hidden, pli_build_attention);
}

/* Does the file hold what the template multiplies with? */
static bool has_weights(const pli_builder *b)
{
    const pli_model *model = b->shape->model;
    bool routed = b->shape->layer[0].routed;
    bool merged = pli_model_tensor(model, "blk.0.ffn_gate_up_exps.weight") != NULL;
    const char *const names[] = {
        b->flags & PLI_GRAPH_FUSED_QKV ? "blk.0.attn_qkv.weight" : "blk.0.attn_q.weight",
        "blk.0.attn_output.weight",
        merged   ? "blk.0.ffn_gate_up_exps.weight"
        : routed ? "blk.0.ffn_up_exps.weight"
                 : "blk.0.ffn_up.weight",
        "output_norm.weight",
        "token_embd.weight",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_model_tensor(model, names[i]))
            return false;
    bool gated = pli_model_tensor(model, "blk.0.ffn_gate.weight") != NULL;
    if (!routed && gated == ((b->flags & (PLI_GRAPH_UNGATED | PLI_GRAPH_FUSED_UP)) != 0))
        return false;
    bool side_by_side = b->flags & (PLI_GRAPH_PARALLEL | PLI_GRAPH_PARALLEL_SUM);
    return !side_by_side || !pli_model_tensor(model, "blk.0.ffn_norm.weight");
}

bool pli_dense_fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    if (shape->latent || (shape->experts && shape->experts_used == 0))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!shape->layer[il].cached ||
            (!b->setup->flash && shape->layer[il].value_width != shape->value_width_max))
            return false;
    return has_weights(b);
}

const pli_template pli_template_dense = {
    .fits = pli_dense_fits, .inputs = pli_build_attention_inputs, .layer = layer_of};
