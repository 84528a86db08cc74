/* A transformer of attention layers, by flags (llama.cpp b7847: src/models). Additions of biases
 * take over their operand and change nothing on a device: they are left out there. */
#include "compute.h"
#include "graph_build.h"

#define SIDE_BY_SIDE                                                                               \
    (PLI_GRAPH_PARALLEL | PLI_GRAPH_PARALLEL_SUM | PLI_GRAPH_PARALLEL_JOIN |                       \
     PLI_GRAPH_PARALLEL_AFTER)

/* Attention and feed-forward side by side? Some architectures leave it to the file. */
static bool is_parallel(const pli_builder *b)
{
    if (b->flags & PLI_GRAPH_PARALLEL_SUM)
        return !pli_build_has(b, "ffn_norm");
    return b->flags & SIDE_BY_SIDE &&
           pli_model_number(b->shape->model, "%s.use_parallel_residual", 1) != 0;
}

static pli_id parallel_sum(pli_builder *b, pli_id residual, pli_id attended, pli_id fed)
{
    if (b->flags & PLI_GRAPH_PARALLEL_SUM)
        return pli_build_onto(b, fed, pli_build_onto(b, attended, residual));
    if (b->flags & PLI_GRAPH_PARALLEL)
        return pli_build_onto(b, pli_build_onto(b, fed, residual), attended);
    pli_id sum = b->flags & PLI_GRAPH_PARALLEL_JOIN ? pli_build_onto(b, fed, attended)
                                                    : pli_build_onto(b, attended, fed);
    return pli_build_onto(b, sum, residual);
}

/* The feed-forward reads the norm before attention, or the residual through one of its own. */
static pli_id parallel_layer(pli_builder *b, pli_id residual, pli_mixer mix)
{
    pli_id shared = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER), x = shared;
    if (pli_build_has(b, "attn_norm_2"))
        x = pli_build_norm(b, residual, "attn_norm_2", PLI_OF_LAYER);
    pli_id attended = mix(b, x);
    bool last = b->il + 1 == b->shape->run_layers, own = pli_build_has(b, "ffn_norm");
    pli_build_last_rows(b, &attended, &residual);
    if (last && !own)
        shared = pli_build_wanted_rows(b, shared);
    if (own)
        shared = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    return parallel_sum(b, residual, attended, pli_build_layer_feed_forward(b, shared));
}

static pli_id scaled(pli_builder *b, pli_id id)
{
    return b->flags & PLI_GRAPH_RESIDUAL_SCALE ? pli_build_onto(b, id, PLI_NO_NODE) : id;
}

/* Where experts are chosen by the layer's input. */
static void choose_ahead(pli_builder *b, pli_id residual)
{
    b->scores = PLI_NO_NODE;
    if (b->flags & PLI_GRAPH_GATE_AHEAD)
        b->scores = pli_build_product(b, "ffn_gate_inp", residual, b->shape->experts);
}

static void choose_last_rows(pli_builder *b)
{
    if (b->scores && b->il + 1 == b->shape->run_layers)
        b->scores = pli_build_op(b, PLI_OP_LOOKUP,
                                 pli_dims_of(b->shape->experts, pli_output_rows(b->setup), 1),
                                 b->scores, b->outputs);
}

/* The norm before the feed-forward. */
static pli_id before_feed(pli_builder *b, pli_id residual)
{
    if (b->flags & PLI_GRAPH_POST_ONLY)
        return residual;
    const char *other = pli_build_either(b, "post_attention_norm", "attn_output_norm");
    const char *name =
        b->flags & PLI_GRAPH_POST_NORM ? "ffn_norm" : pli_build_either(b, "ffn_norm", other);
    return pli_build_norm(b, residual, name, PLI_OF_LAYER);
}

pli_id pli_build_layer(pli_builder *b, pli_id residual, pli_mixer mix)
{
    bool after = (b->flags & (PLI_GRAPH_POST_NORM | PLI_GRAPH_POST_ONLY)) != 0;
    if (is_parallel(b))
        return parallel_layer(b, residual, mix);
    choose_ahead(b, residual);
    bool bare = b->flags & PLI_GRAPH_FIRST_BARE && !pli_build_has(b, "attn_norm");
    pli_id x = b->flags & PLI_GRAPH_POST_ONLY || bare
                   ? residual
                   : pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    pli_id id = mix(b, x);
    choose_last_rows(b);
    pli_build_last_rows(b, &id, &residual);
    if (after)
        id = pli_build_norm(b, id, pli_build_either(b, "post_attention_norm", "attn_output_norm"),
                            PLI_OF_LAYER);
    id = scaled(b, id);
    residual = b->flags & PLI_GRAPH_ATTENDED_LAST ? pli_build_onto(b, residual, id)
                                                  : pli_build_onto(b, id, residual);
    id = pli_build_layer_feed_forward(b, before_feed(b, residual));
    if (after)
        id = pli_build_norm(b, id, pli_build_either(b, "post_ffw_norm", "layer_output_norm"),
                            PLI_OF_LAYER);
    id = scaled(b, id);
    return b->flags & PLI_GRAPH_RESIDUAL_FIRST ? pli_build_onto(b, residual, id)
                                               : pli_build_onto(b, id, residual);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    if (b->il == 0)
        hidden = pli_build_placed(b, hidden);
    return pli_build_layer(b, hidden, pli_build_attention);
}

static void inputs(pli_builder *b)
{
    double scale = 0;
    if (b->flags & PLI_GRAPH_TEMPERED &&
        pli_model_f64(b->shape->model, "%s.attention.temperature_scale", &scale) && scale != 0)
        b->temperature = pli_build_input(b, b->tokens, sizeof(float));
    pli_build_attention_inputs(b);
}

/* One of the two lies in every layer. */
static bool has_either(const pli_model *model, const char *first, const char *second)
{
    return pli_model_tensor(model, first) || pli_model_tensor(model, second);
}

/* Does the file hold what the template multiplies with? Separate biases of a fused matrix are put
 * together first, which nothing here draws. */
static bool has_weights(const pli_builder *b)
{
    const pli_model *model = b->shape->model;
    return has_either(model, "blk.0.attn_q.weight", "blk.0.attn_qkv.weight") &&
           pli_model_tensor(model, "blk.0.attn_output.weight") &&
           pli_model_tensor(model, "token_embd.weight") &&
           (has_either(model, "blk.0.ffn_up.weight", "blk.0.ffn_up_exps.weight") ||
            pli_model_tensor(model, "blk.0.ffn_gate_up_exps.weight")) &&
           !(pli_model_tensor(model, "blk.0.attn_qkv.weight") &&
             (pli_model_tensor(model, "blk.0.attn_v.bias") ||
              has_either(model, "blk.0.attn_q.bias", "blk.0.attn_k.bias")));
}

bool pli_dense_fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    if (shape->latent || (shape->experts && shape->experts_used == 0))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!(shape->layer[il].cached || shape->arch->flags & PLI_ARCH_NO_CACHE) ||
            !shape->layer[il].heads_kv)
            return false;
    return has_weights(b);
}

const pli_template pli_template_dense = {
    .fits = pli_dense_fits, .inputs = inputs, .layer = layer_of};

/* arctic: experts read the layer's input, beside attention and a feed-forward of its own. */
static pli_id arctic_layer(pli_builder *b, pli_id residual)
{
    pli_id id = pli_build_attention(b, pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER));
    pli_build_last_rows(b, &id, &residual);
    pli_id sum = pli_build_onto(b, id, residual);
    id = pli_build_norm(b, sum, "ffn_norm", PLI_OF_LAYER);
    id = pli_build_feed_forward(b, id, b->shape->layer[b->il].feed_forward, "");
    sum = pli_build_onto(b, id, sum);
    id = pli_build_experts(b, pli_build_norm(b, residual, "ffn_norm_exps", PLI_OF_LAYER));
    return pli_build_onto(b, id, sum);
}

const pli_template pli_template_arctic = {
    .fits = pli_dense_fits, .inputs = inputs, .layer = arctic_layer};

/* deci: a layer may have no attention, one matrix in its place, or no feed-forward, without which
 * what it attended to is lost. */
static pli_id deci_layer(pli_builder *b, pli_id hidden)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_id id = hidden, residual = hidden;
    if (layer->heads)
        id = pli_build_norm(b, hidden, "attn_norm", PLI_OF_LAYER);
    if (layer->heads && !layer->heads_kv)
        id = pli_build_product(b, "attn_output", id, b->shape->embedding);
    else if (layer->heads)
        id = pli_build_attention(b, id);
    pli_build_last_rows(b, &id, &residual);
    if (!layer->feed_forward)
        return hidden;
    residual = layer->heads ? pli_build_onto(b, id, residual) : id;
    id = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    return pli_build_onto(b, pli_build_layer_feed_forward(b, id), residual);
}

static bool deci_fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    return pli_model_tensor(shape->model, "token_embd.weight") && !shape->experts &&
           shape->layer[shape->run_layers - 1].feed_forward;
}

const pli_template pli_template_deci = {.fits = deci_fits, .inputs = inputs, .layer = deci_layer};
