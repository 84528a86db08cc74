#include "roles.h"

#include <string.h>

#include "load.h"

/* What stands before a layer's number: "enc.blk.0.attn_q.weight" is an encoder's. 0: no layer's. */
static size_t before_layer(pli_str name)
{
    static const char *const stems[] = {"blk.", "enc.blk.", "dec.blk.", "posnet.", "convnext."};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (pli_starts(name, stems[i]))
            return strlen(stems[i]);
    return 0;
}

/* Of a layer that predicts further tokens nothing is loaded, but for what an architecture forgets
 * to leave out. */
static bool is_loaded(const pli_shape *shape, pli_str name, uint64_t layer)
{
    static const struct {
        uint64_t flag;
        const char *part;
    } kept[] = {{PLI_ARCH_NEXTN_BIAS, ".exp_probs_b"},
                {PLI_ARCH_NEXTN_HEAD, ".nextn.embed_tokens."},
                {PLI_ARCH_NEXTN_HEAD, ".nextn.shared_head_"},
                {PLI_ARCH_NEXTN_FEED, ".ffn_gate"},
                {PLI_ARCH_NEXTN_FEED, ".ffn_up"},
                {PLI_ARCH_NEXTN_FEED, ".ffn_down"},
                {PLI_ARCH_NEXTN_NORMS, ".attn_q_norm."},
                {PLI_ARCH_NEXTN_NORMS, ".attn_k_norm."},
                {PLI_ARCH_NEXTN_NORMS, ".attn_gate."}};
    bool loaded = layer < shape->run_layers;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && !loaded; i++)
        loaded = (shape->arch->flags & kept[i].flag) && pli_contains(name, kept[i].part);
    return loaded;
}

/* Tensors of no layer, by the beginning of their names; the others are the output's. */
static const struct {
    const char *name;
    uint8_t place;
} places[] = {
    {"token_embd.", PLI_AT_INPUT},
    {"token_types.", PLI_AT_INPUT},
    {"position_embd.", PLI_AT_INPUT},
    {"per_layer_token_embd.", PLI_AT_TABLE},
    {"per_layer_model_proj.", PLI_AT_MIXER},
    {"per_layer_proj_norm.", PLI_AT_MIXER},
    {"hrm.", PLI_AT_FIRST},
    {"conv1d.", PLI_AT_FIRST},
    {"nextn.pre_projection.", PLI_AT_FIRST},
    {"rope_freqs.", PLI_AT_EVERY_LAYER},
    {"rope_factors_", PLI_AT_EVERY_LAYER},
    {"masked_embd_", PLI_NOT_LOADED},
};

static pli_place place_of(const pli_shape *shape, pli_str name, uint64_t *layer)
{
    size_t stem = before_layer(name);
    if (stem) {
        name = pli_skip(name, stem);
        if (pli_contains(name, ".cross_attn_rel_b."))
            return PLI_NOT_LOADED;
        if (pli_parse_u64_prefix(&name, layer) && *layer < shape->layers)
            return is_loaded(shape, name, *layer) ? PLI_AT_LAYER : PLI_NOT_LOADED;
        return PLI_NOT_LOADED;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (pli_starts(name, places[i].name))
            return (pli_place)places[i].place;
    if (pli_starts(name, "token_embd_norm."))
        return shape->arch->flags & PLI_ARCH_NORM_AT_OUTPUT ? PLI_AT_OUTPUT : PLI_AT_FIRST;
    return PLI_AT_OUTPUT;
}

/* Bytes of "blk.12." in front of "ffn_up.weight". */
static size_t layer_prefix(pli_str name)
{
    uint64_t layer;
    pli_str rest = pli_skip(name, before_layer(name));
    (void)pli_parse_u64_prefix(&rest, &layer);
    return name.n - rest.n + (rest.n > 0);
}

/* By the beginnings that --fit's patterns match: ffn_up, ffn_gate, ffn_gate_up, ffn_down, with
 * _exps or _chexps behind them. */
static uint8_t part_of(pli_str name)
{
    static const struct {
        const char *name;
        uint8_t part;
    } parts[] = {{"ffn_up", PLI_PART_UP},
                 {"ffn_gate_up", PLI_PART_GATE},
                 {"ffn_gate", PLI_PART_GATE},
                 {"ffn_down", PLI_PART_DOWN}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!pli_starts(name, parts[i].name))
            continue;
        pli_str rest = pli_skip(name, strlen(parts[i].name));
        bool experts = pli_starts(rest, "_exps") || pli_starts(rest, "_chexps");
        return (uint8_t)(parts[i].part | (experts ? PLI_PART_EXPERTS : 0));
    }
    return 0;
}

/* By the beginning of a tensor's name behind "blk.N.". */
static pli_use use_of(pli_str name, uint8_t part)
{
    static const struct {
        const char *name;
        pli_use use;
    } uses[] = {
        {"attn", PLI_FOR_ATTENTION},         {"cross_attn", PLI_FOR_ATTENTION},
        {"indexer", PLI_FOR_ATTENTION},      {"ffn", PLI_FOR_FEED_FORWARD},
        {"exp_probs", PLI_FOR_FEED_FORWARD}, {"ssm", PLI_FOR_RECURRENCE},
        {"time_mix", PLI_FOR_RECURRENCE},    {"channel_mix", PLI_FOR_RECURRENCE},
        {"shortconv", PLI_FOR_RECURRENCE},
    };
    if (part & PLI_PART_EXPERTS)
        return PLI_FOR_EXPERTS;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (pli_starts(name, uses[i].name))
            return uses[i].use;
    return PLI_FOR_ELSE;
}

/* ... and of one that is in no layer. */
static pli_use use_outside(pli_place place)
{
    switch (place) {
    case PLI_AT_OUTPUT:
        return PLI_FOR_OUTPUT;
    case PLI_AT_EVERY_LAYER:
        return PLI_FOR_ATTENTION;
    default:
        return PLI_FOR_INPUT;
    }
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t mixed_text(uint64_t hash, pli_str text)
{
    for (size_t i = 0; i < text.n; i += 8)
        hash = mixed(hash, pli_load(text.p + i, text.n - i < 8 ? text.n - i : 8, false));
    return mixed(hash, text.n);
}

/* Tensors of a layer may stand in any order: sums of their hashes. */
static void add_to_layer(pli_layer *layer, const pli_tensor *tensor, pli_str name)
{
    uint64_t hash = mixed_text(1, name);
    for (uint32_t i = 0; i < tensor->dims; i++)
        hash = mixed(hash, tensor->shape[i]);
    layer->routed |= pli_eq(name, "ffn_gate_inp.weight");
    layer->names += hash;
    layer->bytes += mixed(mixed(hash, tensor->type), tensor->bytes);
}

static void read_role(pli_shape *shape, const pli_tensor *tensor, pli_role *role)
{
    pli_str name = pli_s(tensor->name);
    uint64_t layer = 0;
    role->place = (uint8_t)place_of(shape, name, &layer);
    role->layer = (uint32_t)layer;
    role->use = (uint8_t)use_outside((pli_place)role->place);
    if (role->place != PLI_AT_LAYER)
        return;
    bool has_side = !pli_starts(name, "blk."); /* several layers have this number */
    role->skip = (uint16_t)layer_prefix(name); /* names are capped far below */
    name = pli_skip(name, role->skip);
    role->left = has_side ? 0 : (uint16_t)name.n;
    role->part = part_of(name);
    role->use = (uint8_t)use_of(name, role->part);
    add_to_layer(&shape->layer[layer], tensor, name);
    shape->layer[layer].tensors++;
}

plim_status pli_roles_read(pli_arena *arena, pli_shape *shape)
{
    const pli_model *model = shape->model;
    pli_role *roles = pli_alloc_array(arena, model->tensor_count, sizeof *roles);
    uint32_t *in_layer = pli_alloc_array(arena, model->tensor_count, sizeof *in_layer), sum = 0;
    if (!roles || !in_layer)
        return PLIM_NOMEM;
    for (size_t i = 0; i < model->tensor_count; i++)
        read_role(shape, &model->tensors[i], &roles[i]);
    for (uint64_t il = 0; il < shape->layers; il++) {
        shape->layer[il].first_tensor = sum;
        sum += shape->layer[il].tensors;
        shape->layer[il].tensors = 0;
    }
    for (size_t i = 0; i < model->tensor_count; i++)
        if (roles[i].place == PLI_AT_LAYER) {
            pli_layer *layer = &shape->layer[roles[i].layer];
            in_layer[layer->first_tensor + layer->tensors++] = (uint32_t)i;
        }
    shape->role = roles;
    shape->in_layer = in_layer;
    return PLIM_OK;
}

const pli_tensor *pli_layer_tensor(const pli_shape *shape, uint64_t layer, const char *name,
                                   const char *suffix)
{
    const pli_layer *l = &shape->layer[layer];
    size_t n = strlen(name), m = suffix ? strlen(suffix) : 0, length = n + (suffix ? m + 1 : 0);
    for (uint32_t i = 0; i < l->tensors; i++) {
        uint32_t index = shape->in_layer[l->first_tensor + i];
        const pli_role *role = &shape->role[index];
        const char *text = shape->model->tensors[index].name + role->skip;
        if (role->left == length && memcmp(text, name, n) == 0 &&
            (!suffix || (text[n] == '.' && memcmp(text + n + 1, suffix, m) == 0)))
            return &shape->model->tensors[index];
    }
    return NULL;
}
