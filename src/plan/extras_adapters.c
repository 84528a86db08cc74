/* LoRA adapters and control vectors. Each half of an adapter lies where the tensor is that it
 * changes; a control vector has a row for every layer but the first, where the layer is. */
#include <string.h>

#include "../base/limits.h"
#include "../base/status.h"
#include "../model/purpose.h"
#include "compute.h"
#include "extras.h"
#include "roles.h"

static plim_status check(const pli_model *model, pli_purpose wanted, const char *flag,
                         plim_error *error)
{
    pli_purpose is = pli_model_purpose(model);
    if (is == wanted)
        return PLIM_OK;
    return pli_fail(error, PLIM_INVALID, flag, PLIM_NO_OFFSET, "%s is %s, not %s: %s", model->path,
                    pli_purpose_what(is), pli_purpose_what(wanted), pli_purpose_where(is));
}

/* "blk.0.attn_q.weight.lora_a" changes "blk.0.attn_q.weight"; norms are left out by the engine. */
static plim_status find_base(const pli_shape *shape, const pli_tensor *tensor, plim_error *error,
                             uint32_t *base)
{
    char name[PLI_MAX_TENSOR_NAME];
    pli_str text = pli_s(tensor->name);
    *base = PLI_NO_BASE;
    if (pli_ends(text, "_norm.weight"))
        return PLIM_OK;
    if ((!pli_ends(text, ".lora_a") && !pli_ends(text, ".lora_b")) || text.n - 7 >= sizeof name)
        return pli_fail(error, PLIM_INVALID, "--lora", PLIM_NO_OFFSET,
                        "the tensor %.80s is no half of an adapter", tensor->name);
    memcpy(name, text.p, text.n - 7);
    name[text.n - 7] = '\0';
    const pli_tensor *found = pli_model_tensor(shape->model, name);
    if (!found)
        return pli_fail(error, PLIM_INVALID, "--lora", PLIM_NO_OFFSET,
                        "it changes %.80s, which this model does not have: is it of another model?",
                        name);
    /* Halves of the embeddings are turned round. */
    bool turned = strcmp(name, "token_embd.weight") == 0, first = pli_ends(text, ".lora_a");
    uint64_t outer = tensor->shape[first && !turned ? 0 : 1];
    if (outer != found->shape[turned ? (first ? 1 : 0) : (first ? 0 : 1)])
        return pli_fail(error, PLIM_INVALID, "--lora", PLIM_NO_OFFSET,
                        "%.80s has not the shape that it changes: is it of another model?",
                        tensor->name);
    *base = (uint32_t)(found - shape->model->tensors);
    return PLIM_OK;
}

static plim_status read_adapter(pli_arena *arena, const pli_shape *shape, const pli_model *model,
                                plim_error *error, pli_adapter *out)
{
    pli_str theirs = {0}, ours = {0};
    uint32_t *base = pli_alloc_array(arena, model->tensor_count, sizeof *base);
    plim_status status = check(model, PLI_IS_ADAPTER, "--lora", error);
    if (status || !base)
        return status ? status : PLIM_NOMEM;
    if (pli_model_str(model, "general.architecture", &theirs) &&
        pli_model_str(shape->model, "general.architecture", &ours) && !pli_same(theirs, ours))
        return pli_fail(error, PLIM_INVALID, "--lora", PLIM_NO_OFFSET,
                        "the adapter is of another architecture than the model");
    for (size_t i = 0; i < model->tensor_count && !status; i++)
        status = find_base(shape, &model->tensors[i], error, &base[i]);
    *out = (pli_adapter){model, base};
    return status;
}

static plim_status read_control(const pli_shape *shape, const pli_model *model, plim_error *error)
{
    plim_status status = check(model, PLI_IS_CONTROL_VECTOR, "--control-vector", error);
    for (size_t i = 0; i < model->tensor_count && !status; i++)
        if (model->tensors[i].shape[0] != shape->embedding)
            status = pli_fail(error, PLIM_INVALID, "--control-vector", PLIM_NO_OFFSET,
                              "rows of %llu for a model of %llu: is it of another model?",
                              (unsigned long long)model->tensors[i].shape[0],
                              (unsigned long long)shape->embedding);
    return status;
}

plim_status pli_adapters_read(pli_arena *arena, const pli_shape *shape,
                              const plim_fit_options *options, plim_error *error,
                              pli_extras *extras)
{
    size_t count = 0;
    plim_status status = PLIM_OK;
    while (options->adapters && options->adapters[count])
        count++;
    size_t controls = 0;
    while (options->control_vectors && options->control_vectors[controls])
        controls++;
    pli_adapter *adapters = pli_alloc_array(arena, count, sizeof *adapters);
    const pli_model **vectors = pli_alloc_array(arena, controls, sizeof *vectors);
    if (!adapters || !vectors)
        return PLIM_NOMEM;
    for (size_t i = 0; i < count && !status; i++)
        status =
            read_adapter(arena, shape, pli_model_of(options->adapters[i]), error, &adapters[i]);
    for (size_t i = 0; i < controls && !status; i++) {
        vectors[i] = pli_model_of(options->control_vectors[i]);
        status = read_control(shape, vectors[i], error);
    }
    extras->controls = vectors;
    extras->control_count = controls;
    extras->adapters = adapters;
    extras->adapter_count = count;
    return status;
}

/* ---- placing --------------------------------------------------------------------------------- */

static size_t site_of(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                      const pli_plan *plan, size_t tensor)
{
    const pli_role *role = &shape->role[tensor];
    size_t site = role->place == PLI_AT_LAYER    ? pli_layer_site(plan, sites, role->layer)
                  : role->place == PLI_AT_OUTPUT ? plan->output_site
                  : role->place == PLI_AT_FIRST  ? pli_layer_site(plan, sites, 0)
                                                 : sites->devices;
    return pli_overridden(setup, tensor, site);
}

/* Both products of an adapted matrix live beside the matrix's own, one matrix at a time. */
static uint64_t beside(pli_calc *calc, const pli_adapter *adapter, size_t i, uint64_t tokens)
{
    const pli_tensor *tensor = &adapter->model->tensors[i];
    if (!pli_ends(pli_s(tensor->name), ".lora_b"))
        return 0;
    uint64_t elements = pli_plus(calc, tensor->shape[0], tensor->shape[1]);
    return pli_times(calc, pli_times(calc, elements, tokens), sizeof(float));
}

static void place_adapter(pli_calc *calc, const pli_adapter *adapter, const pli_shape *shape,
                          const pli_setup *setup, const pli_sites *sites, pli_plan *plan)
{
    uint64_t widest[PLI_MAX_SITES] = {0};
    for (size_t i = 0; i < adapter->model->tensor_count; i++) {
        const pli_tensor *tensor = &adapter->model->tensors[i];
        if (adapter->base[i] == PLI_NO_BASE)
            continue;
        size_t site = site_of(shape, setup, sites, plan, adapter->base[i]);
        uint64_t bytes = pli_allocated(calc, sites->at[site].backend, pli_quant_at(tensor->type),
                                       tensor->shape[0], tensor->bytes);
        bool head = shape->role[adapter->base[i]].place == PLI_AT_OUTPUT;
        uint64_t rows = head ? pli_output_rows(setup) : pli_graph_tokens(setup);
        plan->at[site].adapters = pli_plus(calc, plan->at[site].adapters, bytes);
        widest[site] = pli_larger(widest[site], beside(calc, adapter, i, rows));
    }
    for (size_t i = 0; i <= sites->devices; i++)
        plan->at[i].adapters = pli_plus(calc, plan->at[i].adapters, widest[i]);
}

void pli_adapters_place(pli_calc *calc, const pli_extras *extras, const pli_shape *shape,
                        const pli_setup *setup, const pli_sites *sites, pli_plan *plan)
{
    for (size_t i = 0; i < extras->adapter_count; i++)
        place_adapter(calc, &extras->adapters[i], shape, setup, sites, plan);
    uint64_t row = pli_times(calc, shape->embedding, sizeof(float));
    for (uint64_t il = 1; extras->control_count && il < shape->run_layers; il++) {
        size_t site = pli_layer_site(plan, sites, il);
        uint64_t bytes = pli_padded(calc, row, sites->at[site].backend->alignment);
        plan->at[site].adapters = pli_plus(calc, plan->at[site].adapters, bytes);
    }
}
