/* Layers by what they do, counted. */
#include "../base/limits.h"
#include "arch.h"
#include "build.h"

enum { FULL, SLIDING, CHUNKED, LATENT, RECURRENT, BOTH, FEED_FORWARD, KINDS };
static const char *const kind_names[KINDS] = {
    [FULL] = "full_attention",       [SLIDING] = "sliding_attention",
    [CHUNKED] = "chunked_attention", [LATENT] = "latent_attention",
    [RECURRENT] = "recurrent",       [BOTH] = "attention_and_recurrent",
    [FEED_FORWARD] = "feed_forward",
};

static unsigned kind_of(const pli_arch *arch, const pli_model *model, bool latent, uint64_t layer)
{
    pli_layer_kind kind = pli_arch_layer(arch, model, layer);
    if (kind.attends && kind.recurrent)
        return BOTH;
    if (kind.recurrent)
        return RECURRENT;
    if (!kind.attends)
        return FEED_FORWARD;
    if (kind.slides) /* the one architecture whose window is not the file's sees chunks */
        return arch->flags & PLI_ARCH_WINDOW_FIXED ? CHUNKED : SLIDING;
    return latent ? LATENT : FULL;
}

/* Is all there that the row's rules ask for? */
static bool sure(const pli_arch *arch, const pli_model *model, uint64_t layers)
{
    uint64_t n;
    if (arch->flags & (PLI_ARCH_UNKNOWN | PLI_ARCH_INEXACT))
        return false;
    if (pli_model_number(model, "%s.nextn_predict_layers", 0)) /* what these do is not told */
        return false;
    if (arch->layers == PLI_LAYERS_HEADLESS || arch->layers == PLI_LAYERS_NEMOTRON)
        return pli_model_layer_u64(model, "%s.attention.head_count_kv", layers - 1, &n);
    if (arch->slide != PLI_SLIDE_NEVER && arch->window == 0)
        return pli_model_u64(model, "%s.attention.sliding_window", &n);
    return true;
}

void pli_model_tell_kinds(pli_model *model)
{
    const pli_arch *arch = pli_arch_of(model);
    uint64_t counts[KINDS] = {0}, layers = model->pub.layers;
    size_t n = 0;
    if (layers == 0 || layers > PLI_MAX_LAYERS || !sure(arch, model, layers))
        return;
    bool latent = pli_model_number(model, "%s.attention.kv_lora_rank", 0) != 0;
    for (uint64_t i = 0; i < layers; i++)
        counts[kind_of(arch, model, latent, i)]++;
    plim_count *items = pli_alloc_array(model->arena, KINDS, sizeof *items);
    for (unsigned k = 0; items && k < KINDS; k++)
        if (counts[k])
            items[n++] = (plim_count){kind_names[k], counts[k]};
    if (items)
        PLI_SET(model, &model->pub, layers_by_kind, ((plim_counts){items, n}), NULL);
}
