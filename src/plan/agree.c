#include "agree.h"

#include <inttypes.h>

#include "../base/status.h"
#include "roles.h"

/* The highest layer that a tensor names, counted from 1. */
static uint64_t layers_of_tensors(const pli_model *model, const pli_tensor **of)
{
    uint64_t most = 0, layer;
    for (size_t i = 0; i < model->tensor_count; i++) {
        pli_str name = pli_s(model->tensors[i].name);
        if (!pli_starts(name, "blk."))
            continue;
        name = pli_skip(name, 4);
        if (pli_parse_u64_prefix(&name, &layer) && layer >= most && layer < UINT32_MAX) {
            most = layer + 1;
            *of = &model->tensors[i];
        }
    }
    return most;
}

static plim_status check_rows(const pli_shape *shape, uint64_t il, const char *name, uint64_t rows,
                              plim_error *error)
{
    const pli_tensor *tensor = pli_layer_tensor(shape, il, name, "weight");
    if (!tensor || tensor->dims != 2 || tensor->shape[1] == rows)
        return PLIM_OK;
    return pli_fail(error, PLIM_PARSE, shape->model->path, tensor->at,
                    "the header's heads make %" PRIu64 " rows of %.80s, which has %" PRIu64, rows,
                    tensor->name, tensor->shape[1]);
}

/* Keys and values have a row for each element that a token's cache holds. */
static plim_status check_heads(const pli_shape *shape, plim_error *error)
{
    plim_status status = PLIM_OK;
    for (uint64_t il = 0; il < shape->run_layers && !status; il++) {
        const pli_layer *layer = &shape->layer[il];
        if (!layer->attends || shape->latent || (shape->arch->flags & PLI_ARCH_COMPRESSED))
            continue;
        status = check_rows(shape, il, "attn_k", layer->key_width, error);
        if (!status)
            status = check_rows(shape, il, "attn_v", layer->value_width, error);
    }
    return status;
}

plim_status pli_shape_agrees(const pli_shape *shape, plim_error *error)
{
    const pli_model *model = shape->model;
    const pli_tensor *last = NULL;
    if (shape->lacking || (shape->arch->flags & PLI_ARCH_UNKNOWN))
        return PLIM_OK;
    uint64_t named = layers_of_tensors(model, &last);
    uint64_t heads = pli_model_number(model, "%s.nextn_predict_layers", 0);
    if (named > shape->layers)
        return pli_fail(error, PLIM_PARSE, model->path, last->at,
                        "the header counts %" PRIu64 " layers, and %.80s is of another",
                        shape->layers, last->name);
    if (heads > shape->layers)
        return pli_fail(error, PLIM_PARSE, model->path, PLIM_NO_OFFSET,
                        "the header counts %" PRIu64 " layers, and %" PRIu64
                        " of them for further tokens",
                        shape->layers, heads);
    return check_heads(shape, error);
}
