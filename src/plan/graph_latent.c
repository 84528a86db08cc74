/* Attention over compressed keys and values (llama.cpp b7847: src/models/deepseek2.cpp). Where the
 * header has the lengths of decompressed heads, queries are brought to the compressed form and the
 * cache keeps one row a token; else keys and values are decompressed and cached. */
#include "graph_build.h"

/* What the parts of this layer measure. */
typedef struct sizes {
    uint64_t heads, rank, rotary, plain; /* plain: elements of a head that do not rotate */
} sizes;

static sizes sizes_of(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    return (sizes){shape->layer[b->il].heads, shape->latent_rank, shape->rotary,
                   shape->full_key_length - shape->rotary};
}

/* One result after the other in every row. */
static pli_id joined(pli_builder *b, pli_id first, pli_id second, pli_dims dims)
{
    pli_id id = pli_build_new(b, dims, first, second);
    return id;
}

/* Queries in one product or two. */
static pli_id queries(pli_builder *b, pli_id x, const sizes *n)
{
    uint64_t width = n->heads * b->shape->full_key_length;
    if (b->shape->query_rank == 0)
        return pli_build_product(b, "attn_q", x, width);
    x = pli_build_product(b, "attn_q_a", x, b->shape->query_rank);
    x = pli_build_norm(b, x, "attn_q_a_norm", PLI_OF_LAYER);
    return pli_build_product(b, "attn_q_b", x, width);
}

/* Of every head the part that does not rotate, and the rest, rotated. */
static pli_id head_of(pli_builder *b, pli_id query, const sizes *n)
{
    uint64_t head = n->plain + n->rotary;
    return pli_build_part(b, query, pli_dims_of(n->plain, n->heads, b->tokens), head,
                          head * n->heads);
}

static pli_id tail(pli_builder *b, pli_id query, const sizes *n)
{
    uint64_t head = n->plain + n->rotary;
    return pli_build_rope(b, pli_build_part(b, query, pli_dims_of(n->rotary, n->heads, b->tokens),
                                            head, head * n->heads));
}

static pli_id tempered(pli_builder *b, pli_id query)
{
    return b->temperature ? pli_build_onto(b, query, b->temperature) : query;
}

/* Queries x the decompression of keys: as they meet the compressed rows. */
static pli_id absorbed(pli_builder *b, pli_id query, const sizes *n)
{
    pli_id plain = head_of(b, query, n), turned = tail(b, query, n);
    pli_id id = pli_build_view(b, plain, pli_dims_of(n->plain, b->tokens, n->heads));
    if (id != PLI_NO_NODE)
        b->graph->node[id].bytes = b->graph->node[plain].bytes;
    id = pli_build_new(b, pli_dims_of(n->rank, b->tokens, n->heads),
                       pli_build_weight(b, "attn_k_b", "weight", PLI_OF_LAYER), id);
    if (id != PLI_NO_NODE)
        b->graph->node[id].rows = b->tokens;
    id = pli_build_view(b, id, pli_dims_of(n->rank, n->heads, b->tokens));
    id = joined(b, id, turned, pli_dims_of(n->rank + n->rotary, n->heads, b->tokens));
    return tempered(b, id);
}

/* Over one compressed row a token: its first part is the value as well. */
static pli_id attention_compressed(pli_builder *b, pli_id query, pli_id rows, pli_id turned,
                                   const sizes *n)
{
    const pli_cache_input *in = &b->input[0];
    uint64_t width = n->rank + n->rotary;
    pli_id value = pli_build_view(b, rows, pli_dims_of(n->rank, 1, b->tokens));
    pli_id key = joined(b, value, turned, pli_dims_of(width, 1, b->tokens));
    pli_graph_expand(b->graph, query);
    pli_graph_expand(b->graph, value);
    pli_graph_expand(b->graph, key);
    pli_id cache = pli_build_cache(b, b->il);
    pli_build_store(b, key, in->keys, cache);
    const pli_cached keys = {cache, b->setup->type_k, width, 1, width},
                     values = {cache, b->setup->type_k, n->rank, 1, width};
    pli_attention a = {.query = pli_build_queries(b, query, width),
                       .keys = pli_build_cached(b, &keys, in),
                       .values = pli_build_cached(b, &values, in),
                       .value_length = n->rank,
                       .expand = pli_build_weight(b, "attn_v_b", "weight", PLI_OF_LAYER),
                       .expanded_length = b->shape->full_value_length};
    if (!b->setup->flash) { /* they do not lie transposed in the cache */
        uint64_t bytes = 0;
        if (!pli_quant_row_bytes(b->setup->type_k, in->cells, &bytes))
            b->graph->failed = true;
        bytes = pli_times(&b->graph->calc, bytes, b->setup->streams);
        pli_id turn = pli_graph_add(b->graph, PLI_OP_PLAIN, pli_dims_of(n->rank, 1, 1), bytes);
        pli_graph_source(b->graph, turn, a.values);
        a.values = turn;
    }
    return pli_build_attend(b, &a, in);
}

/* Queries with their last part rotated. */
static pli_id turned_queries(pli_builder *b, pli_id query, const sizes *n)
{
    uint64_t head = n->plain + n->rotary;
    pli_dims dims = pli_dims_of(head, n->heads, b->tokens);
    if (b->setup->generation->flags & PLI_GEN_TURNED_TAIL)
        return tempered(b, pli_build_rope(b, pli_build_view(b, query, dims)));
    pli_id turned = tail(b, query, n);
    return tempered(b, joined(b, head_of(b, query, n), turned, dims));
}

/* Over keys and values of every head. */
static pli_id attention_full(pli_builder *b, pli_id query, pli_id rows, pli_id key_turned,
                             const sizes *n)
{
    uint64_t dk = b->shape->full_key_length, dv = b->shape->full_value_length;
    uint64_t width = n->plain + dv;
    pli_id both = pli_build_product(b, "attn_kv_b", rows, width * n->heads);
    pli_id key = pli_build_part(b, both, pli_dims_of(n->plain, n->heads, b->tokens), width,
                                width * n->heads);
    pli_dims values = pli_dims_of(dv, n->heads, b->tokens);
    pli_id value = pli_build_part(b, both, values, width, width * n->heads);
    value = pli_build_new(b, values, value, PLI_NO_NODE);
    pli_dims dims = pli_dims_of(dk, n->heads, b->tokens);
    query = turned_queries(b, query, n);
    pli_id repeated =
        pli_build_new(b, pli_dims_of(n->rotary, n->heads, b->tokens), key_turned, PLI_NO_NODE);
    return pli_build_attention_of(b, query, joined(b, key, repeated, dims), value);
}

pli_id pli_build_latent_attention(pli_builder *b, pli_id x)
{
    const sizes n = sizes_of(b);
    uint64_t wide = n.rank + n.rotary;
    pli_id query = queries(b, x, &n);
    pli_id both = pli_build_product(b, "attn_kv_a_mqa", x, wide);
    pli_id key_turned =
        pli_build_rope(b, pli_build_part(b, both, pli_dims_of(n.rotary, 1, b->tokens), wide, wide));
    pli_id rows = pli_build_part(b, both, pli_dims_of(n.rank, b->tokens, 1), wide, 0);
    rows = pli_build_norm(b, rows, "attn_kv_a_norm", PLI_OF_LAYER);
    if (b->shape->latent)
        return attention_compressed(b, absorbed(b, query, &n), rows, key_turned, &n);
    return attention_full(b, query, rows, key_turned, &n);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    return pli_build_layer(b, hidden, pli_build_latent_attention);
}

static void inputs(pli_builder *b)
{
    double scale = 0;
    if (pli_model_f64(b->shape->model, "%s.attention.temperature_scale", &scale) && scale != 0)
        b->temperature = pli_build_input(b, b->tokens, sizeof(float));
    pli_build_attention_inputs(b);
}

bool pli_latent_fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    return shape->latent_rank && shape->latent_rank <= UINT16_MAX &&
           shape->query_rank <= UINT16_MAX && shape->full_key_length <= UINT16_MAX &&
           shape->full_value_length <= UINT16_MAX && shape->rotary <= UINT16_MAX &&
           shape->rotary < shape->full_key_length && shape->window == 0;
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    static const char *const names[] = {"blk.0.attn_kv_a_mqa.weight", "blk.0.attn_kv_a_norm.weight",
                                        "blk.0.attn_output.weight", "output_norm.weight",
                                        "token_embd.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_model_tensor(shape->model, names[i]))
            return false;
    return pli_latent_fits(b) &&
           pli_model_tensor(shape->model,
                            shape->latent ? "blk.0.attn_k_b.weight" : "blk.0.attn_kv_b.weight");
}

const pli_template pli_template_latent = {.fits = fits, .inputs = inputs, .layer = layer_of};
