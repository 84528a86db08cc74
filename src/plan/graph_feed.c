/* Feed-forward: one for all tokens, or a mixture of experts (llama-graph.cpp: build_ffn,
 * build_moe_ffn). */
#include <stdio.h>

#include "graph_build.h"

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

/* Weights of the chosen experts, [1, used, rows]; *chosen: who they are. */
static pli_id gate(pli_builder *b, pli_id x, pli_id *chosen)
{
    uint64_t experts = b->shape->experts, used = b->shape->experts_used, rows = b->rows;
    pli_id scores = pli_build_product(b, "ffn_gate_inp", x, experts);
    pli_id share = b->flags & PLI_GRAPH_GATE_LATE ? scores : pli_build_onto(b, scores, PLI_NO_NODE);
    pli_id by =
        b->flags & PLI_GRAPH_GATE_BIASED
            ? pli_build_onto(b, share, pli_build_weight(b, "exp_probs_b", "bias", PLI_OF_LAYER))
            : share;
    pli_id sorted = pli_build_new(b, pli_dims_of(experts, rows, 1), by, PLI_NO_NODE);
    *chosen = pli_build_slice(b, sorted, pli_dims_of(used, 1, rows), experts);
    pli_id id = pli_graph_add(b->graph, PLI_OP_LOOKUP, pli_dims_of(1, used, rows), sizeof(float));
    pli_graph_source(b->graph, id, pli_build_view(b, share, pli_dims_of(1, experts, rows)));
    pli_graph_source(b->graph, id, *chosen);
    return id;
}

static pli_id balanced(pli_builder *b, pli_id shares)
{
    uint64_t used = b->shape->experts_used, rows = b->rows;
    double scale = 1;
    pli_id id = pli_build_view(b, shares, pli_dims_of(used, rows, 1));
    if (b->flags & PLI_GRAPH_GATE_LATE) {
        id = pli_build_onto(b, id, PLI_NO_NODE);
    } else {
        pli_id sum = pli_build_new(b, pli_dims_of(1, rows, 1), id, PLI_NO_NODE);
        sum = pli_build_new(b, pli_dims_of(1, rows, 1), sum, PLI_NO_NODE); /* clamped */
        id = pli_build_onto(b, id, sum);
    }
    id = pli_build_view(b, id, pli_dims_of(1, used, rows));
    if ((b->flags & PLI_GRAPH_GATE_SIGMOID) &&
        pli_model_f64(b->shape->model, "%s.expert_weights_scale", &scale) && scale != 1 &&
        scale != 0)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    return id;
}

/* The chosen experts' product, [width, used, rows]. */
static pli_id product(pli_builder *b, const char *weight, pli_id x, pli_id chosen, uint64_t width)
{
    pli_id id = pli_build_new(b, pli_dims_of(width, b->shape->experts_used, b->rows),
                              pli_build_weight(b, weight, "weight", PLI_OF_LAYER), x);
    pli_graph_source(b->graph, id, chosen);
    if (id != PLI_NO_NODE)
        b->graph->node[id].rows = b->rows;
    return pli_build_biased(b, id, weight, chosen);
}

/* The experts' results, one after the other. */
static pli_id sum_of(pli_builder *b, pli_id results)
{
    pli_id view[PLI_GRAPH_MAX_EXPERTS] = {PLI_NO_NODE}, sum;
    uint64_t used = b->shape->experts_used;
    for (uint64_t i = 0; i < used; i++) {
        view[i] = pli_build_view(b, results, pli_dims_of(b->shape->embedding, b->rows, 1));
        pli_graph_expand(b->graph, view[i]);
    }
    sum = view[0];
    for (uint64_t i = 1; i < used; i++)
        sum = pli_build_onto(b, sum, view[i]);
    return sum;
}

pli_id pli_build_experts(pli_builder *b, pli_id x)
{
    uint64_t width = b->shape->expert_width, embedding = b->shape->embedding;
    pli_id chosen = PLI_NO_NODE, shares = gate(b, x, &chosen);
    if (b->flags & (PLI_GRAPH_GATE_NORMED | PLI_GRAPH_GATE_LATE))
        shares = balanced(b, shares);
    pli_graph_expand(b->graph, shares);
    pli_id each = pli_build_view(b, x, pli_dims_of(embedding, 1, b->rows));
    pli_id up = product(b, "ffn_up_exps", each, chosen, width);
    pli_id open = product(b, "ffn_gate_exps", each, chosen, width);
    pli_id inside = pli_build_new(b, pli_dims_of(width, b->shape->experts_used, b->rows), open, up);
    pli_id down = product(b, "ffn_down_exps", inside, chosen, embedding);
    pli_id sum = sum_of(b, pli_build_onto(b, down, shares));
    if (!b->shape->shared_width)
        return sum;
    pli_id shared = pli_build_feed_forward(b, x, b->shape->shared_width, "_shexp");
    return pli_build_onto(b, sum, shared);
}

pli_id pli_build_layer_feed_forward(pli_builder *b, pli_id x)
{
    const pli_shape *shape = b->shape;
    if (shape->experts && b->il >= shape->dense_lead)
        return pli_build_experts(b, x);
    return pli_build_feed_forward(b, x, shape->layer[b->il].feed_forward, "");
}
