/* The encoder of images or sound before a model (llama.cpp's mmproj). Its weights lie in one
 * memory, the first device's or the host's; its graph is bounded for the largest image. */
#include <string.h>

#include "../base/status.h"
#include "../model/purpose.h"
#include "extras.h"

enum { FIXED = 0, TOLD = 1, MOST_TOLD = 4096 /* tokens, where the file does not tell */ };

static const struct projector {
    const char *type;
    uint64_t merge, tokens;
    pli_certainty certainty;
} projectors[] = {
#define PROJECTOR(type, merge, tokens, certainty) {type, merge, tokens, PLI_##certainty},
#include "projectors.def"
#undef PROJECTOR
};

/* Half a minute of sound: 3,000 frames, two to a position. */
#define SOUND_POSITIONS 1500u

static const struct projector *row_of(pli_str type)
{
    for (size_t i = 0; i < sizeof projectors / sizeof *projectors; i++)
        if (pli_eq(type, projectors[i].type))
            return &projectors[i];
    return NULL;
}

/* Patches of the largest image. */
static uint64_t patches_of(pli_calc *calc, const pli_model *model, const struct projector *row)
{
    uint64_t patch = pli_larger(pli_model_number(model, "clip.vision.patch_size", 14), 1);
    uint64_t side = pli_model_number(model, "clip.vision.image_size", 0) / patch;
    uint64_t pixels = pli_model_number(model, "clip.vision.image_max_pixels", 0);
    if (!row || row->tokens == FIXED)
        return pli_plus(calc, pli_times(calc, side, side), 1); /* and a class */
    if (pixels)
        return pixels / patch / patch;
    uint64_t merge = pli_model_number(model, "clip.vision.spatial_merge_size", 0);
    if (!merge)
        merge = pli_model_number(model, "clip.vision.projector.scale_factor", row->merge);
    uint64_t tokens = row->tokens == TOLD ? MOST_TOLD : row->tokens;
    return pli_times(calc, tokens, pli_times(calc, merge, merge));
}

/* The figures of one encoder: keys of images and of sound. */
static const struct encoder {
    const char *has, *type, *embedding, *feed_forward, *heads, *head, *projection;
} image = {"clip.has_vision_encoder",          "clip.vision.projector_type",
           "clip.vision.embedding_length",     "clip.vision.feed_forward_length",
           "clip.vision.attention.head_count", "clip.vision.attention.head_dim",
           "clip.vision.projection_dim"},
  sound = {"clip.has_audio_encoder",          "clip.audio.projector_type",
           "clip.audio.embedding_length",     "clip.audio.feed_forward_length",
           "clip.audio.attention.head_count", "clip.audio.attention.head_dim",
           "clip.audio.projection_dim"};

/* Elements of a position at the widest point of a layer: the residual and its norm, queries, keys
 * and values with their rotated copies, keys and values once more as f16, what attention gives and
 * what the projection makes of it; or the two rows of the feed-forward, three with a gate; or what
 * the patches are unfolded from, an image twice where it has a time. */
static uint64_t widest_of(pli_calc *calc, const pli_model *model, const struct encoder *keys)
{
    uint64_t width = pli_model_number(model, keys->embedding, 0);
    uint64_t heads = pli_model_number(model, keys->heads, 1);
    uint64_t head = pli_model_number(model, keys->head, 0);
    uint64_t patch = pli_model_number(model, "clip.vision.patch_size", 0);
    bool gate = pli_model_tensor(model, "v.blk.0.ffn_gate.weight") ||
                pli_model_tensor(model, "a.blk.0.ffn_gate.weight");
    uint64_t inner = head ? pli_times(calc, heads, head) : width;
    uint64_t attention = pli_plus(calc, pli_times(calc, 3, width), pli_times(calc, 7, inner));
    uint64_t feed =
        pli_plus(calc, pli_times(calc, 3, width),
                 pli_times(calc, gate ? 3 : 2, pli_model_number(model, keys->feed_forward, 0)));
    uint64_t pixels = pli_times(calc, 3, pli_times(calc, patch, patch));
    uint64_t unfolded = pli_plus(calc, pli_times(calc, 4, width), pli_times(calc, 2, pixels));
    uint64_t output =
        pli_plus(calc, pli_times(calc, 4, width), pli_model_number(model, keys->projection, 0));
    return pli_larger(pli_larger(attention, feed), pli_larger(unfolded, output));
}

static bool has(const pli_model *model, const char *key)
{
    const pli_value *value = pli_model_value(model, key);
    return value && value->type == PLI_VALUE_BOOL && value->as.u;
}

static pli_str type_of(const pli_model *model, const struct encoder *keys)
{
    pli_str type = pli_s("");
    if (!pli_model_str(model, "clip.projector_type", &type))
        (void)pli_model_str(model, keys->type, &type);
    return type;
}

/* The larger of both encoders: each has a graph, but only one is computed at a time. */
static void measure(pli_calc *calc, pli_projector *out)
{
    const pli_model *model = out->model;
    out->kind = PLI_ESTIMATE;
    if (has(model, sound.has)) {
        out->positions = SOUND_POSITIONS;
        out->elements = widest_of(calc, model, &sound);
        out->heads = pli_model_number(model, sound.heads, 1);
    }
    if (!has(model, image.has) && has(model, sound.has))
        return;
    const struct projector *row = row_of(type_of(model, &image));
    uint64_t patches = patches_of(calc, model, row), elements = widest_of(calc, model, &image);
    if (pli_times(calc, patches, elements) < pli_times(calc, out->positions, out->elements))
        return;
    out->positions = patches;
    out->elements = elements;
    out->heads = pli_model_number(model, image.heads, 1);
    out->kind = row ? row->certainty : PLI_ESTIMATE;
    out->masked = row && pli_model_value(model, "clip.vision.n_wa_pattern");
}

plim_status pli_projector_read(pli_arena *arena, const pli_sites *sites,
                               const plim_fit_options *options, plim_error *error,
                               const pli_projector **out)
{
    pli_calc calc = {false};
    if (!options->projector)
        return PLIM_OK;
    const pli_model *model = pli_model_of(options->projector);
    pli_purpose purpose = pli_model_purpose(model);
    if (purpose != PLI_IS_PROJECTOR)
        return pli_fail(error, PLIM_INVALID, "--mmproj", PLIM_NO_OFFSET, "%s is %s: %s",
                        model->path, pli_purpose_what(purpose),
                        purpose == PLI_IS_MODEL ? "it is no projector"
                                                : pli_purpose_where(purpose));
    pli_projector *projector = pli_alloc(arena, sizeof *projector);
    if (!projector)
        return PLIM_NOMEM;
    projector->model = model;
    projector->offloaded = sites->devices && !options->no_projector_offload;
    measure(&calc, projector);
    if (calc.overflow)
        return pli_fail(error, PLIM_LIMIT, model->path, PLIM_NO_OFFSET,
                        "the header's figures multiply to more than 2^64");
    *out = projector;
    return PLIM_OK;
}

uint64_t pli_projector_weights(pli_calc *calc, const pli_projector *projector,
                               const pli_backend *backend)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < projector->model->tensor_count; i++) {
        const pli_tensor *tensor = &projector->model->tensors[i];
        sum = pli_plus(calc, sum,
                       pli_allocated(calc, backend, pli_quant_at(tensor->type), tensor->shape[0],
                                     tensor->bytes));
    }
    return sum;
}

uint64_t pli_projector_compute(pli_calc *calc, const pli_projector *projector,
                               const pli_setup *setup)
{
    uint64_t n = projector->positions, pairs = pli_times(calc, n, n);
    uint64_t elements = pli_times(calc, n, projector->elements);
    if (!setup->flash) /* all scores at once */
        elements = pli_plus(calc, elements, pli_times(calc, pairs, projector->heads));
    if (projector->masked) /* as f32, and as f16 for flash attention */
        elements = pli_plus(calc, elements, pli_plus(calc, pairs, setup->flash ? pairs / 2 : 0));
    return pli_times(calc, elements, sizeof(float));
}
