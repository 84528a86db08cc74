/* Kimi Linear: most layers run a delta rule whose decay is of every element, the others attend
 * over compressed keys and values without positions (llama.cpp: kimi-linear.cpp). */
#include "graph_delta.h"

typedef enum operand { QUERY, KEY, VALUE, OPERANDS } operand;

static uint64_t head_of(const pli_builder *b)
{
    return pli_model_number(b->shape->model, "%s.kda.head_dim", 0);
}

static pli_delta figures(const pli_builder *b)
{
    uint64_t heads = b->shape->layer[b->il].heads;
    uint64_t head = head_of(b);
    return (pli_delta){.head = head,
                       .key_heads = heads,
                       .heads = heads,
                       .mixed = head * heads,
                       .length = b->tokens / b->sequences};
}

/* Tokens that a convolution reaches over. */
static uint64_t kernel_of(const pli_builder *b)
{
    return pli_model_number(b->shape->model, "%s.ssm.conv_kernel", 0);
}

static pli_id unary(pli_builder *b, pli_id id)
{
    return pli_build_onto(b, id, PLI_NO_NODE);
}

static pli_id in_heads(pli_builder *b, const pli_delta *d, pli_id id)
{
    return pli_build_view(b, id, pli_dims_of(d->head, d->heads, b->tokens));
}

/* Queries, keys or values of the tokens, convolved with those before them; `kept` holds all
 * three. */
static pli_id convolved(pli_builder *b, const pli_delta *d, pli_id x, pli_id kept,
                        const pli_state *state, operand which)
{
    static const char *const by[] = {"attn_q", "attn_k", "attn_v"};
    static const char *const over[] = {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"};
    uint64_t kernel = kernel_of(b), before = kernel - 1, columns = before + d->length;
    pli_dims some = pli_dims_of(before, d->mixed, b->sequences);
    pli_id own = pli_build_part(b, kept, some, before, b->shape->state_conv);
    pli_id id = pli_build_product(b, by[which], x, d->mixed);
    id = pli_build_view(b, id, pli_dims_of(d->length, d->mixed, b->sequences));
    id = pli_build_new(b, pli_dims_of(columns, d->mixed, b->sequences), own, id);
    pli_build_state_store(b, state, pli_build_part(b, id, some, columns, columns * d->mixed));
    id = pli_build_new(b, pli_dims_of(d->mixed, d->length, b->sequences), id,
                       pli_build_weight_as(b, over[which], pli_dims_of(kernel, d->mixed, 1)));
    id = unary(b, pli_build_view(b, id, pli_dims_of(d->mixed, b->tokens, 1)));
    return in_heads(b, d, id);
}

/* x through a narrow matrix and a wide one. */
static pli_id narrowed(pli_builder *b, const pli_delta *d, pli_id x, const char *in,
                       const char *out)
{
    return pli_build_product(b, out, pli_build_product(b, in, x, d->head), d->mixed);
}

static pli_id decay_of(pli_builder *b, const pli_delta *d, pli_id x)
{
    pli_id id = narrowed(b, d, x, "ssm_f_a", "ssm_f_b");
    id = pli_build_onto(b, id, pli_build_weight(b, "ssm_dt", "bias", PLI_OF_LAYER));
    id = in_heads(b, d, unary(b, id));
    id = pli_build_onto(b, id, pli_build_weight_as(b, "ssm_a", pli_dims_of(1, d->heads, 1)));
    return in_heads(b, d, id);
}

static pli_id beta_of(pli_builder *b, const pli_delta *d, pli_id x)
{
    pli_id id = pli_build_product(b, "ssm_beta", x, d->heads);
    return unary(b, pli_build_view(b, id, pli_dims_of(1, d->heads, b->tokens)));
}

static pli_id delta_rule(pli_builder *b, pli_id x)
{
    pli_delta d = figures(b);
    pli_state before = pli_build_state(b, b->shape->state_conv);
    pli_id kept = pli_build_state_loaded(b, &before), operands[6], next;
    for (operand i = QUERY; i < OPERANDS; i++)
        operands[i] = convolved(b, &d, x, kept, &before, i);
    operands[3] = decay_of(b, &d, x);
    operands[4] = beta_of(b, &d, x);
    pli_state state = pli_build_state(b, b->shape->state_scan);
    operands[5] = pli_build_view(b, pli_build_state_loaded(b, &state),
                                 pli_dims_of(d.head * d.head, d.heads, b->sequences));
    for (operand i = QUERY; i < VALUE; i++)
        operands[i] = unary(b, unary(b, operands[i])); /* normed, scaled */
    pli_id id = pli_build_anew(b, pli_delta_at_once(b, &d, operands, &next));
    pli_build_state_store(b, &state, next);
    id = pli_build_norm(b, in_heads(b, &d, id), "ssm_norm", PLI_OF_LAYER);
    x = pli_build_view(b, x, pli_dims_of(b->shape->embedding, b->tokens, 1));
    pli_id gate = in_heads(b, &d, narrowed(b, &d, x, "ssm_g_a", "ssm_g_b"));
    id = pli_build_onto(b, id, unary(b, gate));
    id = pli_build_new(b, pli_dims_of(d.mixed, b->tokens, 1), id, PLI_NO_NODE);
    return pli_build_product(b, "attn_output", id, b->shape->embedding);
}

static pli_id mixed(pli_builder *b, pli_id x)
{
    pli_graph_expand(b->graph, x);
    return b->shape->layer[b->il].recurrent ? delta_rule(b, x) : pli_build_latent_attention(b, x);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    return pli_build_layer(b, hidden, mixed);
}

static void inputs(pli_builder *b)
{
    pli_build_state_inputs(b);
    pli_build_output_input(b);
    pli_build_cache_inputs(b);
}

/* Files of before its attention was compressed are not drawn. */
static bool fits(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    uint64_t kernel = kernel_of(b), head = head_of(b);
    if (!(b->setup->generation->flags & PLI_GEN_FUSED_DELTA) || !shape->latent ||
        !pli_latent_fits(b) || kernel < 2 || kernel > UINT16_MAX || head == 0 ||
        head > UINT16_MAX || (shape->experts && shape->experts_used < 2))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (shape->layer[il].recurrent == shape->layer[il].attends)
            return false;
    return true;
}

const pli_template pli_template_kimi = {.fits = fits, .inputs = inputs, .layer = layer_of};
