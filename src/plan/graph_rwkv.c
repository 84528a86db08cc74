/* RWKV 6 and 7, and transformers distilled into them (llama.cpp: rwkv6-base.cpp,
 * rwkv7-base.cpp). A layer mixes each token with the one before it, scans its heads' state, and
 * then mixes again or feeds forward. */
#include "compute.h"
#include "graph_build.h"

#define LERPS 5u /* what a token and its predecessor are interpolated for; a gate is one more */

typedef struct mixer {    /* one layer's time mix */
    pli_id x, difference; /* the tokens; their predecessors less the tokens */
    pli_id lerps;         /* the interpolations, one after the other */
    pli_state kept;       /* the state of every head */
    pli_id scan;          /* the same, read */
} mixer;

static uint64_t head_of(const pli_builder *b)
{
    return b->shape->state_scan / b->shape->embedding;
}

static uint64_t length_of(const pli_builder *b)
{
    return b->tokens / b->sequences;
}

static uint64_t rank_of(const pli_builder *b, const char *key)
{
    return pli_model_number(b->shape->model, key, 0);
}

static pli_id as_rows(pli_builder *b, pli_id id)
{
    return pli_build_view(b, id, pli_dims_of(b->shape->embedding, b->tokens, 1));
}

static pli_id as_heads(pli_builder *b, pli_id id)
{
    uint64_t head = head_of(b);
    return pli_build_view(b, id, pli_dims_of(head, b->shape->embedding / head, b->tokens));
}

static pli_id as_sequences(pli_builder *b, pli_id id)
{
    return pli_build_view(b, id, pli_dims_of(b->shape->embedding, length_of(b), b->sequences));
}

static pli_id weight(pli_builder *b, const char *name)
{
    return pli_build_weight(b, name, "weight", PLI_OF_LAYER);
}

static pli_id onto_weight(pli_builder *b, pli_id id, const char *name)
{
    return pli_build_onto(b, id, weight(b, name));
}

static pli_id unary(pli_builder *b, pli_id id)
{
    return pli_build_onto(b, id, PLI_NO_NODE);
}

static pli_id product(pli_builder *b, const char *name, pli_id x)
{
    return pli_build_product(b, name, x, b->shape->embedding);
}

/* ---- the shift by one token ------------------------------------------------------------------ */

/* Part of each sequence: so many of its tokens. */
static pli_id some_tokens(pli_builder *b, pli_id x, uint64_t count)
{
    uint64_t width = b->shape->embedding;
    return pli_build_slice(b, x, pli_dims_of(width, count, b->sequences), width * length_of(b));
}

/* Kept tokens are written back as if they lay behind each other. */
static void keep(pli_builder *b, const pli_state *shift, pli_id tokens)
{
    pli_dims dims = pli_dims_of(b->shape->state_conv, b->sequences, 1);
    pli_build_state_store(b, shift, pli_build_view(b, tokens, dims));
}

/* Before a sequence's first token the kept one, before each other the one before. */
static pli_id predecessors(pli_builder *b, pli_id kept, pli_id x)
{
    pli_id others = some_tokens(b, x, length_of(b) - 1);
    return pli_build_new(b, pli_dims_of(b->shape->embedding, length_of(b), b->sequences), kept,
                         others);
}

/* One of the tokens kept of each sequence: the layer's input, the second mix's input. */
static pli_id kept_token(pli_builder *b, pli_id kept)
{
    return pli_build_slice(b, kept, pli_dims_of(b->shape->embedding, 1, b->sequences),
                           b->shape->state_conv);
}

/* ---- time mix of version 6 ------------------------------------------------------------------- */

/* A small network says how far each token lies from its predecessor. */
static void interpolate_6(pli_builder *b, mixer *m)
{
    uint64_t width = b->shape->embedding, extra = rank_of(b, "%s.time_mix_extra_dim");
    pli_dims dims = pli_dims_of(extra, b->tokens, LERPS);
    pli_id id = pli_build_onto(b, onto_weight(b, m->difference, "time_mix_lerp_x"), m->x);
    id = unary(b, pli_build_product(b, "time_mix_w1", id, LERPS * extra));
    id = pli_build_new(b, dims, pli_build_view(b, id, dims), PLI_NO_NODE);
    pli_id by = pli_build_weight_as(b, "time_mix_w2", pli_dims_of(extra, width, LERPS));
    id = pli_build_new(b, pli_dims_of(width, b->tokens, LERPS), by, id);
    m->lerps = id;
    if (!pli_build_has(b, "time_mix_lerp_fused"))
        return;
    id = onto_weight(b, id, "time_mix_lerp_fused");
    id = pli_build_onto(b, id, as_rows(b, m->difference));
    m->lerps = pli_build_onto(b, id, as_rows(b, m->x));
}

/* Files of before the five weights were fused into one interpolate each by itself. */
static pli_id lerp_6(pli_builder *b, const mixer *m, const char *name)
{
    pli_id id = as_rows(b, m->lerps);
    if (pli_build_has(b, "time_mix_lerp_fused"))
        return id;
    id = pli_build_onto(b, onto_weight(b, id, name), m->difference);
    return pli_build_onto(b, id, m->x);
}

static pli_id decay_6(pli_builder *b, const mixer *m)
{
    pli_id id = lerp_6(b, m, "time_mix_lerp_w");
    id = pli_build_product(b, "time_mix_decay_w1", id, rank_of(b, "%s.time_decay_extra_dim"));
    id = product(b, "time_mix_decay_w2", unary(b, id));
    id = onto_weight(b, id, "time_mix_decay");
    return as_heads(b, unary(b, unary(b, unary(b, id))));
}

/* Keys or values; where fewer heads have them, repeated for all. */
static pli_id heads_6(pli_builder *b, const char *name, pli_id x)
{
    uint64_t width = b->shape->embedding, heads = b->shape->layer[b->il].heads_kv;
    if (heads == 0 || heads * head_of(b) == width)
        return as_heads(b, product(b, name, x));
    pli_id id = pli_build_product(b, name, x, heads * head_of(b));
    id = pli_build_view(b, id, pli_dims_of(head_of(b), heads, b->tokens));
    return as_heads(b, pli_build_new(b, pli_dims_of(width, b->tokens, 1), id, PLI_NO_NODE));
}

/* What a scan makes: a row for each token, then the next state. */
static pli_id scanned(pli_builder *b, pli_id first, pli_id second)
{
    uint64_t rows = b->tokens + head_of(b) * b->sequences;
    return pli_build_new(b, pli_dims_of(b->shape->embedding, rows, 1), first, second);
}

static pli_id scan_6(pli_builder *b, const mixer *m)
{
    bool bonus = pli_build_has(b, "time_mix_first");
    pli_id key = heads_6(b, "time_mix_key", lerp_6(b, m, "time_mix_lerp_k"));
    pli_id value = heads_6(b, "time_mix_value", lerp_6(b, m, "time_mix_lerp_v"));
    pli_id query = as_heads(b, product(b, "time_mix_receptance", lerp_6(b, m, "time_mix_lerp_r")));
    pli_id decay = decay_6(b, m);
    if (!bonus)
        key = pli_build_onto(b, key, pli_build_onto(b, key, decay));
    pli_id id = scanned(b, key, value);
    pli_graph_source(b->graph, id, query);
    if (bonus)
        pli_graph_source(b->graph, id, weight(b, "time_mix_first"));
    pli_graph_source(b->graph, id, decay);
    pli_graph_source(b->graph, id, m->scan);
    return id;
}

/* The scan's rows, each head normed by itself. */
static pli_id group_norm(pli_builder *b, pli_id rows)
{
    pli_id id = as_heads(b, rows);
    id = onto_weight(b, as_rows(b, pli_build_anew(b, id)), "time_mix_ln");
    return pli_build_onto(b, id, pli_build_weight(b, "time_mix_ln", "bias", PLI_OF_LAYER));
}

static void keep_scan(pli_builder *b, const mixer *m, pli_id scan)
{
    pli_dims dims = pli_dims_of(b->shape->state_scan, b->sequences, 1);
    pli_build_state_store(b, &m->kept, pli_build_view(b, scan, dims));
}

static pli_id time_mix_6(pli_builder *b, mixer *m)
{
    m->x = as_rows(b, m->x);
    m->difference = as_rows(b, m->difference);
    interpolate_6(b, m);
    m->kept = pli_build_state(b, b->shape->state_scan);
    m->scan = pli_build_state_loaded(b, &m->kept);
    pli_id scan = scan_6(b, m), id = as_rows(b, scan);
    keep_scan(b, m, scan);
    if (pli_build_has(b, "time_mix_first"))
        id = group_norm(b, id);
    pli_id gate = unary(b, product(b, "time_mix_gate", lerp_6(b, m, "time_mix_lerp_g")));
    return product(b, "time_mix_output", pli_build_onto(b, id, gate));
}

/* ---- time mix of version 7 ------------------------------------------------------------------- */

typedef struct heads_7 {
    pli_id query, decay, key, value, removal, rate;
} heads_7;

/* x through a narrow matrix and a wide one. */
static pli_id narrowed(pli_builder *b, const char *const names[2], pli_id x, const char *rank_key,
                       bool bent)
{
    pli_id id = pli_build_product(b, names[0], x, rank_of(b, rank_key));
    return product(b, names[1], bent ? unary(b, id) : id);
}

static pli_id decay_7(pli_builder *b, const mixer *m)
{
    static const char *const names[] = {"time_mix_w1", "time_mix_w2"};
    pli_id id = narrowed(b, names, as_rows(b, m->lerps), "%s.attention.decay_lora_rank", true);
    id = onto_weight(b, id, "time_mix_w0");
    return as_heads(b, unary(b, unary(b, unary(b, id))));
}

/* Values, drawn to those of the first layer. */
static pli_id value_7(pli_builder *b, const mixer *m)
{
    static const char *const names[] = {"time_mix_v1", "time_mix_v2"};
    pli_id x = as_rows(b, m->lerps), value = product(b, "time_mix_value", x);
    if (b->il == 0) {
        b->first_value = value;
        return as_heads(b, value);
    }
    pli_id share = narrowed(b, names, x, "%s.attention.value_residual_mix_lora_rank", false);
    share = unary(b, onto_weight(b, share, "time_mix_v0"));
    pli_id pull = pli_build_onto(b, pli_build_onto(b, b->first_value, value), share);
    return as_heads(b, pli_build_onto(b, value, pull));
}

static pli_id rate_7(pli_builder *b, const mixer *m)
{
    static const char *const names[] = {"time_mix_a1", "time_mix_a2"};
    pli_id id = narrowed(b, names, as_rows(b, m->lerps), "%s.attention.iclr_lora_rank", false);
    return unary(b, onto_weight(b, id, "time_mix_a0"));
}

static heads_7 heads_of_7(pli_builder *b, const mixer *m)
{
    heads_7 h;
    h.query = as_heads(b, product(b, "time_mix_receptance", as_rows(b, m->lerps)));
    h.decay = decay_7(b, m);
    pli_id key = product(b, "time_mix_key", as_rows(b, m->lerps)), rate = rate_7(b, m);
    h.value = value_7(b, m);
    pli_id part = onto_weight(b, key, "time_mix_k_a");
    pli_id more = pli_build_onto(b, pli_build_onto(b, rate, part), part);
    h.key = as_heads(b, pli_build_onto(b, key, more));
    pli_id normed = pli_build_anew(b, as_heads(b, onto_weight(b, key, "time_mix_k_k")));
    h.removal = unary(b, normed);
    h.rate = pli_build_onto(b, normed, as_heads(b, rate));
    return h;
}

static pli_id scan_7(pli_builder *b, const mixer *m, const heads_7 *h)
{
    pli_id id = scanned(b, h->query, h->decay);
    const pli_id others[] = {h->key, h->value, h->removal, h->rate, m->scan};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        pli_graph_source(b->graph, id, others[i]);
    return id;
}

/* What a token adds of its own value, by how its key meets its query. */
static pli_id bonus_7(pli_builder *b, const heads_7 *h)
{
    uint64_t head = head_of(b), heads = b->shape->embedding / head;
    pli_id by = pli_build_weight_as(b, "time_mix_r_k", pli_dims_of(head, heads, 1));
    pli_id id = pli_build_onto(b, pli_build_onto(b, h->key, h->query), by);
    id = pli_build_new(b, pli_dims_of(1, heads, b->tokens), id, PLI_NO_NODE);
    return as_rows(b, pli_build_onto(b, h->value, id));
}

static pli_id time_mix_7(pli_builder *b, mixer *m)
{
    static const char *const gate[] = {"time_mix_g1", "time_mix_g2"};
    bool gated = pli_build_has(b, "time_mix_g1") && pli_build_has(b, "time_mix_g2");
    pli_dims dims = pli_dims_of(b->shape->embedding, b->tokens, gated ? LERPS + 1 : LERPS);
    pli_id id = pli_build_new(b, dims, m->difference, PLI_NO_NODE);
    m->lerps = pli_build_onto(b, onto_weight(b, id, "time_mix_lerp_fused"), m->x);
    heads_7 h = heads_of_7(b, m);
    m->kept = pli_build_state(b, b->shape->state_scan);
    m->scan = pli_build_state_loaded(b, &m->kept);
    pli_id scan = scan_7(b, m, &h);
    keep_scan(b, m, scan);
    id = as_rows(b, scan);
    if (pli_build_tensor(b, "time_mix_ln.bias"))
        id = group_norm(b, id);
    id = pli_build_onto(b, id, bonus_7(b, &h));
    if (gated)
        id = pli_build_onto(
            b, id, narrowed(b, gate, as_rows(b, m->lerps), "%s.attention.gate_lora_rank", true));
    return product(b, "time_mix_output", id);
}

/* ---- a layer --------------------------------------------------------------------------------- */

static pli_id channel_mix(pli_builder *b, pli_id x, pli_id before)
{
    uint64_t width = b->shape->layer[b->il].feed_forward;
    pli_id difference = pli_build_onto(b, before, x), gate = PLI_NO_NODE;
    if (pli_build_has(b, "channel_mix_receptance")) {
        gate = pli_build_onto(b, onto_weight(b, difference, "channel_mix_lerp_r"), x);
        gate = unary(b, product(b, "channel_mix_receptance", gate));
    }
    pli_id id = pli_build_onto(b, onto_weight(b, difference, "channel_mix_lerp_k"), x);
    id = unary(b, unary(b, pli_build_product(b, "channel_mix_key", id, width)));
    id = product(b, "channel_mix_value", id);
    return gate == PLI_NO_NODE ? id : pli_build_onto(b, gate, id);
}

/* The second half of a layer that keeps two tokens: it mixes with the one before again. (Every few
 * layers the sum is halved where it is, which changes nothing.) */
static pli_id mixed_again(pli_builder *b, pli_id inside, pli_id normed, pli_id kept,
                          const pli_state *shift)
{
    pli_id x = pli_build_norm(b, inside, "attn_norm_2", PLI_OF_LAYER);
    pli_id before = predecessors(b, kept_token(b, kept), x);
    pli_id next = pli_build_new(b, pli_dims_of(b->shape->embedding, 2, b->sequences),
                                some_tokens(b, normed, 1), some_tokens(b, x, 1));
    keep(b, shift, next);
    inside = as_rows(b, inside);
    x = as_rows(b, x);
    before = as_rows(b, before);
    pli_build_last_rows(b, &inside, &x);
    pli_build_last_rows(b, &before, NULL);
    return pli_build_onto(b, channel_mix(b, x, before), inside);
}

/* ... of one that keeps one: it feeds forward, as the transformer it was. */
static pli_id fed_forward(pli_builder *b, pli_id inside)
{
    inside = as_rows(b, inside);
    pli_build_last_rows(b, &inside, NULL);
    pli_id id = pli_build_norm(b, inside, "ffn_norm", PLI_OF_LAYER);
    id = pli_build_feed_forward(b, id, b->shape->layer[b->il].feed_forward, "");
    return pli_build_onto(b, id, inside);
}

static pli_id layer_by(pli_builder *b, pli_id hidden, pli_id (*time_mix)(pli_builder *, mixer *))
{
    bool one_shift = b->shape->arch->flags & PLI_ARCH_ONE_SHIFT;
    if (b->il == 0 && !one_shift)
        hidden = pli_build_norm(b, hidden, "token_embd_norm", PLI_OF_FIRST);
    hidden = as_sequences(b, hidden);
    pli_state shift = pli_build_state(b, b->shape->state_conv);
    pli_id kept = pli_build_state_loaded(b, &shift);
    pli_id normed = pli_build_norm(b, hidden, "attn_norm", PLI_OF_LAYER);
    pli_id before = predecessors(b, kept_token(b, kept), normed);
    mixer m = {.x = normed, .difference = pli_build_onto(b, before, normed)};
    pli_id mixed = as_sequences(b, time_mix(b, &m));
    if (one_shift)
        keep(b, &shift, some_tokens(b, normed, 1));
    pli_id inside = pli_build_onto(b, mixed, hidden);
    return one_shift ? fed_forward(b, inside) : mixed_again(b, inside, normed, kept, &shift);
}

static pli_id layer_6(pli_builder *b, pli_id hidden)
{
    return layer_by(b, hidden, time_mix_6);
}

static pli_id layer_7(pli_builder *b, pli_id hidden)
{
    return layer_by(b, hidden, time_mix_7);
}

static void inputs(pli_builder *b)
{
    pli_build_state_inputs(b);
    pli_build_output_input(b);
}

/* Figures that are multiplied. */
static bool are_sane(const pli_builder *b)
{
    static const char *const ranks[] = {"%s.time_mix_extra_dim",
                                        "%s.time_decay_extra_dim",
                                        "%s.attention.decay_lora_rank",
                                        "%s.attention.iclr_lora_rank",
                                        "%s.attention.value_residual_mix_lora_rank",
                                        "%s.attention.gate_lora_rank"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (rank_of(b, ranks[i]) > UINT16_MAX)
            return false;
    for (uint64_t il = 0; il < b->shape->run_layers; il++)
        if (b->shape->layer[il].heads_kv > UINT16_MAX)
            return false;
    return true;
}

static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    bool one_shift = shape->arch->flags & PLI_ARCH_ONE_SHIFT;
    uint64_t head = shape->embedding ? head_of(b) : 0;
    return are_sane(b) && head && shape->embedding % head == 0 && head <= UINT16_MAX &&
           shape->state_conv == (one_shift ? 1 : 2) * shape->embedding &&
           pli_model_tensor(shape->model, "output.weight") && pli_build_has(b, "time_mix_key") &&
           pli_build_has(b, one_shift ? "ffn_norm" : "channel_mix_key");
}

const pli_template pli_template_rwkv6 = {.fits = fits, .inputs = inputs, .layer = layer_6};
const pli_template pli_template_rwkv7 = {.fits = fits, .inputs = inputs, .layer = layer_7};
