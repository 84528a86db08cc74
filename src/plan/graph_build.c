/* A whole graph: embeddings, the layers by their architecture's template, logits. */
#include "graph_build.h"

#include <string.h>

#include "compute.h"

#define F32 4u
#define POSITION_SECTIONS 4u

static const struct {
    const char *name;
    const pli_template *template;
    uint64_t flags;
} graphs[] = {
#define GRAPH(name, template, flags) {name, &pli_template_##template, flags},
#include "graphs.def"
#undef GRAPH
};

/* Embeddings that the caller computed. */
static pli_id embedding_input(pli_builder *b)
{
    pli_id id = pli_build_input(b, pli_times(&b->graph->calc, b->shape->embedding, b->tokens), F32);
    if (id != PLI_NO_NODE)
        b->graph->node[id].dims = pli_dims_of(b->shape->embedding, b->tokens, 1);
    return id;
}

/* Rows of the table for a batch of tokens. */
static pli_id looked_up(pli_builder *b, pli_id table)
{
    pli_dims dims = pli_dims_of(b->shape->embedding, b->tokens, 1);
    pli_id id =
        pli_build_op(b, PLI_OP_LOOKUP, dims, table, pli_build_input(b, b->tokens, sizeof(int32_t)));
    pli_graph_expand(b->graph, id);
    return id;
}

/* A batch that mixes tokens with embeddings: the tokens' rows are stored between a copy of the
 * others. Reserved beside the graph of tokens alone, which nothing here feeds. */
static void store_between(pli_builder *b, pli_id rows)
{
    pli_graph *g = b->graph;
    pli_dims dims = pli_dims_of(b->shape->embedding, b->tokens, 1);
    pli_id given = embedding_input(b), slots = pli_build_input(b, b->tokens, sizeof(int64_t)),
           copy = pli_build_new(b, dims, given, PLI_NO_NODE),
           id = pli_build_op(b, PLI_OP_STORE, dims, rows, slots);
    pli_graph_source(g, id, copy);
    if (id == PLI_NO_NODE)
        return;
    g->node[id].root = copy;
    pli_graph_expand(g, id);
}

static pli_id embeddings(pli_builder *b)
{
    unsigned generation = b->setup->generation->flags;
    pli_id table = pli_build_weight(b, "token_embd", "weight", PLI_OF_INPUT);
    pli_id id = looked_up(b, table);
    pli_id mixed = generation & PLI_GEN_MIXED_INPUT ? looked_up(b, table) : PLI_NO_NODE;
    if (generation & PLI_GEN_TWO_INPUTS)
        pli_graph_expand(b->graph, embedding_input(b));
    if (mixed)
        store_between(b, mixed);
    pli_id scale = PLI_NO_NODE;
    if (mixed && (b->flags & PLI_GRAPH_TOKEN_SCALE))
        scale = pli_build_input(b, b->tokens, F32);
    if (b->flags & PLI_GRAPH_EMBED_SCALE)
        id = pli_build_onto(b, id, scale);
    pli_graph_expand(b->graph, id);
    return id;
}

/* A square matrix of the generation's rotation, or none. */
static pli_id rotation_input(pli_builder *b, uint64_t rank)
{
    pli_id id = rank ? pli_build_input(b, rank * rank, F32) : PLI_NO_NODE;
    if (id != PLI_NO_NODE)
        b->graph->node[id].dims = pli_dims_of(rank, rank, 1);
    return id;
}

pli_id pli_build_places(pli_builder *b)
{
    if (b->places || !pli_model_tensor(b->shape->model, "position_embd.weight"))
        return b->places;
    pli_id table = pli_build_weight(b, "position_embd", "weight", PLI_OF_INPUT);
    pli_build_position_input(b);
    return b->places =
               pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(b->shape->embedding, b->tokens, 1), table,
                            b->positions);
}

pli_id pli_build_placed(pli_builder *b, pli_id id)
{
    const pli_model *model = b->shape->model;
    pli_id places = pli_build_places(b);
    if (places)
        id = pli_build_onto(b, id, places);
    return pli_model_tensor(model, "token_embd_norm.weight")
               ? pli_build_norm(b, id, "token_embd_norm", PLI_OF_FIRST)
               : id;
}

void pli_build_cache_inputs(pli_builder *b)
{
    pli_graph *g = b->graph;
    uint64_t values = b->setup->flash ? 1 : b->shape->value_width_max;
    for (size_t i = 0; i < b->plan->cache_count; i++) {
        const pli_cache *cache = &b->plan->cache[i];
        pli_cache_input *in = &b->input[cache->sliding];
        in->cells = cache->cells;
        in->keys = pli_build_input(b, b->tokens, sizeof(uint64_t));
        in->values = pli_build_input(b, pli_times(&g->calc, b->tokens, values), sizeof(uint64_t));
        in->mask = in->used = pli_build_input(b, pli_times(&g->calc, cache->cells, b->tokens),
                                              pli_mask_element(b->setup));
        in->turn_keys = rotation_input(b, pli_key_rotation(b->shape, b->setup, cache->sliding));
        in->turn_values = rotation_input(b, pli_value_rotation(b->shape, b->setup, cache->sliding));
        if (!b->setup->flash || pli_mask_element(b->setup) != F32)
            continue;
        in->used = pli_graph_add(g, PLI_OP_PLAIN, pli_dims_of(cache->cells, b->tokens, 1), 2);
        pli_graph_source(g, in->used, in->mask);
    }
}

void pli_build_position_input(pli_builder *b)
{
    if (b->positions)
        return;
    uint64_t sections = pli_model_layer_number(b->shape->model, "%s.rope.dimension_sections", 0, 0);
    uint64_t each = b->flags & PLI_GRAPH_SECTIONS && sections ? POSITION_SECTIONS : 1;
    b->positions = pli_build_input(b, each * b->tokens, sizeof(int32_t));
}

void pli_build_output_input(pli_builder *b)
{
    b->outputs = pli_build_input(b, pli_output_rows(b->setup), sizeof(int32_t));
}

/* What masks the batch from itself, where nothing is kept. */
static void mask_inputs(pli_builder *b)
{
    for (size_t i = 0; i < (b->shape->window ? 2 : 1); i++) {
        pli_cache_input *in = &b->input[i];
        in->cells = pli_batch_cells(&b->graph->calc, b->setup);
        uint64_t elements = pli_times(&b->graph->calc, in->cells, b->tokens);
        in->mask = in->used = pli_build_input(b, elements, pli_mask_element(b->setup));
        if (!b->setup->flash || pli_mask_element(b->setup) != F32)
            continue;
        in->used = pli_graph_add(b->graph, PLI_OP_PLAIN, pli_dims_of(in->cells, b->tokens, 1), 2);
        pli_graph_source(b->graph, in->used, in->mask);
    }
}

void pli_build_attention_inputs(pli_builder *b)
{
    pli_build_position_input(b);
    pli_build_output_input(b);
    if (b->shape->arch->flags & PLI_ARCH_NO_CACHE)
        mask_inputs(b);
    else
        pli_build_cache_inputs(b);
}

pli_id pli_build_wanted_rows(pli_builder *b, pli_id of)
{
    return pli_build_op(b, PLI_OP_LOOKUP,
                        pli_dims_of(b->shape->embedding, pli_output_rows(b->setup), 1), of,
                        b->outputs);
}

/* Builds that predict more tokens do so from the output norm of every row. */
static bool narrows_late(const pli_builder *b)
{
    return b->flags & PLI_GRAPH_PREDICTS && b->setup->generation->flags & PLI_GEN_LATE_ROWS;
}

static bool keeps_hidden(const pli_builder *b)
{
    return b->flags & PLI_GRAPH_HIDDEN_KEPT && b->setup->generation->flags & PLI_GEN_KEPT_HIDDEN;
}

/* What enters the output norm; where it is kept for drafts, kept of every row at first. */
static pli_id kept_hidden(pli_builder *b, pli_id hidden)
{
    if (b->graph->failed || !keeps_hidden(b))
        return hidden;
    b->graph->node[hidden].flags |= PLI_NODE_HELD;
    if (!(b->setup->generation->flags & PLI_GEN_LATE_ROWS))
        return hidden;
    b->rows = pli_output_rows(b->setup);
    return pli_build_wanted_rows(b, hidden);
}

void pli_build_last_rows(pli_builder *b, pli_id *first, pli_id *second)
{
    bool late =
        narrows_late(b) || (keeps_hidden(b) && b->setup->generation->flags & PLI_GEN_LATE_ROWS);
    if (b->il + 1 != b->shape->run_layers || late)
        return;
    *first = pli_build_wanted_rows(b, *first);
    if (second)
        *second = pli_build_wanted_rows(b, *second);
    b->rows = pli_output_rows(b->setup);
}

static void logits(pli_builder *b, pli_id hidden, bool tied)
{
    bool named_so = b->shape->arch->flags & PLI_ARCH_NORM_AT_OUTPUT;
    bool late = narrows_late(b);
    if (b->flags & PLI_GRAPH_NORMED_BEFORE) {
        pli_graph_expand(b->graph, hidden);
        return;
    }
    hidden = kept_hidden(b, hidden);
    pli_id id =
        pli_build_norm(b, hidden, named_so ? "token_embd_norm" : "output_norm", PLI_OF_OUTPUT);
    if (b->graph->failed)
        return;
    b->graph->node[id].flags |= PLI_NODE_HELD; /* the embeddings, should they be asked for */
    if (b->flags & PLI_GRAPH_HIDDEN_SCALE)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    if (!b->shape->has_head) {
        pli_graph_expand(b->graph, id);
        return;
    }
    if (late) {
        id = pli_build_wanted_rows(b, id);
        b->rows = pli_output_rows(b->setup);
    }
    id = pli_build_new(b, pli_dims_of(b->shape->vocabulary, b->rows, 1),
                       pli_build_weight(b, tied ? "token_embd" : "output", "weight", PLI_OF_OUTPUT),
                       id);
    id = pli_build_output_biased(b, id, "output");
    int more = b->flags & PLI_GRAPH_LOGIT_CAP ? 3 : b->flags & PLI_GRAPH_LOGIT_SCALE ? 1 : 0;
    for (int i = 0; i < more; i++)
        id = pli_build_onto(b, id, PLI_NO_NODE);
    pli_graph_expand(b->graph, id);
}

/* Figures that a template may multiply: what is larger is no model. */
static bool is_sane(const pli_shape *shape)
{
    const uint64_t figures[] = {shape->embedding, shape->vocabulary, shape->experts,
                                shape->expert_width, shape->shared_width};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i] > UINT32_MAX)
            return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (shape->layer[il].heads > UINT16_MAX || shape->layer[il].feed_forward > UINT32_MAX)
            return false;
    return shape->run_layers > 0 && shape->run_layers <= PLI_MAX_DRAWN &&
           shape->experts_used <= PLI_GRAPH_MAX_EXPERTS && shape->key_length <= UINT16_MAX &&
           shape->value_length <= UINT16_MAX;
}

static uint64_t without(const pli_builder *b, uint64_t flags, const char *key, uint64_t scale)
{
    double by = 0;
    return pli_model_f64(b->shape->model, key, &by) && by != 0 ? flags : flags & ~scale;
}

static uint64_t keyed(const pli_builder *b, uint64_t flags)
{
    flags = without(b, flags, "%s.embedding_scale", PLI_GRAPH_EMBED_SCALE);
    flags = without(b, flags, "%s.residual_scale", PLI_GRAPH_RESIDUAL_SCALE);
    return without(b, flags, "%s.logit_scale", PLI_GRAPH_LOGIT_SCALE);
}

/* The template that draws this model exactly; NULL: none does. */
static const pli_template *template_of(pli_builder *b)
{
    const char *name = b->shape->arch->name;
    size_t i = 0;
    while (i < sizeof graphs / sizeof *graphs && strcmp(graphs[i].name, name) != 0)
        i++;
    if (i == sizeof graphs / sizeof *graphs || b->setup->split == PLI_SPLIT_ROW ||
        !is_sane(b->shape))
        return NULL;
    b->flags = graphs[i].flags;
    if (b->flags & PLI_GRAPH_KEYED_SCALES)
        b->flags = keyed(b, b->flags);
    return graphs[i].template->fits(b) ? graphs[i].template : NULL;
}

bool pli_graph_build(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, const pli_plan *plan)
{
    pli_builder b = {.graph = graph, .shape = shape, .setup = setup, .sites = sites, .plan = plan};
    const pli_template *template = template_of(&b);
    if (!template || !pli_fold_begin(&b, !template->numbered))
        return false;
    b.tokens = pli_graph_tokens(setup);
    b.sequences = setup->sequences;
    uint64_t width = pli_model_number(shape->model, "%s.embedding_length_per_layer_input", 0);
    if (b.flags & PLI_GRAPH_TABLE_AHEAD && width)
        pli_build_table_rows(&b, width);
    if (b.flags & PLI_GRAPH_NORMED_BEFORE && setup->generation->flags & PLI_GEN_PADDED_BATCH)
        pli_graph_expand(graph, pli_build_places(&b));
    pli_id hidden = embeddings(&b);
    b.rows = b.tokens;
    template->inputs(&b);
    for (b.il = 0; b.il < shape->run_layers && !graph->failed; b.il = pli_fold_next(&b)) {
        pli_fold_layer(&b);
        hidden = template->layer(&b, hidden);
    }
    logits(&b, hidden, pli_model_tensor(shape->model, "output.weight") == NULL);
    return !graph->failed;
}
