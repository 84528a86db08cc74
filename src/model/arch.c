#include "arch.h"

#include <inttypes.h>
#include <stdio.h>

#include "../base/num.h"

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

bool pli_model_flag(const pli_model *model, const char *key, bool otherwise)
{
    const pli_value *value = pli_model_value(model, key);
    return value && value->type == PLI_VALUE_BOOL ? value->as.u != 0 : otherwise;
}

uint64_t pli_model_layer_number(const pli_model *model, const char *key, uint64_t layer,
                                uint64_t otherwise)
{
    uint64_t value;
    return pli_model_layer_u64(model, key, layer, &value) ? value : otherwise;
}

/* ---- how many layers ------------------------------------------------------------------------- */

static uint64_t blocks(const pli_model *model)
{
    return pli_model_number(model, "%s.block_count", 0);
}

uint64_t pli_arch_layers(const pli_arch *arch, const pli_model *model)
{
    uint64_t layers = blocks(model);
    if (arch->flags & PLI_ARCH_LOOPS)
        layers = pli_mul_sat(layers, pli_model_number(model, "%s.num_loops", 1));
    if (layers && (arch->flags & PLI_ARCH_ROUTER))
        layers = pli_add_sat(layers, 1);
    return layers;
}

/* A DeepSeek-V4 file may count layers for prediction that it leaves out. */
static bool has_predicting_layers(const pli_arch *arch, const pli_model *model, uint64_t trunk)
{
    char name[64];
    if (!(arch->flags & PLI_ARCH_COMPRESSED))
        return true;
    (void)snprintf(name, sizeof name, "blk.%" PRIu64 ".nextn.eh_proj.weight", trunk);
    return pli_model_tensor(model, name) != NULL;
}

uint64_t pli_arch_trunk(const pli_arch *arch, const pli_model *model)
{
    uint64_t layers = pli_arch_layers(arch, model);
    uint64_t trunk = pli_sub_sat(layers, pli_model_number(model, "%s.nextn_predict_layers", 0));
    return trunk < layers && has_predicting_layers(arch, model, trunk) ? trunk : layers;
}

bool pli_arch_block(const pli_arch *arch, const pli_model *model, uint64_t layer, uint64_t *block)
{
    uint64_t count = blocks(model);
    *block = (arch->flags & PLI_ARCH_LOOPS) && count ? layer % count : layer;
    return *block < count;
}

/* ---- windows --------------------------------------------------------------------------------- */

uint64_t pli_arch_window(const pli_arch *arch, const pli_model *model)
{
    uint64_t window = arch->window;
    if (arch->slide == PLI_SLIDE_NEVER)
        return 0;
    if ((arch->flags & PLI_ARCH_SLIDES_AT_64) && pli_arch_trunk(arch, model) != 64)
        return 0;
    if (!pli_model_u64(model, "%s.attention.sliding_window", &window))
        return arch->flags & PLI_ARCH_WINDOW_ASKED ? 0 : arch->window;
    return window && (arch->flags & PLI_ARCH_WINDOW_FIXED) ? arch->window : window;
}

static bool slides(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    static const char key[] = "%s.attention.sliding_window_pattern";
    const pli_value *pattern = pli_model_value(model, key);
    uint64_t period = arch->period;
    if (arch->slide == PLI_SLIDE_ALL)
        return true;
    if (pattern && pattern->type == PLI_VALUE_ARRAY)
        return pli_model_layer_number(model, key, layer, 0) != 0;
    if (pattern)
        period = pli_model_number(model, key, period);
    if (period == 0) /* every layer slides */
        return true;
    return arch->slide == PLI_SLIDE_FIRST ? layer % period != 0 : layer % period < period - 1;
}

/* ---- indexers -------------------------------------------------------------------------------- */

/* GLM-5.2, whose files do not name the layers: the first three, then every fourth of its 78. */
static bool indexed_in_glm(const pli_model *model, uint64_t layer)
{
    return pli_model_number(model, "%s.context_length", 0) < 1048576 || layer < 2 ||
           (layer < 78 && layer % 4 == 2);
}

static bool is_sparse(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    if (!(arch->flags & PLI_ARCH_INDEXED) ||
        !pli_model_number(model, "%s.attention.indexer.top_k", 0))
        return false;
    return !(arch->flags & PLI_ARCH_INDEX_LATE) ||
           layer >= pli_model_number(model, "%s.leading_dense_block_count", 0);
}

/* A sparse layer without an indexer of its own takes what the one before it chose. */
static bool is_indexed(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    static const char key[] = "%s.attention.indexer.types";
    if ((arch->flags & PLI_ARCH_INDEX_LISTED) && pli_model_value(model, key))
        return pli_model_layer_number(model, key, layer, 0) != 0;
    return !(arch->flags & PLI_ARCH_INDEX_GLM) || indexed_in_glm(model, layer);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static uint64_t heads_kv(const pli_model *model, uint64_t layer)
{
    uint64_t heads;
    if (pli_model_layer_u64(model, "%s.attention.head_count_kv", layer, &heads))
        return heads;
    return pli_model_layer_number(model, "%s.attention.head_count", layer, 0);
}

static bool attends_at_interval(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    static const char key[] = "%s.attention.recurrent_layers";
    if (pli_model_value(model, key))
        return pli_model_layer_number(model, key, layer, 0) == 0;
    uint64_t interval = pli_model_number(model, "%s.full_attention_interval", arch->period);
    return interval <= 1 || (layer + 1) % interval == 0;
}

/* Layers that read another's cache stand at the end. */
static bool shares(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    uint64_t shared = pli_model_number(model, "%s.attention.shared_kv_layers", 0);
    if (arch->flags & PLI_ARCH_KV_20)
        return layer >= 20;
    return layer >= pli_sub_sat(blocks(model), shared);
}

static bool is_listed(const pli_model *model, const char *key, uint64_t layer)
{
    const pli_value *list = pli_model_value(model, key);
    for (uint64_t i = 0; list && list->items && i < list->count; i++)
        if (list->items[i] == layer)
            return true;
    return false;
}

/* Keys are looked up where a rule needs them: a header may claim many layers. */
static void set_kind(const pli_arch *arch, const pli_model *model, uint64_t layer,
                     pli_layer_kind *kind)
{
    kind->attends = false;
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
        kind->attends = attends_at_interval(arch, model, layer);
        kind->recurrent = !kind->attends;
        break;
    }
}

pli_layer_kind pli_arch_layer(const pli_arch *arch, const pli_model *model, uint64_t layer)
{
    pli_layer_kind kind = {0};
    uint64_t block;
    kind.attends = true;
    if (!pli_arch_block(arch, model, layer, &block))
        return kind;
    set_kind(arch, model, block, &kind);
    kind.predicts = layer >= pli_arch_trunk(arch, model);
    if (kind.predicts && kind.recurrent) { /* only trunks recur */
        kind.attends = true;
        kind.recurrent = false;
    }
    kind.slides = kind.attends && pli_arch_window(arch, model) && slides(arch, model, block);
    kind.shares = kind.attends && shares(arch, model, block);
    kind.sparse = kind.attends && !kind.predicts && is_sparse(arch, model, block);
    kind.indexed = kind.sparse && is_indexed(arch, model, block);
    kind.remembers = kind.recurrent && (arch->flags & PLI_ARCH_HISTORY) &&
                     is_listed(model, "%s.ple.layers", block);
    if (arch->flags & PLI_ARCH_COMPRESSED)
        kind.ratio = pli_model_layer_number(model, "%s.attention.compress_ratios", block, 0);
    return kind;
}
