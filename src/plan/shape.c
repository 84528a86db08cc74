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
    if (!shape->latent && !(shape->arch->flags & PLI_ARCH_COMPRESSED))
        layer->value_width = pli_times(calc, value, layer->heads_kv);
}

/* An indexer keeps one key a token, and with it a value that nobody reads where the cache is not
 * one of keys alone. */
static void set_index(const pli_shape *shape, pli_calc *calc, pli_layer *layer)
{
    const pli_model *model = shape->model;
    bool keys_only = shape->latent || shape->arch->layers != PLI_LAYERS_ATTENTION ||
                     (shape->arch->flags & PLI_ARCH_COMPRESSED);
    bool pools = pli_model_number(model, "%s.attention.indexer.kpool", 0) != 0;
    layer->index_key = pli_times(calc, pools ? 3 : 1,
                                 pli_model_number(model, "%s.attention.indexer.key_length", 0));
    layer->index_value = keys_only ? 0 : shape->value_length;
}

/* Heads of a layer; a router has one. */
static void set_heads(const pli_shape *shape, uint64_t il, pli_layer *layer)
{
    const pli_model *model = shape->model;
    uint64_t block;
    layer->heads = layer->heads_kv = 1;
    if (!pli_arch_block(shape->arch, model, il, &block))
        return;
    layer->heads = pli_model_layer_number(model, "%s.attention.head_count", block, 0);
    layer->heads_kv =
        pli_model_layer_number(model, "%s.attention.head_count_kv", block, layer->heads);
    layer->feed_forward = pli_model_layer_number(model, "%s.feed_forward_length", block, 0);
}

static void set_layers(pli_shape *shape, pli_calc *calc)
{
    uint64_t flags = shape->arch->flags;
    bool attend = false, recur = false;
    for (uint64_t il = 0; il < shape->layers; il++) {
        pli_layer *layer = &shape->layer[il];
        pli_layer_kind kind = pli_arch_layer(shape->arch, shape->model, il);
        set_heads(shape, il, layer);
        layer->attends = kind.attends;
        layer->recurrent = kind.recurrent;
        layer->slides = kind.slides;
        layer->ratio = kind.ratio;
        layer->cached = kind.attends && !kind.shares && !(flags & PLI_ARCH_NO_CACHE) &&
                        (!kind.predicts || (flags & PLI_ARCH_NEXTN_CACHED));
        if (layer->attends)
            set_widths(shape, calc, layer);
        if (kind.indexed || kind.ratio == 4)
            set_index(shape, calc, layer);
        shape->value_width_max = pli_larger(shape->value_width_max, layer->value_width);
        attend |= layer->attends;
        recur |= layer->recurrent;
    }
    shape->hybrid = attend && recur;
}

/* ---- what a layer keeps of a sequence -------------------------------------------------------- */

static void set_scan(pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    pli_scan *scan = &shape->scan;
    scan->kernel = pli_model_number(model, "%s.ssm.conv_kernel", 0);
    scan->inner = pli_model_number(model, "%s.ssm.inner_size", 0);
    scan->state = pli_model_number(model, "%s.ssm.state_size", 0);
    scan->rank = pli_model_number(model, "%s.ssm.time_step_rank", 0);
    scan->groups = pli_model_number(model, "%s.ssm.group_count", 0);
    scan->normed = pli_model_flag(model, "%s.ssm.dt_b_c_rms", false);
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

/* Delta attention keeps a convolution each for queries, keys and values, and a square a head. */
static void set_delta(pli_shape *shape, pli_calc *calc, uint64_t head)
{
    uint64_t kernel = pli_model_number(shape->model, "%s.ssm.conv_kernel", 4);
    uint64_t heads = pli_model_layer_number(shape->model, "%s.attention.head_count", 0, 0);
    uint64_t width = pli_times(calc, heads, head);
    shape->state_conv = pli_times(calc, pli_times(calc, 3, pli_sub_sat(kernel, 1)), width);
    shape->state_scan = pli_times(calc, head, width);
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
    case PLI_STATE_KDA:
        set_delta(shape, calc, pli_model_number(model, "%s.kda.head_dim", 0));
        break;
    case PLI_STATE_LINEAR:
        set_delta(shape, calc, shape->key_length);
        shape->state_conv = 0;
        break;
    }
}

/* N-gram embeddings: rows of all streams of the residual for each token that the kernel reaches. */
static uint64_t history_of(const pli_shape *shape, pli_calc *calc)
{
    const pli_model *model = shape->model;
    uint64_t rows =
        pli_times(calc, pli_sub_sat(pli_model_number(model, "%s.ple.conv_kernel", 0), 1),
                  pli_model_number(model, "%s.ple.ngram_size", 0));
    uint64_t streams = pli_model_number(model, "%s.hyper_connection.count", 0);
    return pli_times(calc, rows, pli_times(calc, streams, shape->embedding));
}

/* DeepSeek-V4: the tokens that are not a full group yet, with their scores; groups of four
 * overlap. */
static void set_groups(const pli_shape *shape, pli_calc *calc, pli_layer *layer)
{
    uint64_t rows = layer->ratio == 4 ? 2 * 2 * 4 : layer->ratio;
    layer->state[0] = layer->state[1] = pli_times(calc, rows, shape->layer[0].key_length);
    if (layer->ratio == 4)
        layer->state[2] = layer->state[3] = pli_times(calc, rows, layer->index_key);
}

static void set_states(pli_shape *shape, pli_calc *calc)
{
    set_state(shape, calc);
    for (uint64_t il = 0; il < shape->run_layers; il++) {
        pli_layer *layer = &shape->layer[il];
        if (layer->recurrent) {
            layer->state[0] = shape->state_conv;
            layer->state[1] = shape->state_scan;
            if (pli_arch_layer(shape->arch, shape->model, il).remembers)
                layer->state[2] = history_of(shape, calc);
        } else if (layer->ratio == 4 || layer->ratio == 128) {
            set_groups(shape, calc, layer);
        }
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

/* What no layer has, need not be looked for in each. */
static void set_kinds(pli_shape *shape)
{
    for (uint64_t il = 0; il < shape->layers; il++) {
        const pli_layer *layer = &shape->layer[il];
        shape->any_slides |= layer->slides;
        shape->any_index |= layer->index_key != 0;
        shape->any_ratio |= layer->ratio != 0;
        for (size_t i = 0; i < PLI_STATE_TENSORS; i++)
            shape->any_state |= layer->state[i] != 0;
    }
}

/* "blk.0.ffn_up.scale", "blk.0.ffn_up.input_scale" */
static bool has_scales(const pli_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        pli_str name = pli_s(model->tensors[i].name);
        if (pli_ends(name, ".scale") || pli_ends(name, ".input_scale"))
            return true;
    }
    return false;
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
                      pli_model_flag(model, "%s.rope.scaling.finetuned", true));
    shape->scaled = has_scales(model);
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
    shape->layers = pli_arch_layers(shape->arch, model);
    if (shape->layers > PLI_MAX_PLAN_LAYERS)
        return pli_fail(error, PLIM_LIMIT, model->path, PLIM_NO_OFFSET,
                        "the header says %llu layers; the engine loads at most %u",
                        (unsigned long long)shape->layers, PLI_MAX_PLAN_LAYERS);
    shape->layer = pli_alloc_array(arena, shape->layers, sizeof *shape->layer);
    if (!shape->layer)
        return pli_fail(error, PLIM_NOMEM, model->path, PLIM_NO_OFFSET, "out of memory");
    shape->run_layers = pli_arch_trunk(shape->arch, model);
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
    set_states(shape, &calc);
    set_kinds(shape);
    set_experts(shape, &calc);
    if (calc.overflow)
        return pli_fail(error, PLIM_LIMIT, model->path, PLIM_NO_OFFSET,
                        "the header's figures multiply to more than 2^64");
    if (pli_roles_read(arena, shape))
        return pli_fail(error, PLIM_NOMEM, model->path, PLIM_NO_OFFSET, "out of memory");
    return PLIM_OK;
}
