/* Layers by what they do, counted. */
#include "../base/limits.h"
#include "arch.h"
#include "build.h"

enum {
    FULL,
    SLIDING,
    CHUNKED,
    LATENT,
    SPARSE,
    COMPRESSED,
    SHARED,
    RECURRENT,
    BOTH,
    FEED_FORWARD,
    PREDICTING,
    KINDS
};
static const char *const kind_names[KINDS] = {
    [FULL] = "full_attention",
    [SLIDING] = "sliding_attention",
    [CHUNKED] = "chunked_attention",
    [LATENT] = "latent_attention",
    [SPARSE] = "sparse_attention",
    [COMPRESSED] = "compressed_attention",
    [SHARED] = "shared_kv",
    [RECURRENT] = "recurrent",
    [BOTH] = "attention_and_recurrent",
    [FEED_FORWARD] = "feed_forward",
    [PREDICTING] = "prediction",
};

static unsigned kind_of(const pli_arch *arch, const pli_model *model, bool latent, uint64_t layer)
{
    pli_layer_kind kind = pli_arch_layer(arch, model, layer);
    if (kind.predicts)
        return PREDICTING;
    if (kind.recurrent)
        return kind.attends ? BOTH : RECURRENT;
    if (!kind.attends)
        return FEED_FORWARD;
    if (kind.shares)
        return SHARED;
    if (kind.ratio)
        return COMPRESSED;
    if (kind.slides)
        return arch->flags & PLI_ARCH_CHUNKED ? CHUNKED : SLIDING;
    if (kind.sparse)
        return SPARSE;
    return latent ? LATENT : FULL;
}

/* Is all there that the row's rules ask for? */
static bool sure(const pli_arch *arch, const pli_model *model, uint64_t layers)
{
    uint64_t n;
    if (arch->flags & (PLI_ARCH_UNKNOWN | PLI_ARCH_INEXACT))
        return false;
    if (arch->layers == PLI_LAYERS_HEADLESS || arch->layers == PLI_LAYERS_NEMOTRON)
        return pli_model_layer_u64(model, "%s.attention.head_count_kv", layers - 1, &n);
    if (arch->slide == PLI_SLIDE_LISTED &&
        !pli_model_layer_u64(model, "%s.attention.sliding_window_pattern", layers - 1, &n))
        return false;
    if (arch->slide != PLI_SLIDE_NEVER && arch->slide != PLI_SLIDE_ALL && arch->window == 0)
        return pli_model_u64(model, "%s.attention.sliding_window", &n);
    return true;
}

void pli_model_tell_kinds(pli_model *model)
{
    const pli_arch *arch = pli_arch_of(model);
    uint64_t counts[KINDS] = {0}, layers = model->pub.layers;
    size_t n = 0;
    if (layers && (arch->flags & PLI_ARCH_UNKNOWN) && PLIM_KNOWN(model, &model->pub, architecture))
        pli_model_misses(model, "what the layers of architecture %s do: only its keys are read",
                         model->pub.architecture);
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
