/* Hybrids: layers that scan among layers that attend (llama.cpp: src/models). */
#include "graph_build.h"

static bool attends_alike(const pli_builder *b)
{
    const pli_shape *shape = b->shape;
    if (shape->latent || shape->window || (shape->experts && shape->experts_used < 2))
        return false;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (!b->setup->flash && shape->layer[il].attends &&
            shape->layer[il].value_width != shape->value_width_max)
            return false;
    return true;
}

static bool fits(const pli_builder *b)
{
    return pli_scan_fits(b) && attends_alike(b);
}

static void inputs(pli_builder *b)
{
    if (b->shape->rotates)
        pli_build_position_input(b);
    pli_build_state_inputs(b);
    pli_build_cache_inputs(b);
    pli_build_output_input(b);
}

/* ---- a scan or attention in each layer, and a feed-forward ----------------------------------- */

static pli_id mixer(pli_builder *b, pli_id x)
{
    if (!b->shape->layer[b->il].recurrent)
        return pli_build_attention(b, x);
    return b->flags & PLI_GRAPH_SCAN2 ? pli_build_scan2(b, x) : pli_build_scan(b, x);
}

static pli_id layer_of(pli_builder *b, pli_id residual)
{
    return pli_build_layer(b, residual, mixer);
}

const pli_template pli_template_hybrid = {.fits = fits, .inputs = inputs, .layer = layer_of};

/* jamba: what is added to is the first operand. */
static pli_id jamba_layer(pli_builder *b, pli_id residual)
{
    pli_id id = mixer(b, pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER));
    pli_build_last_rows(b, &id, &residual);
    residual = pli_build_onto(b, residual, id);
    id = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    return pli_build_onto(b, residual, pli_build_layer_feed_forward(b, id));
}

const pli_template pli_template_jamba = {.fits = fits, .inputs = inputs, .layer = jamba_layer};

/* ---- nemotron_h: a layer scans, attends or feeds forward ------------------------------------- */

static pli_id nemotron_layer(pli_builder *b, pli_id residual)
{
    const pli_layer *layer = &b->shape->layer[b->il];
    pli_id id = pli_build_norm(b, residual, "attn_norm", PLI_OF_LAYER);
    id = layer->recurrent || layer->attends ? mixer(b, id) : pli_build_layer_feed_forward(b, id);
    pli_build_last_rows(b, &id, &residual);
    return pli_build_onto(b, id, residual);
}

const pli_template pli_template_nemotron = {
    .fits = fits, .inputs = inputs, .layer = nemotron_layer};

/* ---- falcon-h1: attention and scan side by side ---------------------------------------------- */

/* Each after a norm of its own; a copy of the weight of both serves both. */
static pli_id falcon_layer(pli_builder *b, pli_id residual)
{
    pli_id norm = pli_build_weight(b, "attn_norm", "weight", PLI_OF_LAYER);
    pli_id attended = pli_build_attention(b, pli_build_norm_by(b, residual, norm));
    pli_id id = pli_build_scan2(b, pli_build_norm_by(b, residual, norm));
    id = pli_build_onto(b, attended, id);
    residual = pli_build_onto(b, id, residual);
    pli_build_last_rows(b, &residual, NULL);
    id = pli_build_norm(b, residual, "ffn_norm", PLI_OF_LAYER);
    return pli_build_onto(b, pli_build_layer_feed_forward(b, id), residual);
}

const pli_template pli_template_falcon_h1 = {.fits = fits, .inputs = inputs, .layer = falcon_layer};

/* ---- plamo2 ---------------------------------------------------------------------------------- */

static bool plamo2_fits(const pli_builder *b)
{
    const pli_scan *scan = &b->shape->scan;
    return fits(b) && scan->groups == 0 && scan->inner % scan->rank == 0;
}

static pli_id plamo2_mixer(pli_builder *b, pli_id x)
{
    return b->shape->layer[b->il].recurrent ? pli_build_scan_heads(b, x)
                                            : pli_build_attention(b, x);
}

static pli_id plamo2_layer(pli_builder *b, pli_id residual)
{
    return pli_build_layer(b, residual, plamo2_mixer);
}

const pli_template pli_template_plamo2 = {
    .fits = plamo2_fits, .inputs = inputs, .layer = plamo2_layer};
