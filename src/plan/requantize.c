#include "requantize.h"

#include <string.h>

#include "graph.h"

#define MOST_TENSORS 50000u /* ten times what any model has; each is looked at in each mixture */

/* A copy whose tensors may get other types; metadata and names are the model's own. */
static pli_model *copy_of(pli_arena *arena, const pli_model *model)
{
    pli_model *copy = pli_alloc(arena, sizeof *copy);
    pli_tensor *tensors = pli_alloc_array(arena, model->tensor_count, sizeof *tensors);
    const pli_tensor **by_name = pli_alloc_array(arena, model->tensor_count, sizeof *by_name);
    if (!copy || !tensors || !by_name)
        return NULL;
    *copy = *model;
    copy->arena = arena;
    copy->tensors = tensors;
    copy->by_name = by_name;
    copy->roles = NULL;
    for (size_t i = 0; i < model->tensor_count; i++) {
        tensors[i] = model->tensors[i];
        by_name[i] = &tensors[model->by_name[i] - model->tensors];
    }
    return copy;
}

/* Only a GGUF whose whole table is known can be counted anew. */
static bool is_whole(const pli_model *model)
{
    if (model->partial || model->tensor_count > MOST_TENSORS ||
        strcmp(model->pub.format, "gguf") != 0 || !model->by_name)
        return false;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (!model->tensors[i].bytes_known || !model->tensors[i].shape[0])
            return false;
    return model->tensor_count > 0;
}

static uint64_t bytes_of(const pli_model *model)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        bytes = pli_add_sat(bytes, model->tensors[i].bytes);
    return bytes;
}

static bool try_mixture(const pli_case *base, const pli_mixture *mixture, pli_model *copy,
                        pli_requantized *out)
{
    pli_case other = *base;
    pli_mixture_apply(mixture, false, copy);
    out->mixture = mixture;
    out->tensor_bytes = bytes_of(copy);
    if (out->tensor_bytes >= bytes_of(base->shape->model) ||
        pli_shape_read(base->arena, copy, NULL, &out->shape) != PLIM_OK)
        return false;
    out->shape.graph = pli_graph_new(base->arena);
    other.shape = &out->shape;
    return pli_try(&other, base->setup, &out->plan, &out->verdict) &&
           out->verdict.utilization_known && out->verdict.mark < base->verdict->mark;
}

bool pli_requantize(const pli_case *base, pli_requantized *out)
{
    const pli_mixture *mixture, *second = NULL;
    pli_model *copy =
        is_whole(base->shape->model) ? copy_of(base->arena, base->shape->model) : NULL;
    for (size_t i = 0; copy && (mixture = pli_mixture_at(i)) != NULL; i++) {
        if (!mixture->usual || !try_mixture(base, mixture, copy, out))
            continue;
        if (out->verdict.mark == PLI_PASSED)
            return true;
        second = second ? second : mixture;
    }
    return second && try_mixture(base, second, copy, out);
}
