/* What engines of llama.cpp's kin, and llama.cpp of old, cache of a model differently. */
#include "../base/status.h"
#include "setup.h"

/* Before May 2025, and in ik_llama.cpp, sliding layers keep the whole context. */
static void forget_windows(pli_shape *shape)
{
    shape->window = 0;
    for (uint64_t il = 0; il < shape->layers; il++)
        shape->layer[il].slides = false;
}

static void cache_all(pli_shape *shape)
{
    shape->run_layers = shape->layers;
    for (uint64_t il = 0; il < shape->layers; il++)
        shape->layer[il].cached = shape->layer[il].attends;
}

static void set_widths(pli_shape *shape, uint64_t key, uint64_t value)
{
    shape->value_width_max = value;
    for (uint64_t il = 0; il < shape->layers; il++) {
        shape->layer[il].key_width = key;
        shape->layer[il].value_width = value;
        shape->layer[il].index_key = shape->layer[il].index_value = 0; /* it attends to all */
    }
}

/* ik_llama.cpp's -mla: 0 caches whole keys and values of every head; 1 the latent row, and a
 * transposed copy of it in front of flash attention; 2 and 3 the latent row alone. */
static bool set_latent(pli_shape *shape, uint64_t mode, bool flash)
{
    const pli_model *model = shape->model;
    uint64_t heads = shape->layers ? shape->layer[0].heads : 0;
    uint64_t rank = pli_model_number(model, "%s.attention.kv_lora_rank", 0);
    uint64_t rotated = pli_model_number(model, "%s.rope.dimension_count", 0);
    uint64_t key = pli_model_number(model, "%s.attention.key_length_mla", shape->key_length);
    uint64_t value = pli_model_number(model, "%s.attention.value_length_mla", shape->value_length);
    pli_calc calc = {false};
    if (rank == 0)
        return true;
    if (mode == 0) {
        shape->latent = false;
        shape->key_length = key;
        shape->value_length = value;
        set_widths(shape, pli_times(&calc, key, heads), pli_times(&calc, value, heads));
    } else {
        shape->latent = true;
        shape->key_length = pli_plus(&calc, rank, rotated);
        set_widths(shape, shape->key_length, mode == 1 && !flash ? rank : 0);
    }
    return !calc.overflow;
}

plim_status pli_shape_for_engine(pli_shape *shape, const plim_fit_options *options,
                                 plim_error *error)
{
    const pli_generation *generation = pli_generation_find(options->engine);
    uint64_t mode = options->latent_attention < 0 ? 3 : (uint64_t)options->latent_attention;
    if (!generation || shape->lacking)
        return PLIM_OK; /* said by pli_setup_read() */
    if (options->latent_attention >= 0 && !(generation->flags & PLI_GEN_MLA_OPTION))
        return pli_fail(error, PLIM_INVALID, "-mla", PLIM_NO_OFFSET,
                        "an option of ik_llama.cpp (--engine ik_llama.cpp)");
    if (mode > 3)
        return pli_fail(error, PLIM_INVALID, "-mla", PLIM_NO_OFFSET, "must be 0, 1, 2 or 3");
    if (generation->flags & PLI_GEN_NO_WINDOW)
        forget_windows(shape);
    if (generation->flags & PLI_GEN_NEXTN_CACHED)
        cache_all(shape);
    if ((generation->flags & PLI_GEN_MLA_OPTION) && (shape->arch->flags & PLI_ARCH_LATENT) &&
        !set_latent(shape, mode, options->flash_attention == PLIM_ON))
        return pli_fail(error, PLIM_LIMIT, shape->model->path, PLIM_NO_OFFSET,
                        "the header's figures multiply to more than 2^64");
    return PLIM_OK;
}
