/* Feed-forward: one for all tokens, or a mixture of experts (llama-graph.cpp: build_ffn,
 * build_moe_ffn). */
#include <stdio.h>

#include "graph_build.h"

/* Gate and up in two matrices, or beside each other in one; or no gate. */
static pli_id inner(pli_builder *b, pli_id x, uint64_t width, const char *suffix)
{
    char up_name[32], gate_name[32];
    (void)snprintf(up_name, sizeof up_name, "ffn_up%s", suffix);
    (void)snprintf(gate_name, sizeof gate_name, "ffn_gate%s", suffix);
    uint64_t columns = pli_build_columns(b, up_name, width);
    pli_id up = pli_build_product(b, up_name, x, columns);
    if (pli_build_has(b, gate_name))
        return pli_build_new(b, pli_dims_of(columns, b->rows, 1),
                             pli_build_product(b, gate_name, x, columns), up);
    if (columns == 2 * width)
        return pli_build_new(b, pli_dims_of(width, b->rows, 1), up, PLI_NO_NODE);
    up = pli_build_onto(b, up, PLI_NO_NODE);
    return pli_build_has(b, "ffn_act")
               ? pli_build_onto(b, up, pli_build_weight(b, "ffn_act", "weight", PLI_OF_LAYER))
               : up;
}

pli_id pli_build_feed_forward(pli_builder *b, pli_id x, uint64_t width, const char *suffix)
{
    char name[32];
    pli_id id = inner(b, x, width, suffix);
    (void)snprintf(name, sizeof name, "ffn_down%s", suffix);
    return pli_build_product(b, name, id, b->shape->embedding);
}

/* Only experts of the best groups may be chosen: of each group the two best scores count, and the
 * scores of the other groups are overwritten. */
static pli_id in_best_groups(pli_builder *b, pli_id scores)
{
    const pli_shape *shape = b->shape;
    uint64_t groups = shape->expert_groups, rows = b->rows, size;
    if (groups < 2)
        return scores;
    size = shape->experts / groups;
    pli_dims grouped = pli_dims_of(size, groups, rows);
    scores = pli_build_view(b, scores, grouped);
    pli_id best = pli_build_new(b, grouped, scores, PLI_NO_NODE); /* sorted */
    best = pli_build_slice(b, best, pli_dims_of(2, groups, rows), size);
    pli_id sum = pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(2, groups, rows),
                              pli_build_view(b, scores, pli_dims_of(size, groups, rows)), best);
    sum = pli_build_view(b, sum, pli_dims_of(2, groups, rows));
    sum = pli_build_new(b, pli_dims_of(1, groups, rows), sum, PLI_NO_NODE);
    sum = pli_build_view(b, sum, pli_dims_of(groups, rows, 1));
    pli_id chosen = pli_build_new(b, pli_dims_of(groups, rows, 1), sum, PLI_NO_NODE);
    chosen = pli_build_slice(b, chosen, pli_dims_of(shape->groups_used, 1, rows), groups);
    pli_id kept =
        pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(size, shape->groups_used, rows), scores, chosen);
    pli_id masked = pli_build_onto(b, scores, PLI_NO_NODE);
    pli_id id = pli_build_op(b, PLI_OP_STORE, grouped, kept, chosen);
    pli_graph_source(b->graph, id, masked);
    if (id != PLI_NO_NODE)
        b->graph->node[id].root = masked;
    return pli_build_view(b, id, pli_dims_of(shape->experts, rows, 1));
}

/* Weights of the chosen experts, [1, used, rows]; *chosen: who they are. */
static pli_id gate(pli_builder *b, pli_id x, pli_id *chosen)
{
    uint64_t experts = b->shape->experts, used = b->shape->experts_used, rows = b->rows;
    pli_id scores = b->scores ? b->scores : pli_build_product(b, "ffn_gate_inp", x, experts);
    pli_id share = scores;
    if (b->flags & PLI_GRAPH_GATE_EARLY)
        share = pli_build_new(b, pli_dims_of(experts, rows, 1), scores, PLI_NO_NODE);
    else if (!(b->flags & PLI_GRAPH_GATE_LATE))
        share = pli_build_onto(b, scores, PLI_NO_NODE);
    pli_id by = b->flags & PLI_GRAPH_GATE_EARLY ? scores : share;
    if (pli_build_tensor(b, "exp_probs_b.bias"))
        by = pli_build_onto(b, by, pli_build_weight(b, "exp_probs_b", "bias", PLI_OF_LAYER));
    by = in_best_groups(b, by);
    pli_id sorted = pli_build_new(b, pli_dims_of(experts, rows, 1), by, PLI_NO_NODE);
    *chosen = pli_build_slice(b, sorted, pli_dims_of(used, 1, rows), experts);
    pli_id id = pli_graph_add(b->graph, PLI_OP_LOOKUP, pli_dims_of(1, used, rows), sizeof(float));
    pli_graph_source(b->graph, id, pli_build_view(b, share, pli_dims_of(1, experts, rows)));
    pli_graph_source(b->graph, id, *chosen);
    return id;
}

static bool is_normed(const pli_builder *b)
{
    return b->flags & PLI_GRAPH_GATE_NORMED ||
           (b->flags & PLI_GRAPH_GATE_KEYED &&
            pli_model_number(b->shape->model, "%s.expert_weights_norm", 0));
}

static bool is_scaled(const pli_builder *b)
{
    double scale = 0;
    bool by_one =
        (b->flags & PLI_GRAPH_GATE_KEYED) && (b->setup->generation->flags & PLI_GEN_UNIT_SCALE);
    return pli_model_f64(b->shape->model, "%s.expert_weights_scale", &scale) && scale != 0 &&
           (scale != 1 || by_one);
}

/* The weights brought to a sum, and scaled. */
static pli_id balanced(pli_builder *b, pli_id id)
{
    uint64_t used = b->shape->experts_used, rows = b->rows;
    bool late = b->flags & PLI_GRAPH_GATE_LATE, normed = is_normed(b);
    if (late || normed)
        id = pli_build_view(b, id, pli_dims_of(used, rows, 1));
    if (late)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    if (normed) {
        pli_id sum = pli_build_new(b, pli_dims_of(1, rows, 1), id, PLI_NO_NODE);
        id = pli_build_onto(b, id, pli_build_clamped(b, sum));
    }
    if (late || normed)
        id = pli_build_view(b, id, pli_dims_of(1, used, rows));
    return is_scaled(b) ? pli_build_onto(b, id, PLI_NO_NODE) : id;
}

/* Where every expert has a factor: those of the chosen, picked for every token. */
static pli_id scaled_each(pli_builder *b, pli_id id, const char *name, pli_id chosen)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%s.scale", name);
    if (!(b->flags & PLI_GRAPH_EXPERT_SCALES) || !pli_build_tensor(b, text))
        return id;
    uint64_t experts = b->shape->experts, used = b->shape->experts_used;
    pli_id by = pli_build_weight(b, name, "scale", PLI_OF_LAYER);
    by = pli_build_view(b, by, pli_dims_of(1, experts, 1));
    by = pli_build_new(b, pli_dims_of(1, experts, b->rows), by, PLI_NO_NODE);
    by = pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(1, used, b->rows), by, chosen);
    return pli_build_onto(b, id, by);
}

/* The chosen experts' product, [width, used, rows]. */
static pli_id product(pli_builder *b, const char *weight, pli_id x, pli_id chosen, uint64_t width)
{
    pli_id id = pli_build_new(b, pli_dims_of(width, b->shape->experts_used, b->rows),
                              pli_build_weight(b, weight, "weight", PLI_OF_LAYER), x);
    pli_graph_source(b->graph, id, chosen);
    if (id != PLI_NO_NODE)
        b->graph->node[id].rows = b->rows;
    return pli_build_biased(b, scaled_each(b, id, weight, chosen), weight, chosen);
}

/* The experts' results, one after the other. */
static pli_id sum_of(pli_builder *b, pli_id results, uint64_t width)
{
    pli_id view[PLI_GRAPH_MAX_EXPERTS] = {PLI_NO_NODE}, sum;
    uint64_t used = b->shape->experts_used;
    pli_dims dims = pli_dims_of(width, b->rows, 1);
    for (uint64_t i = 0; i < used; i++) {
        view[i] = pli_build_part(b, results, dims, used * dims.n[0], 0);
        pli_graph_expand(b->graph, view[i]);
    }
    sum = view[0];
    for (uint64_t i = 1; i < used; i++) {
        sum = pli_build_onto(b, sum, view[i]);
        if (b->setup->generation->flags & PLI_GEN_PROMPT_SUMS)
            pli_graph_expand(b->graph, sum);
    }
    return used == 1 ? pli_build_new(b, dims, sum, PLI_NO_NODE) : sum;
}

/* The chosen experts' inner results: gate and up in one matrix or two. */
static pli_id inside(pli_builder *b, pli_id x, pli_id chosen)
{
    const pli_tensor *next = pli_build_tensor(b, "ffn_down_exps.weight");
    uint64_t width = pli_smaller(next ? next->shape[0] : b->shape->expert_width, UINT32_MAX);
    pli_dims dims = pli_dims_of(width, b->shape->experts_used, b->rows);
    if (pli_build_tensor(b, "ffn_gate_up_exps.weight")) {
        pli_id both = product(b, "ffn_gate_up_exps", x, chosen, 2 * width);
        return pli_build_new(b, dims, pli_build_view(b, both, dims), pli_build_view(b, both, dims));
    }
    pli_id up = product(b, "ffn_up_exps", x, chosen, width);
    if (!pli_build_has(b, "ffn_gate_exps"))
        return pli_build_onto(b, up, PLI_NO_NODE);
    return pli_build_new(b, dims, product(b, "ffn_gate_exps", x, chosen, width), up);
}

/* The input of each chosen expert, multiplied with its weight. */
static pli_id weighted(pli_builder *b, pli_id x, pli_id shares)
{
    pli_dims dims = pli_dims_of(b->shape->embedding, b->shape->experts_used, b->rows);
    return pli_build_onto(b, pli_build_new(b, dims, x, PLI_NO_NODE), shares);
}

/* The expert of every token, in some architectures behind a gate. */
static pli_id shared_expert(pli_builder *b, pli_id x, uint64_t width)
{
    pli_id id = pli_build_feed_forward(b, x, width, "_shexp");
    if (!pli_build_has(b, "ffn_gate_inp_shexp"))
        return id;
    pli_id score = pli_build_product(b, "ffn_gate_inp_shexp", x, 1);
    pli_id open = pli_build_onto(b, score, PLI_NO_NODE);
    if (b->flags & PLI_GRAPH_SHARED_SILU)
        open = pli_build_onto(b, open, score);
    return pli_build_onto(b, id, open);
}

pli_id pli_build_experts(pli_builder *b, pli_id x)
{
    const pli_tensor *shared = pli_build_tensor(b, "ffn_up_shexp.weight"),
                     *latent = pli_build_tensor(b, "ffn_latent_down.weight");
    uint64_t width = latent ? pli_smaller(latent->shape[1], UINT32_MAX) : b->shape->embedding;
    bool early = b->flags & PLI_GRAPH_GATE_EARLY;
    pli_id chosen = PLI_NO_NODE, shares = gate(b, x, &chosen);
    shares = balanced(b, shares);
    pli_graph_expand(b->graph, shares);
    pli_id each = latent ? pli_build_product(b, "ffn_latent_down", x, width) : x;
    each = pli_build_view(b, each, pli_dims_of(width, 1, b->rows));
    if (early)
        each = weighted(b, each, shares);
    pli_id down = product(b, "ffn_down_exps", inside(b, each, chosen), chosen, width);
    pli_id sum = sum_of(b, early ? down : pli_build_onto(b, down, shares), width);
    if (latent)
        sum = pli_build_product(b, "ffn_latent_up", sum, b->shape->embedding);
    return shared ? pli_build_onto(b, sum, shared_expert(b, x, shared->shape[1])) : sum;
}

pli_id pli_build_layer_feed_forward(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    if (!layer->routed)
        return pli_build_feed_forward(b, x, layer->feed_forward, "");
    pli_id routed = pli_build_experts(b, x);
    if (!pli_build_has(b, "ffn_up"))
        return routed;
    return pli_build_onto(b, pli_build_feed_forward(b, x, layer->feed_forward, ""), routed);
}
