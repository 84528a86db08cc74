#include "blueprint.h"

#include <inttypes.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

/* What a tensor's dimension is counted in. Some differ by layer. */
enum {
    NONE,
    ONE,
    WIDTH,
    TWO_WIDTHS,
    THREE_WIDTHS,
    VOCABULARY,
    HALF_ROPE,
    HEADS,
    HEAD_WIDTH,
    QUERIES,
    TWO_QUERIES,
    KEYS,
    VALUES_WIDTH,
    QUERIES_KEYS_VALUES,
    ATTENDED,
    FEED_FORWARD,
    TWO_FEED_FORWARD,
    EXPERT_COUNT,
    EXPERT_WIDTH,
    TWO_EXPERT_WIDTH,
    SHARED_WIDTH,
    QUERY_RANK,
    LATENT_WIDTH,
    LATENT_ROPE,
    LATENT_KEY,
    LATENT_VALUE,
    LATENT_QUERIES,
    LATENT_ATTENDED,
    INDEX_HEADS,
    INDEX_WIDTH,
    INDEX_QUERIES,
    SSM_INNER,
    SSM_INPUT,
    SSM_CONVOLVED,
    SSM_KERNEL,
    SSM_STATE,
    SSM_HEADS,
    TWO_SSM_HEADS,
    SSM_GROUPS,
    SSM_GROUP_WIDTH,
    SHORTCONV_KERNEL,
    INPUT,
    INPUTS,
    ALTUP_STREAMS,
    ALTUP_OTHERS,
    ALTUP_SQUARE,
    LAUREL,
    SIZES
};
#define ALTUP_INPUTS 4u /* of gemma3n, whose files do not say it */
#define LAUREL_RANK 64u

typedef struct drawing {
    pli_model *model;
    const pli_arch *arch;
    uint64_t size[SIZES];
    uint64_t layers, predicting; /* of them the last */
    uint64_t dense_lead, expert_step;
    uint64_t key, value, key_sliding, value_sliding; /* widths of a head */
    bool failed;
} drawing;

static uint64_t number(const drawing *d, const char *key)
{
    return pli_model_number(d->model, key, 0);
}

/* A catalogue's figures are small: what overflows gives a table that is refused at its end. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return pli_mul_sat(a, b);
}

static void set_model_sizes(drawing *d)
{
    uint64_t *size = d->size,
             heads = pli_model_layer_number(d->model, "%s.attention.head_count", 0, 0);
    size[ONE] = 1;
    size[WIDTH] = number(d, "%s.embedding_length");
    size[TWO_WIDTHS] = times(2, size[WIDTH]);
    size[THREE_WIDTHS] = times(3, size[WIDTH]);
    size[VOCABULARY] = number(d, "%s.vocab_size");
    uint64_t head = heads ? size[WIDTH] / heads : 0;
    d->key = pli_model_number(d->model, "%s.attention.key_length", head);
    d->value = pli_model_number(d->model, "%s.attention.value_length", head);
    d->key_sliding = pli_model_number(d->model, "%s.attention.key_length_swa", d->key);
    d->value_sliding = pli_model_number(d->model, "%s.attention.value_length_swa", d->value);
    size[HALF_ROPE] = pli_model_number(d->model, "%s.rope.dimension_count", d->key) / 2;
    size[INPUT] = number(d, "%s.embedding_length_per_layer_input");
    size[INPUTS] = times(size[INPUT], d->layers);
    size[ALTUP_STREAMS] = ALTUP_INPUTS;
    size[ALTUP_OTHERS] = ALTUP_INPUTS - 1;
    size[ALTUP_SQUARE] = ALTUP_INPUTS * ALTUP_INPUTS;
    size[LAUREL] = LAUREL_RANK;
    size[SHORTCONV_KERNEL] = number(d, "%s.shortconv.l_cache");
}

static void set_expert_sizes(drawing *d)
{
    uint64_t *size = d->size;
    size[EXPERT_COUNT] = number(d, "%s.expert_count");
    size[EXPERT_WIDTH] =
        pli_model_number(d->model, "%s.expert_feed_forward_length",
                         pli_model_layer_number(d->model, "%s.feed_forward_length", 0, 0));
    size[TWO_EXPERT_WIDTH] = times(2, size[EXPERT_WIDTH]);
    size[SHARED_WIDTH] =
        pli_model_number(d->model, "%s.expert_shared_feed_forward_length",
                         times(size[EXPERT_WIDTH], number(d, "%s.expert_shared_count")));
}

/* Multi-head latent attention: keys and values through one low rank. */
static void set_latent_sizes(drawing *d)
{
    uint64_t *size = d->size,
             heads = pli_model_layer_number(d->model, "%s.attention.head_count", 0, 0);
    uint64_t rope = number(d, "%s.rope.dimension_count");
    uint64_t key = number(d, "%s.attention.key_length_mla");
    size[QUERY_RANK] = number(d, "%s.attention.q_lora_rank");
    size[LATENT_WIDTH] = number(d, "%s.attention.kv_lora_rank");
    size[LATENT_ROPE] = pli_add_sat(size[LATENT_WIDTH], rope);
    size[LATENT_KEY] = pli_sub_sat(key, rope);
    size[LATENT_VALUE] = number(d, "%s.attention.value_length_mla");
    size[LATENT_QUERIES] = times(heads, key);
    size[LATENT_ATTENDED] = times(heads, size[LATENT_VALUE]);
    size[INDEX_HEADS] = number(d, "%s.attention.indexer.head_count");
    size[INDEX_WIDTH] = number(d, "%s.attention.indexer.key_length");
    size[INDEX_QUERIES] = times(size[INDEX_HEADS], size[INDEX_WIDTH]);
}

static void set_state_sizes(drawing *d)
{
    uint64_t *size = d->size;
    size[SSM_INNER] = number(d, "%s.ssm.inner_size");
    size[SSM_STATE] = number(d, "%s.ssm.state_size");
    size[SSM_HEADS] = number(d, "%s.ssm.time_step_rank");
    size[SSM_GROUPS] = number(d, "%s.ssm.group_count");
    size[SSM_KERNEL] = number(d, "%s.ssm.conv_kernel");
    size[TWO_SSM_HEADS] = times(2, size[SSM_HEADS]);
    size[SSM_GROUP_WIDTH] = size[SSM_GROUPS] ? size[SSM_INNER] / size[SSM_GROUPS] : 0;
    size[SSM_CONVOLVED] =
        pli_add_sat(size[SSM_INNER], times(2, times(size[SSM_GROUPS], size[SSM_STATE])));
    size[SSM_INPUT] =
        pli_add_sat(pli_add_sat(size[SSM_INNER], size[SSM_CONVOLVED]), size[SSM_HEADS]);
}

static void set_layer_sizes(drawing *d, uint64_t layer, bool slides)
{
    uint64_t *size = d->size;
    uint64_t heads = pli_model_layer_number(d->model, "%s.attention.head_count", layer, 0);
    uint64_t kv = pli_model_layer_number(d->model, "%s.attention.head_count_kv", layer, heads);
    uint64_t value = slides ? d->value_sliding : d->value;
    size[HEADS] = heads;
    size[HEAD_WIDTH] = slides ? d->key_sliding : d->key;
    size[QUERIES] = times(heads, size[HEAD_WIDTH]);
    size[TWO_QUERIES] = times(2, size[QUERIES]);
    size[KEYS] = times(kv, size[HEAD_WIDTH]);
    size[VALUES_WIDTH] = times(kv, value);
    size[QUERIES_KEYS_VALUES] =
        pli_add_sat(size[QUERIES], pli_add_sat(size[KEYS], size[VALUES_WIDTH]));
    size[ATTENDED] = times(heads, value);
    size[FEED_FORWARD] = pli_model_layer_number(d->model, "%s.feed_forward_length", layer, 0);
    size[TWO_FEED_FORWARD] = times(2, size[FEED_FORWARD]);
}

/* ---- which layers ---------------------------------------------------------------------------- */

enum { MODEL, EVERY, ATTEND, SLIDE, RECUR, DENSE, ROUTED, NEXTN, PLACES };

static const uint8_t part_place[PLI_PARTS] = {
#define PART(name, where) where,
#include "blueprint.def"
#undef PART
};

static void set_places(const drawing *d, uint64_t layer, bool here[PLACES])
{
    pli_layer_kind kind = pli_arch_layer(d->arch, d->model, layer);
    bool predicts = layer >= d->layers - d->predicting;
    bool feeds = d->arch->layers != PLI_LAYERS_NEMOTRON || (!kind.attends && !kind.recurrent);
    bool routed =
        d->size[EXPERT_COUNT] && layer >= d->dense_lead && (layer + 1) % d->expert_step == 0;
    here[MODEL] = false;
    here[EVERY] = true;
    here[ATTEND] = kind.attends || predicts;
    here[SLIDE] = kind.slides;
    here[RECUR] = kind.recurrent && !predicts;
    here[DENSE] = feeds && !routed;
    here[ROUTED] = feeds && routed;
    here[NEXTN] = predicts;
}

/* ---- tensors --------------------------------------------------------------------------------- */

enum {
#define PART(name, where) PART_##name = PLI_PART_##name,
#include "blueprint.def"
#undef PART
};

typedef struct row {
    uint8_t part;
    const char *name;
    uint8_t shape[PLI_MIN_SHAPE];
} row;
static const row rows[] = {
#define TENSOR(part, name, ...) {PART_##part, name, {__VA_ARGS__}},
#include "blueprint.def"
#undef TENSOR
};

bool pli_blueprint_is_f32(pli_str name, unsigned dims)
{
    static const char *const kept[] = {"ffn_gate_inp",       "ssm_conv1d",
                                       "shortconv.conv.",    "altup_correct_coef",
                                       "altup_predict_coef", "indexer.proj"};
    if (dims < 2 || pli_ends(name, "_norm.weight") || !pli_ends(name, ".weight"))
        return true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (pli_contains(name, kept[i]))
            return true;
    return false;
}

/* Dimensions without the ones at their end, at least one. */
static void set_shape(drawing *d, const row *r, pli_tensor *t)
{
    uint64_t *shape = pli_alloc_array(d->model->arena, PLI_MIN_SHAPE, sizeof *shape);
    if (!shape)
        return;
    t->dims = 0;
    t->elements = 1;
    for (unsigned i = 0; i < PLI_MIN_SHAPE; i++) {
        shape[i] = r->shape[i] == NONE ? 1 : d->size[r->shape[i]];
        t->dims = r->shape[i] == NONE ? t->dims : i + 1;
        d->failed |= !pli_mul(t->elements, shape[i], &t->elements) || t->elements > INT64_MAX;
    }
    t->shape = shape;
}

static void draw(drawing *d, const row *r, const char *name)
{
    static const char *const types[] = {"BF16", "F32"};
    pli_model *model = d->model;
    pli_tensor *tensors =
        pli_grow_array(model->arena, model->tensors, model->tensor_count, sizeof *tensors);
    if (!tensors || !name) {
        d->failed = true;
        return;
    }
    model->tensors = tensors;
    pli_tensor *t = &tensors[model->tensor_count++];
    *t = (pli_tensor){.name = name};
    set_shape(d, r, t);
    const pli_quant *type =
        pli_quant_by_name(pli_s(types[pli_blueprint_is_f32(pli_s(name), t->dims)]));
    t->type = pli_quant_index(type);
    t->type_name = type->name;
    t->file_type = type->ggml_id;
    t->bytes_known = pli_mul(t->elements, type->block_bytes, &t->bytes);
    d->failed |= !t->shape || !t->bytes_known || t->elements == 0;
}

static void draw_layer(drawing *d, uint64_t parts, uint64_t layer)
{
    bool here[PLACES];
    set_places(d, layer, here);
    set_layer_sizes(d, layer, here[SLIDE]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((parts & PLI_PART_BIT(rows[i].part)) && here[part_place[rows[i].part]])
            draw(d, &rows[i],
                 pli_printf(d->model->arena, "blk.%" PRIu64 ".%s", layer, rows[i].name));
}

/* ---- architectures --------------------------------------------------------------------------- */

uint64_t pli_blueprint_parts(pli_str architecture)
{
    enum {
        NO_PART = PLI_PARTS,
#define PART(name, where) name = PLI_PART_##name,
#include "blueprint.def"
#undef PART
    };
    static const struct {
        const char *name;
        uint8_t parts[24];
    } architectures[] = {
#define ARCHITECTURE(name, ...) {name, {__VA_ARGS__, NO_PART}},
#include "blueprint.def"
#undef ARCHITECTURE
    };
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (pli_eq(architecture, architectures[i].name))
            for (const uint8_t *part = architectures[i].parts; *part != NO_PART; part++)
                set |= PLI_PART_BIT(*part);
    return set;
}

bool pli_blueprint_draw(pli_model *model, uint64_t more)
{
    drawing d = {.model = model, .arch = pli_arch_of(model)};
    uint64_t parts = pli_blueprint_parts(pli_s(d.arch->name));
    if (!parts)
        return false;
    parts |= more;
    d.layers = number(&d, "%s.block_count");
    d.predicting = number(&d, "%s.nextn_predict_layers");
    d.dense_lead = number(&d, "%s.leading_dense_block_count");
    d.expert_step = pli_model_number(model, "%s.interleave_moe_layer_step", 1);
    if (d.layers == 0 || d.layers > PLI_MAX_LAYERS || d.predicting > d.layers || !d.expert_step)
        return false;
    set_model_sizes(&d);
    set_expert_sizes(&d);
    set_latent_sizes(&d);
    set_state_sizes(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((parts & PLI_PART_BIT(rows[i].part)) && part_place[rows[i].part] == MODEL)
            draw(&d, &rows[i], rows[i].name);
    for (uint64_t layer = 0; layer < d.layers && !d.failed; layer++)
        draw_layer(&d, parts, layer);
    return !d.failed;
}
