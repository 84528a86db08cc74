/* The gated delta rule of Qwen3-Next and Qwen3.5 (llama.cpp: qwen3next.cpp, qwen35.cpp,
 * delta-net-base.cpp): most layers convolve their queries, keys and values and run them over a
 * state of head x head for each head; the others attend, and gate what they found. Builds
 * before the rule was one operation write it out (graph_delta_chunks.c). */
#include "graph_delta.h"

static uint64_t key_width(const pli_delta *d)
{
    return d->key_heads * d->head;
}

pli_delta pli_delta_of(const pli_builder *b)
{
    const pli_scan *s = &b->shape->scan;
    pli_delta d = {.head = s->state,
                   .key_heads = s->groups,
                   .heads = s->rank,
                   .length = b->tokens / b->sequences};
    d.mixed = d.heads * d.head + 2 * key_width(&d);
    return d;
}

static pli_id unary(pli_builder *b, pli_id id)
{
    return pli_build_onto(b, id, PLI_NO_NODE);
}

static pli_id in_heads(pli_builder *b, const pli_delta *d, pli_id id)
{
    return pli_build_view(b, id, pli_dims_of(d->head, d->heads, b->tokens));
}

/* ---- what enters the rule -------------------------------------------------------------------- */

/* Part of what one product made for several purposes: it stands by key heads, `elements` of
 * `width` for each. */
static pli_id part_of(pli_builder *b, const pli_delta *d, pli_id of, uint64_t elements,
                      uint64_t width)
{
    pli_dims dims = pli_dims_of(elements / d->key_heads, d->key_heads, b->tokens);
    pli_id id = pli_build_part(b, of, dims, width / d->key_heads, width);
    return pli_build_new(b, pli_dims_of(elements, b->tokens, 1), id, PLI_NO_NODE);
}

/* Queries, keys and values of each token behind each other, and the gate of the result. Old files
 * have one matrix for all four. */
static pli_id projected(pli_builder *b, const pli_delta *d, pli_id x, pli_id *gate)
{
    uint64_t keys = key_width(d), values = d->heads * d->head, width = 2 * keys + 2 * values;
    if (pli_build_has(b, "attn_qkv")) {
        *gate = pli_build_product(b, "attn_gate", x, values);
        return pli_build_product(b, "attn_qkv", x, d->mixed);
    }
    pli_id all = pli_build_product(b, "ssm_in", x, width);
    *gate = part_of(b, d, all, values, width);
    pli_id q = part_of(b, d, all, keys, width), k = part_of(b, d, all, keys, width);
    pli_id v = part_of(b, d, all, values, width);
    q = pli_build_new(b, pli_dims_of(2 * keys, b->tokens, 1), q, k);
    return pli_build_new(b, pli_dims_of(d->mixed, b->tokens, 1), q, v);
}

/* The last tokens before these, and these. */
static pli_id with_kept(pli_builder *b, const pli_delta *d, pli_id mixed)
{
    uint64_t before = b->shape->scan.kernel - 1, columns = before + d->length;
    pli_dims kept = pli_dims_of(before, d->mixed, b->sequences);
    pli_state state = pli_build_state(b, b->shape->state_conv);
    pli_id id = pli_build_view(b, pli_build_state_loaded(b, &state), kept);
    mixed = pli_build_view(b, mixed, pli_dims_of(d->length, d->mixed, b->sequences));
    id = pli_build_new(b, pli_dims_of(columns, d->mixed, b->sequences), id, mixed);
    pli_build_state_store(b, &state, pli_build_part(b, id, kept, columns, columns * d->mixed));
    return id;
}

/* How much of the state each token keeps, and how much of itself it writes: a number for each
 * head. In Qwen3-Next both are parts of one product. */
static void read_rates(pli_builder *b, const pli_delta *d, pli_id x, pli_delta_rule *rule)
{
    pli_dims dims = pli_dims_of(d->heads, b->tokens, 1);
    pli_id decay;
    if (pli_build_has(b, "ssm_ba")) {
        pli_id both = pli_build_product(b, "ssm_ba", x, 2 * d->heads);
        rule->beta = unary(b, part_of(b, d, both, d->heads, 2 * d->heads));
        decay = part_of(b, d, both, d->heads, 2 * d->heads);
    } else {
        pli_id beta = pli_build_product(b, "ssm_beta", x, d->heads);
        rule->beta = unary(b, pli_build_view(b, beta, dims));
        decay = pli_build_view(b, pli_build_product(b, "ssm_alpha", x, d->heads), dims);
    }
    decay = pli_build_onto(b, decay, pli_build_weight(b, "ssm_dt", "bias", PLI_OF_LAYER));
    decay = unary(b, decay);
    rule->decay = pli_build_onto(b, decay, pli_build_weight(b, "ssm_a", "weight", PLI_OF_LAYER));
}

/* ---- the rule as one operation --------------------------------------------------------------- */

static pli_id normed(pli_builder *b, const pli_delta *d, pli_id mixed)
{
    pli_dims dims = pli_dims_of(d->head, d->key_heads, b->tokens);
    pli_id id = pli_build_view(b, mixed, dims);
    id = unary(b, unary(b, id)); /* normed, scaled */
    if (d->key_heads == d->heads || !pli_build_has(b, "ssm_ba"))
        return id;
    id = pli_build_view(b, id, dims);
    return in_heads(b, d,
                    pli_build_new(b, pli_dims_of(d->head, d->heads, b->tokens), id, PLI_NO_NODE));
}

pli_id pli_delta_at_once(pli_builder *b, const pli_delta *d, const pli_id operand[6], pli_id *next)
{
    uint64_t rows = b->tokens + d->head * b->sequences;
    pli_id id = pli_build_new(b, pli_dims_of(d->heads * d->head, rows, 1), operand[0], operand[1]);
    for (size_t i = 2; i < 6; i++)
        pli_graph_source(b->graph, id, operand[i]);
    *next = pli_build_view(b, id, pli_dims_of(b->shape->state_scan, b->sequences, 1));
    return in_heads(b, d, id);
}

static pli_id at_once(pli_builder *b, const pli_delta *d, const pli_delta_rule *r, pli_id *next)
{
    pli_dims each = pli_dims_of(1, d->heads, b->tokens);
    const pli_id operands[] = {normed(b, d, r->mixed),           normed(b, d, r->mixed),
                               in_heads(b, d, r->mixed),         pli_build_view(b, r->decay, each),
                               pli_build_view(b, r->beta, each), r->state};
    return pli_delta_at_once(b, d, operands, next);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static bool is_fused(const pli_builder *b)
{
    return b->setup->generation->flags & PLI_GEN_FUSED_DELTA;
}

static pli_id delta_rule(pli_builder *b, pli_id x)
{
    pli_delta d = pli_delta_of(b);
    pli_delta_rule rule;
    pli_id gate, next, id;
    pli_id mixed = with_kept(b, &d, projected(b, &d, x, &gate));
    read_rates(b, &d, x, &rule);
    pli_state state = pli_build_state(b, b->shape->state_scan);
    rule.state = pli_build_view(b, pli_build_state_loaded(b, &state),
                                pli_dims_of(d.head * d.head, d.heads, b->sequences));
    mixed = pli_build_new(b, pli_dims_of(d.mixed, d.length, b->sequences), mixed,
                          pli_build_weight(b, "ssm_conv1d", "weight", PLI_OF_LAYER));
    rule.mixed = unary(b, mixed);
    id = is_fused(b) ? at_once(b, &d, &rule, &next) : pli_delta_in_chunks(b, &d, &rule, &next);
    pli_build_state_store(b, &state, next);
    id = pli_build_norm(b, id, "ssm_norm", PLI_OF_LAYER);
    id = pli_build_onto(b, id, unary(b, in_heads(b, &d, gate)));
    id = pli_build_product_each(b, "ssm_out", id, b->shape->embedding);
    pli_dims dims = pli_dims_of(b->shape->embedding, b->tokens, 1);
    return is_fused(b) ? pli_build_view(b, id, dims) : pli_build_new(b, dims, id, PLI_NO_NODE);
}

/* Attention whose queries come with a gate for its result. */
static pli_id gated_attention(pli_builder *b, pli_id x)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    uint64_t head = layer->key_length, width = layer->heads * head;
    pli_dims part = pli_dims_of(head, layer->heads, b->tokens), keys = part, flat = part;
    keys.n[1] = layer->heads_kv;
    flat = pli_dims_of(width, b->tokens, 1);
    pli_id both = pli_build_product(b, "attn_q", x, 2 * width);
    pli_id key = pli_build_product(b, "attn_k", x, layer->heads_kv * head);
    pli_id value = pli_build_product(b, "attn_v", x, layer->heads_kv * head);
    pli_id query = pli_build_part(b, both, part, 2 * head, 2 * width);
    if (!is_fused(b))
        query = pli_build_new(b, part, query, PLI_NO_NODE);
    query = pli_build_rope(b, pli_build_norm(b, query, "attn_q_norm", PLI_OF_LAYER));
    key = pli_build_norm(b, pli_build_view(b, key, keys), "attn_k_norm", PLI_OF_LAYER);
    key = pli_build_rope(b, key);
    pli_id gate =
        pli_build_new(b, flat, pli_build_part(b, both, part, 2 * head, 2 * width), PLI_NO_NODE);
    return pli_build_attention_gated(b, query, key, pli_build_view(b, value, keys), unary(b, gate));
}

static pli_id layer_of(pli_builder *b, pli_id residual)
{
    pli_id id = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    if (is_fused(b))
        pli_graph_expand(b->graph, id);
    id = b->shape->layer[b->il].recurrent ? delta_rule(b, id) : gated_attention(b, id);
    pli_build_last_rows(b, &id, &residual);
    residual = pli_build_onto(b, id, residual);
    id = pli_build_norm(b, residual, "post_attention_norm", PLI_OF_LAYER);
    return pli_build_onto(b, pli_build_layer_feed_forward(b, id), residual);
}

static void inputs(pli_builder *b)
{
    pli_build_state_inputs(b);
    pli_build_attention_inputs(b);
    if (!is_fused(b))
        pli_delta_chunk_inputs(b);
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    const pli_scan *s = &shape->scan;
    const uint64_t figures[] = {s->kernel, s->state, s->groups, s->rank};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i] == 0 || figures[i] > UINT16_MAX)
            return false;
    if (s->inner != s->state * s->rank || s->rank % s->groups != 0 ||
        shape->key_length != shape->value_length || (shape->experts && shape->experts_used < 2))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!shape->layer[il].cached && !shape->layer[il].recurrent)
            return false;
    return is_fused(b) || pli_delta_chunks_fit(b);
}

const pli_template pli_template_delta = {.fits = fits, .inputs = inputs, .layer = layer_of};
