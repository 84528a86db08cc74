/* The words of the templates: an operation, a weight, a product, a norm. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph_build.h"

#define F32 4u

pli_id pli_build_op(pli_builder *b, pli_op op, pli_dims dims, pli_id first, pli_id second)
{
    pli_id id = pli_graph_add(b->graph, op, dims, F32);
    pli_graph_source(b->graph, id, first);
    pli_graph_source(b->graph, id, second);
    return id;
}

pli_id pli_build_new(pli_builder *b, pli_dims dims, pli_id first, pli_id second)
{
    return pli_build_op(b, PLI_OP_PLAIN, dims, first, second);
}

pli_id pli_build_anew(pli_builder *b, pli_id operand)
{
    return b->graph->failed ? PLI_NO_NODE
                            : pli_build_new(b, b->graph->node[operand].dims, operand, PLI_NO_NODE);
}

pli_id pli_build_onto(pli_builder *b, pli_id first, pli_id second)
{
    return b->graph->failed
               ? PLI_NO_NODE
               : pli_build_op(b, PLI_OP_INPLACE, b->graph->node[first].dims, first, second);
}

pli_id pli_build_where(pli_builder *b, pli_id operand)
{
    if (b->graph->failed)
        return PLI_NO_NODE;
    pli_id root = b->graph->node[operand].root;
    pli_id id = pli_build_op(b, PLI_OP_STORE, b->graph->node[operand].dims, operand, PLI_NO_NODE);
    if (id != PLI_NO_NODE)
        b->graph->node[id].root = root ? root : operand;
    return id;
}

pli_id pli_build_view(pli_builder *b, pli_id of, pli_dims dims)
{
    pli_id id = pli_build_op(b, PLI_OP_VIEW, dims, of, PLI_NO_NODE);
    if (id != PLI_NO_NODE)
        b->graph->node[id].root = b->graph->node[of].root ? b->graph->node[of].root : of;
    return id;
}

pli_id pli_build_clamped(pli_builder *b, pli_id of)
{
    return pli_build_where(b, of);
}

pli_id pli_build_part(pli_builder *b, pli_id of, pli_dims dims, uint64_t step1, uint64_t step2)
{
    pli_id id = pli_build_view(b, of, dims);
    pli_calc *calc = &b->graph->calc;
    if (dims.n[0] == 0 || dims.n[1] == 0 || dims.n[2] == 0)
        return id;
    uint64_t before = pli_plus(calc, pli_times(calc, step1, dims.n[1] - 1),
                               pli_times(calc, step2, dims.n[2] - 1));
    if (id != PLI_NO_NODE)
        b->graph->node[id].bytes = pli_times(calc, F32, pli_plus(calc, before, dims.n[0]));
    return id;
}

pli_id pli_build_slice(pli_builder *b, pli_id rows, pli_dims dims, uint64_t width)
{
    return pli_build_part(b, rows, dims, dims.n[0], width);
}

pli_id pli_build_input(pli_builder *b, uint64_t elements, uint64_t size)
{
    pli_id id = pli_graph_add(b->graph, PLI_OP_LEAF, pli_dims_of(elements, 1, 1), size);
    if (id != PLI_NO_NODE)
        b->graph->node[id].flags = PLI_NODE_INPUT;
    return id;
}

static size_t site_of(const pli_builder *b, pli_whose whose)
{
    switch (whose) {
    case PLI_OF_INPUT:
        return b->sites->devices;
    case PLI_OF_FIRST:
        return pli_norm_site(b->plan, b->setup, b->sites);
    case PLI_OF_LAYER:
        return pli_layer_site(b->plan, b->sites, b->il);
    case PLI_OF_TABLE:
        if (b->setup->generation->flags & PLI_GEN_TABLE_AT_INPUT)
            return b->sites->devices;
        break;
    case PLI_OF_MIXER:
        if (b->setup->generation->flags & PLI_GEN_TABLE_AT_INPUT)
            return pli_layer_site(b->plan, b->sites, 0);
        break;
    case PLI_OF_OUTPUT:
        break;
    }
    return pli_layer_site(b->plan, b->sites, b->shape->layers);
}

/* Some have no suffix: blk.0.ssm_a. */
static const pli_tensor *tensor_of(const pli_builder *b, const char *name, const char *suffix,
                                   pli_whose whose)
{
    bool bare = strcmp(suffix, "weight") == 0;
    char text[64];
    const pli_tensor *tensor;
    if (whose == PLI_OF_LAYER) {
        tensor = pli_layer_tensor(b->shape, b->il, name, suffix);
        return tensor || !bare ? tensor : pli_layer_tensor(b->shape, b->il, name, NULL);
    }
    (void)snprintf(text, sizeof text, "%s.%s", name, suffix);
    tensor = pli_model_tensor(b->shape->model, text);
    return tensor || !bare ? tensor : pli_model_tensor(b->shape->model, name);
}

/* Where a weight lies, and what a copy of it on a device takes; looked up only where that
 * matters. False: it was looked up, and there is none. */
static bool find_weight(pli_builder *b, const char *name, const char *suffix, pli_whose whose,
                        pli_node *node)
{
    const pli_setup *setup = b->setup;
    size_t host = b->sites->devices;
    size_t site = site_of(b, whose);
    node->site = (int)site;
    if (site != host && !setup->taken)
        return true;
    const pli_tensor *tensor = tensor_of(b, name, suffix, whose);
    if (!tensor)
        return false;
    size_t index = (size_t)(tensor - b->shape->model->tensors);
    node->site = (int)pli_overridden(setup, index, site);
    node->bytes = pli_allocated(&b->graph->calc, b->sites->at[0].backend,
                                pli_quant_at(tensor->type), tensor->shape[0], tensor->bytes);
    return true;
}

bool pli_build_has(const pli_builder *b, const char *name)
{
    return pli_layer_tensor(b->shape, b->il, name, "weight") || pli_build_tensor(b, name);
}

pli_id pli_build_weight(pli_builder *b, const char *name, const char *suffix, pli_whose whose)
{
    pli_id id = pli_graph_add(b->graph, PLI_OP_LEAF, pli_dims_of(0, 0, 0), 0);
    if (id == PLI_NO_NODE)
        return id;
    b->graph->node[id].flags = PLI_NODE_WEIGHT | PLI_NODE_STORED;
    (void)find_weight(b, name, suffix, whose, &b->graph->node[id]);
    return id;
}

const pli_tensor *pli_build_tensor(const pli_builder *b, const char *name)
{
    return pli_layer_tensor(b->shape, b->il, name, NULL);
}

uint64_t pli_build_columns(const pli_builder *b, const char *name, uint64_t otherwise)
{
    char weight[48];
    (void)snprintf(weight, sizeof weight, "%s.weight", name);
    const pli_tensor *matrix = pli_build_tensor(b, weight);
    return matrix && matrix->dims > 1 && matrix->shape[1] <= UINT32_MAX ? matrix->shape[1]
                                                                        : otherwise;
}

pli_id pli_build_weight_as(pli_builder *b, const char *name, pli_dims dims)
{
    char whole[48];
    (void)snprintf(whole, sizeof whole, "%s.weight", name);
    const pli_tensor *tensor = pli_build_tensor(b, whole);
    if (!tensor)
        tensor = pli_build_tensor(b, name);
    pli_id id = pli_build_view(b, pli_build_weight(b, name, "weight", PLI_OF_LAYER), dims);
    if (id != PLI_NO_NODE && tensor)
        b->graph->node[id].bytes =
            pli_allocated(&b->graph->calc, b->sites->at[0].backend, pli_quant_at(tensor->type),
                          tensor->shape[0], tensor->bytes);
    return id;
}

/* The layer's tensor of that suffix, where it lies on the host, takes part in place. */
static pli_id suffixed(pli_builder *b, pli_id id, const char *name, const char *suffix,
                       pli_whose whose, pli_id chosen)
{
    pli_node found = {.flags = 0};
    if (b->graph->failed || !find_weight(b, name, suffix, whose, &found) ||
        (size_t)found.site != b->sites->devices)
        return id;
    id = pli_build_onto(b, id, pli_build_weight(b, name, suffix, whose));
    pli_graph_source(b->graph, id, chosen);
    return id;
}

static pli_id biased(pli_builder *b, pli_id id, const char *name, pli_whose whose, pli_id chosen)
{
    return suffixed(b, id, name, "bias", whose, chosen);
}

pli_id pli_build_biased(pli_builder *b, pli_id id, const char *name, pli_id chosen)
{
    return biased(b, id, name, PLI_OF_LAYER, chosen);
}

/* A matrix's factor (NVFP4) is multiplied with, but in a feed-forward not by every architecture. */
static bool is_scaled(const pli_builder *b, const char *name)
{
    if (strncmp(name, "ffn_", 4) != 0)
        return true;
    return b->flags & PLI_GRAPH_FED_SCALES && strncmp(name, "ffn_gate_inp", 12) != 0;
}

pli_id pli_build_product(pli_builder *b, const char *name, pli_id operand, uint64_t width)
{
    pli_id by = pli_build_weight(b, name, "weight", PLI_OF_LAYER);
    pli_id id = pli_build_new(b, pli_dims_of(width, b->rows, 1), by, operand);
    if (is_scaled(b, name))
        id = suffixed(b, id, name, "scale", PLI_OF_LAYER, PLI_NO_NODE);
    return pli_build_biased(b, id, name, PLI_NO_NODE);
}

pli_id pli_build_product_each(pli_builder *b, const char *name, pli_id operand, uint64_t width)
{
    uint64_t each = b->tokens / b->sequences;
    pli_id by = pli_build_weight(b, name, "weight", PLI_OF_LAYER);
    pli_id id = pli_build_new(b, pli_dims_of(width, each, b->sequences), by, operand);
    if (id != PLI_NO_NODE)
        b->graph->node[id].rows = each;
    return pli_build_biased(b, id, name, PLI_NO_NODE);
}

pli_id pli_build_output_biased(pli_builder *b, pli_id id, const char *name)
{
    return biased(b, id, name, PLI_OF_OUTPUT, PLI_NO_NODE);
}

const char *pli_build_either(const pli_builder *b, const char *first, const char *second)
{
    return pli_build_has(b, first) ? first : second;
}

pli_id pli_build_norm_by(pli_builder *b, pli_id operand, pli_id weight)
{
    if (b->graph->failed)
        return PLI_NO_NODE;
    pli_dims dims = b->graph->node[operand].dims;
    pli_id id = b->flags & PLI_GRAPH_LAYER_NORM ? pli_build_new(b, dims, operand, PLI_NO_NODE)
                                                : pli_build_onto(b, operand, PLI_NO_NODE);
    return weight ? pli_build_onto(b, id, weight) : id;
}

/* Some architectures norm without a weight. */
static bool has_weight(const pli_builder *b, const char *name, pli_whose whose)
{
    char text[64];
    if (whose == PLI_OF_LAYER)
        return pli_build_has(b, name);
    (void)snprintf(text, sizeof text, "%s.weight", name);
    return pli_model_tensor(b->shape->model, text) != NULL;
}

pli_id pli_build_norm(pli_builder *b, pli_id operand, const char *name, pli_whose whose)
{
    pli_id by =
        has_weight(b, name, whose) ? pli_build_weight(b, name, "weight", whose) : PLI_NO_NODE;
    return biased(b, pli_build_norm_by(b, operand, by), name, whose, PLI_NO_NODE);
}
