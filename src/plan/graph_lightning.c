/* MiniMax-Text-01: lightning attention, a state of keys times values for each head, in seven layers
 * of eight (llama.cpp: src/models/minimax-01.cpp). Results of a head stand as [row, tokens of a
 * sequence, heads of all sequences]. */
#include "graph_build.h"

#define F32 4u

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    uint64_t heads = shape->layer[0].heads;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (shape->layer[il].heads != heads || !shape->layer[il].routed)
            return false;
    return shape->key_length > 0 && shape->key_length == shape->value_length && heads > 0 &&
           !shape->latent && !shape->window;
}

static uint64_t each(const pli_builder *b)
{
    return b->tokens / b->sequences;
}

static void inputs(pli_builder *b)
{
    pli_calc *calc = &b->graph->calc;
    uint64_t heads = b->shape->layer[0].heads, all = pli_times(calc, heads, b->tokens);
    pli_build_state_inputs(b);
    pli_build_attention_inputs(b);
    b->decay.slopes = pli_build_input(b, heads, F32);
    b->decay.query = pli_build_input(b, all, F32);
    b->decay.key = pli_build_input(b, all, F32);
    b->decay.pair = pli_build_input(b, pli_times(calc, all, each(b)), F32);
}

/* The exponential of a decay, scaled for the layer. */
static pli_id decayed(pli_builder *b, pli_id by)
{
    return pli_build_onto(b, pli_build_onto(b, by, PLI_NO_NODE), PLI_NO_NODE);
}

typedef struct parts {
    pli_id query, key, value;
    pli_id turned; /* values, a token to a column */
    pli_id kept;   /* the state */
    uint64_t head, heads;
} parts;

static pli_dims by_head(const pli_builder *b, const parts *p, uint64_t a, uint64_t rows)
{
    return pli_dims_of(a, rows, p->heads * b->sequences);
}

/* What the state and the batch itself answer to the queries. */
static pli_id answered(pli_builder *b, parts *p)
{
    pli_dims out = by_head(b, p, p->head, each(b));
    pli_id query = pli_build_onto(b, p->query, decayed(b, b->decay.query));
    pli_id before = pli_build_new(b, out, p->kept, pli_build_view(b, query, out));
    pli_id pair = pli_build_new(b, by_head(b, p, each(b), each(b)), pli_build_view(b, p->key, out),
                                pli_build_view(b, p->query, out));
    pair = pli_build_onto(b, pair, decayed(b, b->decay.pair));
    p->turned = pli_build_new(b, by_head(b, p, each(b), p->head), p->value, PLI_NO_NODE);
    return pli_build_onto(b, before, pli_build_new(b, out, p->turned, pair));
}

/* The state after the batch. */
static pli_id renewed(pli_builder *b, const parts *p, pli_id slope)
{
    pli_dims square = by_head(b, p, p->head, p->head);
    pli_id kept = pli_build_onto(b, p->kept, decayed(b, slope));
    pli_id key = pli_build_onto(b, p->key, decayed(b, b->decay.key));
    key = pli_build_new(b, by_head(b, p, each(b), p->head), key, PLI_NO_NODE);
    return pli_build_onto(b, kept, pli_build_new(b, square, key, p->turned));
}

static parts parts_of(pli_builder *b, pli_id x)
{
    parts p = {.head = b->shape->key_length, .heads = b->shape->layer[b->il].heads};
    uint64_t width = 3 * p.head;
    pli_dims dims = pli_dims_of(p.head, p.heads, b->tokens);
    pli_id all = pli_build_product_each(b, "attn_qkv", x, width * p.heads);
    all = pli_build_onto(b, all, PLI_NO_NODE); /* SiLU */
    p.query = pli_build_part(b, all, dims, width, width * p.heads);
    p.key = pli_build_part(b, all, dims, width, width * p.heads);
    p.value = pli_build_part(b, all, dims, width, width * p.heads);
    return p;
}

static pli_id lightning(pli_builder *b, pli_id x)
{
    pli_state none = pli_build_state(b, 0);
    (void)pli_build_state_loaded(b, &none);
    pli_id slope = pli_build_onto(b, b->decay.slopes, PLI_NO_NODE);
    parts p = parts_of(b, x);
    uint64_t width = p.head * p.heads;
    pli_state state = pli_build_state(b, b->shape->state_scan);
    p.kept = pli_build_view(b, pli_build_state_loaded(b, &state), by_head(b, &p, p.head, p.head));
    pli_id id = answered(b, &p);
    pli_graph_expand(b->graph, id);
    pli_build_state_store(b, &state, renewed(b, &p, slope));
    id = pli_build_new(b, pli_dims_of(width, each(b), b->sequences), id, PLI_NO_NODE);
    id = pli_build_view(b, id, pli_dims_of(width, each(b), b->sequences));
    id = pli_build_norm(b, id, "attn_norm_2", PLI_OF_LAYER);
    pli_id gate = pli_build_product_each(b, "attn_gate", x, width);
    id = pli_build_onto(b, pli_build_onto(b, gate, PLI_NO_NODE), id);
    id = pli_build_product_each(b, "attn_output", id, b->shape->embedding);
    return pli_build_view(b, id, pli_dims_of(b->shape->embedding, b->tokens, 1));
}

/* The norms are the residual, scaled. */
static pli_id layer_of(pli_builder *b, pli_id residual)
{
    residual = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    pli_id id = b->shape->layer[b->il].recurrent ? lightning(b, residual)
                                                 : pli_build_attention(b, residual);
    pli_build_last_rows(b, &id, &residual);
    id = pli_build_onto(b, id, pli_build_onto(b, residual, PLI_NO_NODE));
    residual = pli_build_norm(b, id, "ffn_norm", PLI_OF_LAYER);
    id = pli_build_layer_feed_forward(b, residual);
    return pli_build_onto(b, id, pli_build_onto(b, residual, PLI_NO_NODE));
}

const pli_template pli_template_lightning = {.fits = fits, .inputs = inputs, .layer = layer_of};
