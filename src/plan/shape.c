#include "shape.h"

#include "../base/limits.h"
#include "../base/status.h"
#include "roles.h"

/* ---- what a layer keeps of a token ----------------------------------------------------------- */

static void set_widths(const pli_shape *shape, pli_calc *calc, pli_layer *layer)
{
    uint64_t key = shape->key_length, value = shape->value_length;
    if (layer->slides) {
        key = pli_model_number(shape->model, "%s.attention.key_length_swa", key);
        value = pli_model_number(shape->model, "%s.attention.value_length_swa", value);
    }
    layer->key_length = key;
    layer->value_length = value;
    layer->key_width = pli_times(calc, key, layer->heads_kv);
    layer->value_width = shape->latent ? 0 : pli_times(calc, value, layer->heads_kv);
}

/* Layers that read another layer's cache stand at the end. */
static uint64_t layers_with_cache(const pli_shape *shape)
{
    uint64_t shared = pli_model_number(shape->model, "%s.attention.shared_kv_layers", 0);
    if (shape->arch->flags & PLI_ARCH_NO_CACHE)
        return 0;
    if (shape->arch->flags & PLI_ARCH_KV_20)
        return pli_smaller(shape->run_layers, 20);
    return pli_sub_sat(shape->run_layers, shared);
}

static void set_layers(pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    uint64_t with_cache = layers_with_cache(shape);
    bool attend = false, recur = false;
    for (uint64_t il = 0; il < shape->layers; il++) {
        pli_layer *layer = &shape->layer[il];
        layer->heads = pli_model_layer_number(model, "%s.attention.head_count", il, 0);
        layer->heads_kv =
            pli_model_layer_number(model, "%s.attention.head_count_kv", il, layer->heads);
        layer->feed_forward = pli_model_layer_number(model, "%s.feed_forward_length", il, 0);
        pli_layer_kind kind = pli_arch_layer(shape->arch, model, il);
        layer->attends = kind.attends;
        layer->recurrent = kind.recurrent;
        layer->slides = kind.slides;
        layer->cached = layer->attends && il < with_cache;
        if (layer->attends)
            set_widths(shape, calc, layer);
        shape->value_width_max = pli_larger(shape->value_width_max, layer->value_width);
        attend |= layer->attends;
        recur |= layer->recurrent;
    }
    shape->hybrid = attend && recur;
}

static bool flag_of(const pli_model *model, const char *key, bool otherwise)
{
    const pli_value *value = pli_model_value(model, key);
    return value && value->type == PLI_VALUE_BOOL ? value->as.u != 0 : otherwise;
}

static void set_scan(pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    pli_scan *scan = &shape->scan;
    scan->kernel = pli_model_number(model, "%s.ssm.conv_kernel", 0);
    scan->inner = pli_model_number(model, "%s.ssm.inner_size", 0);
    scan->state = pli_model_number(model, "%s.ssm.state_size", 0);
    scan->rank = pli_model_number(model, "%s.ssm.time_step_rank", 0);
    scan->groups = pli_model_number(model, "%s.ssm.group_count", 0);
    scan->normed = flag_of(model, "%s.ssm.dt_b_c_rms", false);
    uint64_t keys = pli_times(calc, pli_times(calc, 2, scan->groups), scan->state);
    shape->state_conv =
        pli_times(calc, pli_sub_sat(scan->kernel, 1), pli_plus(calc, scan->inner, keys));
    shape->state_scan = pli_times(calc, scan->state, scan->inner);
}

/* Layers attend, and of none the heads are known: what they cache is not, either. */
static bool lacks_heads(const pli_shape *shape)
{
    bool attend = false;
    for (uint64_t il = 0; il < shape->layers; il++) {
        if (shape->layer[il].heads)
            return false;
        attend |= shape->layer[il].attends;
    }
    return attend;
}

static void set_state(pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    switch (shape->arch->state) {
    case PLI_STATE_NONE:
        break;
    case PLI_STATE_SSM:
        set_scan(shape, calc);
        break;
    case PLI_STATE_WKV:
        shape->state_conv =
            pli_times(calc, shape->embedding,
                      pli_model_number(model, "%s.token_shift_count",
                                       shape->arch->flags & PLI_ARCH_ONE_SHIFT ? 1 : 2));
        shape->state_scan =
            pli_times(calc, shape->embedding, pli_model_number(model, "%s.wkv.head_size", 0));
        break;
    case PLI_STATE_SHORTCONV:
        shape->state_conv =
            pli_times(calc, shape->embedding,
                      pli_sub_sat(pli_model_number(model, "%s.shortconv.l_cache", 0), 1));
        break;
    }
}

static uint64_t vocabulary_of(const pli_model *model)
{
    const pli_tensor *embedding = pli_model_tensor(model, "token_embd.weight");
    if (PLIM_KNOWN(model, &model->pub, vocabulary))
        return model->pub.vocabulary;
    return pli_model_number(model, "%s.vocab_size",
                            embedding && embedding->dims == 2 ? embedding->shape[1] : 0);
}

/* Latent attention: heads are kept compressed, and a part that rotates beside them. */
static void set_latent(pli_shape *shape)
{
    const pli_model *model = shape->model;
    shape->rotary = pli_model_number(model, "%s.rope.dimension_count", shape->key_length);
    if (!pli_model_tensor(model, "blk.0.attn_q.weight"))
        shape->query_rank = pli_model_number(model, "%s.attention.q_lora_rank", 0);
    shape->latent_rank = pli_model_number(model, "%s.attention.kv_lora_rank", 0);
    shape->full_key_length =
        pli_model_number(model, "%s.attention.key_length_mla", shape->key_length);
    shape->full_value_length =
        pli_model_number(model, "%s.attention.value_length_mla", shape->value_length);
    shape->latent = (shape->arch->flags & PLI_ARCH_LATENT) &&
                    pli_model_number(model, "%s.attention.key_length_mla", 0);
}

static void set_experts(pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    shape->experts = pli_model_number(model, "%s.expert_count", 0);
    shape->experts_used =
        pli_smaller(pli_model_number(model, "%s.expert_used_count", 0), shape->experts);
    shape->expert_width =
        pli_model_number(model, "%s.expert_feed_forward_length",
                         pli_model_layer_number(model, "%s.feed_forward_length", 0, 0));
    shape->shared_width = pli_model_number(
        model, "%s.expert_shared_feed_forward_length",
        pli_times(calc, shape->expert_width, pli_model_number(model, "%s.expert_shared_count", 0)));
    shape->expert_groups = pli_model_number(model, "%s.expert_group_count", 0);
    shape->groups_used = pli_model_number(model, "%s.expert_group_used_count", 0);
    shape->dense_lead = pli_model_number(model, "%s.leading_dense_block_count", 0);
}

plim_status pli_shape_read(pli_arena *arena, const pli_model *model, plim_error *error,
                           pli_shape *shape)
{
    pli_calc calc = {false};
    *shape = (pli_shape){.model = model};
    pli_str name =
        PLIM_KNOWN(model, &model->pub, architecture) ? pli_s(model->pub.architecture) : pli_s("");
    shape->arch = pli_arch_find(name);
    shape->has_head =
        !(shape->arch->flags & PLI_ARCH_NO_CACHE) || (shape->arch->flags & PLI_ARCH_HAS_HEAD);
    shape->rotates = !(shape->arch->flags & PLI_ARCH_NO_POSITIONS) &&
                     (!(shape->arch->flags & PLI_ARCH_ROPE_SWITCH) ||
                      flag_of(model, "%s.rope.scaling.finetuned", true));
    shape->trained = pli_model_number(model, "%s.context_length", 0);
    shape->vocabulary = vocabulary_of(model);
    if (name.n == 0)
        shape->lacking = "general.architecture";
    else if (!pli_model_u64(model, "%s.block_count", &shape->layers))
        shape->lacking = "block_count";
    else if (!pli_model_u64(model, "%s.embedding_length", &shape->embedding))
        shape->lacking = "embedding_length";
    if (shape->lacking)
        return PLIM_OK;
    if (shape->layers > PLI_MAX_LAYERS)
        return pli_fail(error, PLIM_LIMIT, model->path, PLIM_NO_OFFSET,
                        "the header says %llu layers; at most %u are read",
                        (unsigned long long)shape->layers, PLI_MAX_LAYERS);
    shape->layer = pli_alloc_array(arena, shape->layers, sizeof *shape->layer);
    if (!shape->layer)
        return pli_fail(error, PLIM_NOMEM, model->path, PLIM_NO_OFFSET, "out of memory");
    shape->run_layers = shape->layers;
    if (shape->arch->flags & PLI_ARCH_NEXTN)
        shape->run_layers =
            pli_sub_sat(shape->layers, pli_model_number(model, "%s.nextn_predict_layers", 0));
    uint64_t heads = pli_model_layer_number(model, "%s.attention.head_count", 0, 0);
    shape->key_length =
        pli_model_number(model, "%s.attention.key_length", heads ? shape->embedding / heads : 0);
    shape->value_length =
        pli_model_number(model, "%s.attention.value_length", heads ? shape->embedding / heads : 0);
    set_latent(shape);
    shape->window = pli_arch_window(shape->arch, model);
    set_layers(shape, &calc);
    if (lacks_heads(shape))
        shape->lacking = "attention.head_count";
    set_state(shape, &calc);
    set_experts(shape, &calc);
    if (calc.overflow)
        return pli_fail(error, PLIM_LIMIT, model->path, PLIM_NO_OFFSET,
                        "the header's figures multiply to more than 2^64");
    if (pli_roles_read(arena, shape))
        return pli_fail(error, PLIM_NOMEM, model->path, PLIM_NO_OFFSET, "out of memory");
    return PLIM_OK;
}
