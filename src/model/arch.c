#include "arch.h"

static const pli_arch archs[] = {
#define ARCH(name, layers, state, slide, period, window, flags)                                    \
    {name, PLI_LAYERS_##layers, PLI_STATE_##state, PLI_SLIDE_##slide, period, window, flags},
#include "arch.def"
#undef ARCH
};

const pli_arch *pli_arch_find(pli_str name)
{
    static const pli_arch unknown = {"",
                                     PLI_LAYERS_ATTENTION,
                                     PLI_STATE_NONE,
                                     PLI_SLIDE_NEVER,
                                     0,
                                     0,
                                     PLI_ARCH_UNKNOWN | PLI_ARCH_INEXACT};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (pli_eq(name, archs[i].name))
            return &archs[i];
    return &unknown;
}

const pli_arch *pli_arch_of(const pli_model *model)
{
    pli_str name;
    return pli_arch_find(pli_model_str(model, "general.architecture", &name) ? name : pli_s(""));
}

uint64_t pli_model_number(const pli_model *model, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return pli_model_u64(model, key, &value) ? value : otherwise;
}

uint64_t pli_model_layer_number(const pli_model *model, const char *key, uint64_t layer,
                                uint64_t otherwise)
{
    uint64_t value;
    return pli_model_layer_u64(model, key, layer, &value) ? value : otherwise;
}

/* ---- windows --------------------------------------------------------------------------------- */

uint64_t pli_arch_window(const pli_arch *arch, const pli_model *model)
{
    if (arch->slide == PLI_SLIDE_NEVER)
        return 0;
    if ((arch->flags & PLI_ARCH_SLIDES_AT_64) && pli_model_number(model, "%s.block_count", 0) != 64)
        return 0;
    uint64_t window = pli_model_number(model, "%s.attention.sliding_window", arch->window);
    return window && (arch->flags & PLI_ARCH_WINDOW_FIXED) ? arch->window : window;
}

static bool slides(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    static const char key[] = "%s.attention.sliding_window_pattern";
    const pli_value *pattern = pli_model_value(model, key);
    uint64_t period = arch->period;
    if (pattern && pattern->type == PLI_VALUE_ARRAY)
        return pli_model_layer_number(model, key, layer, 0) != 0;
    if (pattern)
        period = pli_model_number(model, key, period);
    if (period == 0) /* every layer slides */
        return true;
    return arch->slide == PLI_SLIDE_FIRST ? layer % period != 0 : layer % period < period - 1;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static uint64_t heads_kv(const pli_model *model, uint64_t layer)
{
    uint64_t heads;
    if (pli_model_layer_u64(model, "%s.attention.head_count_kv", layer, &heads))
        return heads;
    return pli_model_layer_number(model, "%s.attention.head_count", layer, 0);
}

/* Keys are looked up where a rule needs them: a header may claim many layers. */
static void set_kind(const pli_arch *arch, const pli_model *model, uint64_t layer,
                     pli_layer_kind *kind)
{
    uint64_t interval;
    switch (arch->layers) {
    case PLI_LAYERS_ATTENTION:
        kind->attends = true;
        break;
    case PLI_LAYERS_RECURRENT:
        kind->recurrent = true;
        break;
    case PLI_LAYERS_HEADLESS:
        kind->attends = heads_kv(model, layer) > 0;
        kind->recurrent = !kind->attends;
        break;
    case PLI_LAYERS_NEMOTRON: /* the third kind is a feed-forward of its own */
        if (pli_model_layer_number(model, "%s.feed_forward_length", layer, 0))
            break;
        kind->attends = heads_kv(model, layer) > 0;
        kind->recurrent = !kind->attends;
        break;
    case PLI_LAYERS_BOTH:
        kind->attends = kind->recurrent = true;
        break;
    case PLI_LAYERS_INTERVAL:
        interval = pli_model_number(model, "%s.full_attention_interval", 4);
        kind->attends = interval <= 1 || (layer + 1) % interval == 0;
        kind->recurrent = !kind->attends;
        break;
    }
}

pli_layer_kind pli_arch_layer(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    pli_layer_kind kind = {false, false, false};
    set_kind(arch, model, layer, &kind);
    kind.slides = kind.attends && pli_arch_window(arch, model) && slides(arch, model, layer);
    return kind;
}
