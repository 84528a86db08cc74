/* Selective scans: a layer of Mamba, of Mamba 2, and the models made of nothing else (llama.cpp:
 * llm_build_mamba_base). Tokens stand as [row, tokens of a sequence, sequences]; what is written
 * here as [a, b, tokens] is contiguous over both. */
#include "graph_build.h"

/* The convolution over the last tokens, `rows` being a view of the product that enters it. */
static pli_id convolution(pli_builder *b, pli_id rows, uint64_t width)
{
    uint64_t before = b->shape->scan.kernel - 1, each = b->tokens / b->sequences;
    pli_state state = pli_build_state(b, b->shape->state_conv);
    pli_id id = pli_build_state_loaded(b, &state);
    id = pli_build_view(b, id, pli_dims_of(before, width, b->sequences));
    id = pli_build_new(b, pli_dims_of(before + each, width, b->sequences), id, rows);
    pli_build_state_store(
        b, &state,
        pli_build_slice(b, id, pli_dims_of(before, 1, width * b->sequences), before + each));
    id = pli_build_new(b, pli_dims_of(width, each, b->sequences), id,
                       pli_build_weight(b, "ssm_conv1d", "weight", PLI_OF_LAYER));
    id = pli_build_biased(b, id, "ssm_conv1d", PLI_NO_NODE);
    return pli_build_onto(b, id, PLI_NO_NODE); /* SiLU */
}

typedef struct scanned {
    pli_id x, step, decay, in, out;
} scanned;

/* The scan itself: its result holds the tokens' rows and then the states. */
static pli_id scan(pli_builder *b, const scanned *s, pli_dims heads)
{
    uint64_t rows = b->shape->scan.inner * b->tokens, kept = b->shape->state_scan * b->sequences;
    pli_state state = pli_build_state(b, b->shape->state_scan);
    pli_id before = pli_build_view(b, state.all, pli_dims_of(kept, 1, 1)); /* a copy of its own */
    pli_id id = pli_build_op(b, PLI_OP_PLAIN, pli_dims_of(rows + kept, 1, 1), before, s->x);
    pli_graph_source(b->graph, id, s->step);
    pli_graph_source(b->graph, id, s->decay);
    pli_graph_source(b->graph, id, s->in);
    pli_graph_source(b->graph, id, s->out);
    pli_graph_source(b->graph, id, b->states);
    pli_graph_expand(b->graph, id);
    pli_build_state_moved(b, &state);
    pli_build_state_store(b, &state, pli_build_view(b, id, pli_dims_of(kept, 1, 1)));
    return pli_build_view(b, id, heads);
}

static pli_id weight_of(pli_builder *b, const char *name)
{
    return pli_build_weight(b, name, "weight", PLI_OF_LAYER);
}

/* What goes past the scan (times `by`) is added, and the gate applied, a part of the first
 * product. */
static pli_id gated(pli_builder *b, pli_id result, pli_id past, pli_id by, pli_id gate,
                    pli_dims dims)
{
    past = pli_build_onto(b, result, pli_build_onto(b, past, by));
    return pli_build_new(b, dims, pli_build_new(b, dims, gate, PLI_NO_NODE), past);
}

static bool is_flat(const pli_builder *b)
{
    return b->setup->generation->flags & PLI_GEN_FLAT_SCAN;
}

/* The projection out of a scan, of all tokens again. */
static pli_id projected(pli_builder *b, pli_id id)
{
    id = pli_build_product_each(b, "ssm_out", id, b->shape->embedding);
    return pli_build_view(b, id, pli_dims_of(b->shape->embedding, b->tokens, 1));
}

/* Some norm what the scan reads, with a weight or, by a key, without. */
static pli_id normed(pli_builder *b, pli_id id, const char *weight)
{
    if (pli_build_has(b, weight))
        return pli_build_norm(b, id, weight, PLI_OF_LAYER);
    return b->shape->scan.normed ? pli_build_onto(b, id, PLI_NO_NODE) : id;
}

pli_id pli_build_scan(pli_builder *b, pli_id x)
{
    const pli_scan *s = &b->shape->scan;
    uint64_t inner = s->inner, width = s->rank + 2 * s->state;
    pli_dims dims = pli_dims_of(inner, b->tokens / b->sequences, b->sequences);
    pli_dims rows = pli_dims_of(inner, 1, b->tokens);
    pli_id both = pli_build_product_each(b, "ssm_in", x, 2 * inner);
    pli_id mixed = convolution(b, pli_build_slice(b, both, rows, 2 * inner), inner);
    pli_id by = pli_build_product_each(b, "ssm_x", mixed, width);
    scanned in = {.x = pli_build_view(b, mixed, dims)};
    in.step = pli_build_slice(b, by, pli_dims_of(s->rank, 1, b->tokens), width);
    in.in = pli_build_slice(b, by, pli_dims_of(s->state, 1, b->tokens), width);
    in.out = pli_build_slice(b, by, pli_dims_of(s->state, 1, b->tokens), width);
    pli_id step = in.step;
    in.step = normed(b, in.step, "ssm_dt_norm");
    in.in = normed(b, in.in, "ssm_b_norm");
    in.out = normed(b, in.out, "ssm_c_norm");
    if (in.step == step && is_flat(b))
        in.step = pli_build_new(b, pli_dims_of(s->rank, 1, b->tokens), step, PLI_NO_NODE);
    in.step = pli_build_product_each(b, "ssm_dt", in.step, inner);
    in.decay = weight_of(b, "ssm_a");
    pli_id id = scan(b, &in, dims), gate = pli_build_slice(b, both, rows, 2 * inner);
    id = gated(b, id, mixed, weight_of(b, "ssm_d"), gate, dims);
    return projected(b, id);
}

pli_id pli_build_scan2(pli_builder *b, pli_id x)
{
    const pli_scan *s = &b->shape->scan;
    uint64_t mixing = s->inner + 2 * s->groups * s->state, width = s->inner + mixing + s->rank;
    pli_dims heads = pli_dims_of(s->inner / s->rank, s->rank, b->tokens);
    pli_dims keys = pli_dims_of(s->state, s->groups, b->tokens);
    pli_id all = is_flat(b) ? pli_build_product(b, "ssm_in", x, width)
                            : pli_build_product_each(b, "ssm_in", x, width);
    pli_id mixed = pli_build_slice(b, all, pli_dims_of(mixing, 1, b->tokens), width);
    mixed = convolution(b, mixed, mixing);
    scanned in = {.x = pli_build_slice(b, mixed, heads, mixing)};
    in.step = pli_build_slice(b, all, pli_dims_of(s->rank, 1, b->tokens), width);
    in.step = pli_build_new(b, pli_dims_of(s->rank, b->tokens, 1), in.step, PLI_NO_NODE);
    in.step = pli_build_biased(b, in.step, "ssm_dt", PLI_NO_NODE);
    in.in = pli_build_slice(b, mixed, keys, mixing);
    in.out = pli_build_slice(b, mixed, keys, mixing);
    in.decay = weight_of(b, "ssm_a");
    pli_id id = scan(b, &in, heads), gate = pli_build_slice(b, all, heads, width);
    id = gated(b, id, in.x, weight_of(b, "ssm_d"), gate, heads);
    if (pli_build_has(b, "ssm_norm")) {
        id = pli_build_view(b, id, pli_dims_of(s->inner / s->groups, s->groups, b->tokens));
        id = pli_build_norm(b, id, "ssm_norm", PLI_OF_LAYER);
    }
    id = pli_build_view(b, id, pli_dims_of(s->inner, b->tokens, 1));
    return is_flat(b) ? pli_build_product(b, "ssm_out", id, b->shape->embedding) : projected(b, id);
}

/* A weight seen in another shape: it does not draw operations to where it lies. */
static pli_id shown(pli_builder *b, const char *name, pli_dims dims)
{
    return pli_build_view(b, weight_of(b, name), dims);
}

pli_id pli_build_scan_heads(pli_builder *b, pli_id x)
{
    const pli_scan *s = &b->shape->scan;
    uint64_t inner = s->inner, head = inner / s->rank, each = b->tokens / b->sequences;
    uint64_t rank = pli_larger(64, b->shape->embedding / 16), width = rank + 2 * s->state;
    pli_dims heads = pli_dims_of(head, s->rank, b->tokens);
    pli_dims keys = pli_dims_of(s->state, 1, b->tokens), one = pli_dims_of(1, s->rank, 1);
    pli_id both = pli_build_product_each(b, "ssm_in", x, 2 * inner);
    both = pli_build_new(b, pli_dims_of(2 * head, s->rank, b->tokens), both, PLI_NO_NODE);
    pli_id mixed = pli_build_part(b, both, heads, 2 * head, 2 * inner);
    mixed = pli_build_new(b, pli_dims_of(inner, each, b->sequences), mixed, PLI_NO_NODE);
    mixed =
        convolution(b, pli_build_slice(b, mixed, pli_dims_of(inner, 1, b->tokens), inner), inner);
    pli_id by = pli_build_product_each(b, "ssm_x", mixed, width);
    pli_id step = pli_build_slice(b, by, pli_dims_of(rank, 1, b->tokens), width);
    scanned in = {.x = pli_build_view(b, mixed, heads), .decay = shown(b, "ssm_a", one)};
    in.in = pli_build_view(b, normed(b, pli_build_slice(b, by, keys, width), "ssm_b_norm"), keys);
    in.out = pli_build_view(b, normed(b, pli_build_slice(b, by, keys, width), "ssm_c_norm"), keys);
    in.step = pli_build_product_each(b, "ssm_dt", normed(b, step, "ssm_dt_norm"), s->rank);
    pli_id id = scan(b, &in, heads), gate = pli_build_part(b, both, heads, 2 * head, 2 * inner);
    id = gated(b, id, in.x, shown(b, "ssm_d", one), gate, heads);
    return projected(b, pli_build_view(b, id, pli_dims_of(inner, b->tokens, 1)));
}

/* Does the file hold what a scan multiplies with? */
static bool has_weights(const pli_builder *b)
{
    static const char *const names[] = {"ssm_in", "ssm_conv1d", "ssm_out"};
    pli_builder at = *b;
    while (at.il < b->shape->run_layers && !b->shape->layer[at.il].recurrent)
        at.il++;
    if (at.il == b->shape->run_layers)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pli_build_has(&at, names[i]))
            return false;
    return true;
}

bool pli_scan_fits(const pli_builder *b)
{
    const pli_scan *s = &b->shape->scan;
    const uint64_t figures[] = {s->kernel, s->inner, s->state, s->rank};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i] == 0 || figures[i] > UINT32_MAX / 16)
            return false;
    if (b->setup->sequences == 0 || s->kernel > UINT16_MAX || s->state > UINT16_MAX)
        return false;
    if (!has_weights(b))
        return false;
    return !(b->flags & PLI_GRAPH_SCAN2) || (s->groups > 0 && s->groups <= UINT16_MAX &&
                                             s->inner % s->rank == 0 && s->inner % s->groups == 0);
}

/* ---- models of nothing else ------------------------------------------------------------------ */

static void inputs(pli_builder *b)
{
    pli_build_state_inputs(b);
    pli_build_output_input(b);
}

static pli_id layer_of(pli_builder *b, pli_id residual)
{
    pli_id id = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    id = b->flags & PLI_GRAPH_SCAN2 ? pli_build_scan2(b, id) : pli_build_scan(b, id);
    pli_build_last_rows(b, &id, &residual);
    return pli_build_onto(b, id, residual);
}

const pli_template pli_template_scan = {.fits = pli_scan_fits, .inputs = inputs, .layer = layer_of};
