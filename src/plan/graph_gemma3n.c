/* gemma3n (llama.cpp b7847: src/models/gemma3n-iswa.cpp): four streams of hidden states side by
 * side (altup), of which every layer works on one, predicts the others and corrects them; a
 * low-rank path beside attention (laurel); an embedding of the token for every layer. The last
 * layers attend to the caches of earlier ones. */
#include "compute.h"
#include "graph_build.h"

#define STREAMS 4u
#define LAUREL_RANK 64u
#define TOKEN_WIDTH 256u  /* of a layer's own embedding of a token */
#define SPARSE_LAYERS 10u /* the first: their gates keep only what is far above the mean */
#define OWN_CACHES 20u    /* layers with a cache of their own */

/* The root of the sum of squares of every row. */
static pli_id magnitude(pli_builder *b, pli_id x)
{
    if (b->graph->failed)
        return PLI_NO_NODE;
    pli_dims dims = b->graph->node[x].dims;
    dims.n[0] = 1;
    x = pli_build_onto(b, x, PLI_NO_NODE);
    return pli_build_onto(b, pli_build_new(b, dims, x, PLI_NO_NODE), PLI_NO_NODE);
}

static pli_dims stream(const pli_builder *b)
{
    return pli_dims_of(b->shape->embedding, b->tokens, 1);
}

static pli_dims streams(const pli_builder *b, uint64_t count)
{
    return pli_dims_of(b->shape->embedding, b->tokens, count);
}

/* weight x x for a weight of the whole model; rows: of x that are multiplied at once. */
static pli_id product(pli_builder *b, const char *weight, pli_whose whose, pli_id x, pli_dims dims)
{
    pli_id id = pli_build_new(b, dims, pli_build_weight(b, weight, "weight", whose), x);
    if (id != PLI_NO_NODE)
        b->graph->node[id].rows = dims.n[1];
    return id;
}

/* ---- before and after the layers ------------------------------------------------------------- */

void pli_build_table_rows(pli_builder *b, uint64_t width)
{
    pli_dims dims = pli_dims_of(width * b->shape->layers, b->tokens, 1);
    pli_id ids = pli_build_input(b, b->tokens, sizeof(int32_t));
    pli_id table = pli_build_weight(b, "per_layer_token_embd", "weight", PLI_OF_TABLE);
    b->table_rows = pli_build_op(b, PLI_OP_LOOKUP, dims, table, ids);
    if (b->flags & PLI_GRAPH_TABLE_AHEAD)
        pli_graph_expand(b->graph, b->table_rows);
}

/* The rows scaled, each layer's apart. */
static pli_id own_rows(pli_builder *b, pli_dims dims)
{
    if (b->flags & PLI_GRAPH_TABLE_AHEAD)
        return pli_build_view(b, pli_build_onto(b, b->table_rows, PLI_NO_NODE), dims);
    pli_id id = pli_build_onto(b, pli_build_view(b, b->table_rows, dims), PLI_NO_NODE);
    if (b->setup->generation->flags & PLI_GEN_TABLE_AT_INPUT) /* while the table is there */
        pli_graph_expand(b->graph, id);
    return id;
}

pli_id pli_build_layer_embeddings(pli_builder *b, pli_id embedded, uint64_t width)
{
    uint64_t layers = b->shape->layers;
    pli_dims dims = pli_dims_of(width, layers, b->tokens),
             flat = pli_dims_of(width * layers, b->tokens, 1);
    if (!b->table_rows)
        pli_build_table_rows(b, width);
    pli_id own = own_rows(b, dims);
    pli_id by = pli_build_weight(b, "per_layer_model_proj", "weight", PLI_OF_MIXER);
    pli_id id = pli_build_onto(b, pli_build_new(b, flat, by, embedded), PLI_NO_NODE);
    id = pli_build_norm(b, pli_build_view(b, id, dims), "per_layer_proj_norm", PLI_OF_MIXER);
    id = pli_build_onto(b, pli_build_onto(b, id, own), PLI_NO_NODE);
    dims = pli_dims_of(width, b->tokens, layers);
    return pli_build_new(b, dims, pli_build_view(b, id, dims), PLI_NO_NODE);
}

/* The embedding, and the other streams that are made from it, as large as it. */
static pli_id unfolded(pli_builder *b, pli_id embedded)
{
    pli_dims others = streams(b, STREAMS - 1);
    pli_id target = magnitude(b, embedded);
    pli_id added = product(b, "altup_proj", PLI_OF_OUTPUT,
                           pli_build_new(b, others, embedded, PLI_NO_NODE), others);
    pli_id size = magnitude(b, added);
    added = pli_build_onto(b, pli_build_onto(b, added, target), size);
    return pli_build_new(b, streams(b, STREAMS), embedded, added);
}

/* The mean of the streams. */
static pli_id folded(pli_builder *b, pli_id hidden)
{
    pli_dims others = streams(b, STREAMS - 1);
    pli_id target = magnitude(b, pli_build_view(b, hidden, stream(b)));
    pli_id added =
        product(b, "altup_unembd_proj", PLI_OF_OUTPUT, pli_build_view(b, hidden, others), others);
    pli_id size = magnitude(b, added);
    added = pli_build_onto(b, pli_build_onto(b, added, target), size);
    pli_id sum = pli_build_view(b, hidden, stream(b));
    for (unsigned i = 0; i + 1 < STREAMS; i++)
        sum = pli_build_onto(b, sum, pli_build_view(b, added, stream(b)));
    return pli_build_onto(b, sum, PLI_NO_NODE);
}

/* ---- a layer --------------------------------------------------------------------------------- */

/* Weights that a layer uses twice: what is copied for the first use serves the second. */
typedef struct router {
    pli_id norm, weight;
} router;

/* How much of each stream this token asks for. */
static pli_id modalities(pli_builder *b, pli_id x, const router *by)
{
    x = pli_build_onto(b, pli_build_onto(b, x, PLI_NO_NODE), by->norm);
    x = pli_build_onto(b, x, PLI_NO_NODE);
    x = pli_build_new(b, pli_dims_of(STREAMS, b->tokens, 1), by->weight, x);
    return pli_build_onto(b, x, PLI_NO_NODE);
}

static pli_id predicted(pli_builder *b, pli_id hidden, const router *r)
{
    uint64_t width = b->shape->embedding;
    pli_id by = modalities(b, pli_build_view(b, hidden, stream(b)), r);
    by = pli_build_product(b, "altup_predict_coef", by, STREAMS * STREAMS);
    by = pli_build_view(b, by, pli_dims_of(STREAMS, STREAMS, b->tokens));
    pli_dims turned = pli_dims_of(STREAMS, width, b->tokens);
    pli_id id = pli_build_new(b, turned, pli_build_view(b, hidden, turned), PLI_NO_NODE);
    id = pli_build_new(b, pli_dims_of(width, STREAMS, b->tokens), id, by);
    id = pli_build_view(b, id, streams(b, STREAMS));
    id = pli_build_new(b, streams(b, STREAMS), id, PLI_NO_NODE);
    return pli_build_onto(b, id, hidden);
}

static pli_id corrected(pli_builder *b, pli_id predictions, pli_id activated, const router *r)
{
    pli_id by = modalities(b, activated, r);
    pli_id news = pli_build_onto(b, activated, pli_build_view(b, predictions, stream(b)));
    by = pli_build_onto(b, pli_build_product(b, "altup_correct_coef", by, STREAMS), PLI_NO_NODE);
    by = pli_build_view(b, by, pli_dims_of(b->tokens, STREAMS, 1));
    by = pli_build_new(b, pli_dims_of(1, b->tokens, STREAMS), by, PLI_NO_NODE);
    news = pli_build_new(b, streams(b, STREAMS), news, PLI_NO_NODE);
    return pli_build_onto(b, pli_build_onto(b, news, by), predictions);
}

static pli_id laurel(pli_builder *b, pli_id x)
{
    pli_id id = pli_build_product(b, "laurel_l", x, LAUREL_RANK);
    id = pli_build_product(b, "laurel_r", id, b->shape->embedding);
    id = pli_build_norm(b, id, "laurel_post_norm", PLI_OF_LAYER);
    return pli_build_onto(b, id, x);
}

static pli_id heads_of(pli_builder *b, pli_id x, const char *weight, uint64_t length,
                       uint64_t heads)
{
    return pli_build_view(b, pli_build_product(b, weight, x, length * heads),
                          pli_dims_of(length, heads, b->tokens));
}

static pli_id attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_id query = heads_of(b, x, "attn_q", layer->key_length, layer->heads);
    query = pli_build_rope(b, pli_build_norm(b, query, "attn_q_norm", PLI_OF_LAYER));
    if (!layer->cached) {
        uint64_t il = OWN_CACHES - (layer->slides ? 2 : 1);
        pli_graph_expand(b->graph, query);
        pli_id keys = pli_build_cache(b, il), values = pli_build_cache(b, il);
        return pli_build_attention_over(b, query, keys, values);
    }
    pli_id key = heads_of(b, x, "attn_k", layer->key_length, layer->heads_kv);
    key = pli_build_rope(b, pli_build_norm(b, key, "attn_k_norm", PLI_OF_LAYER));
    pli_id value = heads_of(b, x, "attn_v", layer->value_length, layer->heads_kv);
    return pli_build_attention_of(b, query, key, pli_build_onto(b, value, PLI_NO_NODE));
}

/* What of the gate is far above its mean. */
static pli_id sparse(pli_builder *b, pli_id gate)
{
    pli_dims one = pli_dims_of(1, b->tokens, 1);
    pli_id mean = pli_build_new(b, one, gate, PLI_NO_NODE);
    pli_id spread = pli_build_onto(b, pli_build_onto(b, gate, mean), PLI_NO_NODE);
    spread = pli_build_new(b, one, spread, PLI_NO_NODE);
    for (int i = 0; i < 3; i++) /* scaled, rooted, scaled */
        spread = pli_build_onto(b, spread, PLI_NO_NODE);
    pli_id cut = pli_build_onto(b, mean, spread);
    return pli_build_onto(b, pli_build_onto(b, gate, cut), PLI_NO_NODE);
}

static pli_id feed_forward(pli_builder *b, pli_id x)
{
    uint64_t width = b->shape->layer[b->il].feed_forward;
    pli_id up = pli_build_product(b, "ffn_up", x, width);
    pli_id gate = pli_build_product(b, "ffn_gate", x, width);
    if (b->il < SPARSE_LAYERS)
        gate = sparse(b, gate);
    gate = pli_build_onto(b, gate, PLI_NO_NODE);
    return pli_build_product(b, "ffn_down", pli_build_onto(b, up, gate), b->shape->embedding);
}

/* The streams that were not worked on take what the layer's own embedding adds. */
static pli_id told(pli_builder *b, pli_id hidden)
{
    pli_id own = pli_build_view(b, b->per_layer, pli_dims_of(TOKEN_WIDTH, b->tokens, 1));
    pli_id by = pli_build_weight(b, "altup_correct_scale", "weight", PLI_OF_LAYER);
    pli_id first = pli_build_onto(b, pli_build_view(b, hidden, stream(b)), by);
    first = pli_build_onto(b, pli_build_product(b, "inp_gate", first, TOKEN_WIDTH), PLI_NO_NODE);
    first = pli_build_onto(b, first, own);
    first = pli_build_product(b, "proj", first, b->shape->embedding);
    first = pli_build_norm(b, first, "post_norm", PLI_OF_LAYER);
    pli_id rest = pli_build_view(b, hidden, streams(b, STREAMS - 1));
    rest = pli_build_onto(b, rest, first);
    pli_id own_stream = pli_build_view(b, hidden, stream(b));
    return pli_build_new(b, streams(b, STREAMS), own_stream, rest);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    if (b->il == 0) {
        b->per_layer = pli_build_layer_embeddings(b, hidden, TOKEN_WIDTH);
        hidden = unfolded(b, hidden);
    }
    const router r = {pli_build_weight(b, "altup_router_norm", "weight", PLI_OF_LAYER),
                      pli_build_weight(b, "altup_router", "weight", PLI_OF_LAYER)};
    pli_id predictions = predicted(b, hidden, &r);
    pli_id active = pli_build_view(b, predictions, stream(b));
    pli_id x = pli_build_norm(b, active, "attn_norm", PLI_OF_LAYER);
    pli_id beside = laurel(b, x);
    x = pli_build_norm(b, attention(b, x), "post_attention_norm", PLI_OF_LAYER);
    x = pli_build_onto(b, pli_build_onto(b, x, active), beside);
    pli_id residual = pli_build_onto(b, x, PLI_NO_NODE);
    x = feed_forward(b, pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER));
    x = pli_build_onto(b, pli_build_norm(b, x, "post_ffw_norm", PLI_OF_LAYER), residual);
    hidden = told(b, corrected(b, predictions, x, &r));
    if (b->il + 1 < b->shape->run_layers)
        return hidden;
    hidden = pli_build_wanted_rows(b, folded(b, hidden));
    b->rows = pli_output_rows(b->setup);
    return hidden;
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    static const char *const names[] = {
        "altup_proj.weight",           "altup_unembd_proj.weight", "per_layer_model_proj.weight",
        "per_layer_token_embd.weight", "blk.0.laurel_l.weight",    "blk.0.attn_q.weight",
        "output_norm.weight",          "token_embd.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_model_tensor(shape->model, names[i]))
            return false;
    return shape->run_layers > OWN_CACHES && shape->window && !shape->experts;
}

const pli_template pli_template_gemma3n = {
    .fits = fits, .inputs = pli_build_attention_inputs, .layer = layer_of, .numbered = true};
