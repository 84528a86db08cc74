/* Speculative decoding: a small model proposes tokens, or heads of the model itself do. The draft
 * has a context as long as the model's, on the same batch. */
#include <string.h>

#include "../base/status.h"
#include "../model/purpose.h"
#include "agree.h"
#include "extras.h"
#include "graph.h"
#include "roles.h"

static plim_status refuse(plim_error *error, const char *flag, const char *why)
{
    return pli_fail(error, PLIM_INVALID, flag, PLIM_NO_OFFSET, "%s", why);
}

/* -devd CUDA1,CUDA0 or none; without it all devices. */
static plim_status read_devices(const pli_sites *sites, const char *devices, plim_error *error,
                                pli_draft *draft)
{
    char name[32];
    pli_str rest = pli_s(devices), part;
    size_t site;
    draft->devices = devices;
    for (size_t i = 0; !devices && i < sites->devices; i++)
        draft->chosen[i] = true;
    if (!devices || pli_eq(rest, "none"))
        return PLIM_OK;
    while (pli_next_part(&rest, ',', &part)) {
        (void)pli_clean(part, name, sizeof name);
        if (!pli_sites_by_buffer(sites, name, &site) || site == sites->devices)
            return pli_fail(error, PLIM_INVALID, "-devd", PLIM_NO_OFFSET,
                            "this machine has no device %s", name);
        draft->chosen[site] = true;
    }
    return PLIM_OK;
}

static plim_status read_types(const plim_fit_options *options, plim_error *error, pli_draft *draft)
{
    draft->type_k = pli_cache_type(options->draft_kv_type_k);
    draft->type_v = pli_cache_type(options->draft_kv_type_v);
    if (!draft->type_k || !draft->type_v)
        return refuse(error, draft->type_k ? "-ctvd" : "-ctkd", "is no type of a cache");
    if (draft->shape.key_length % draft->type_k->block_elements)
        return refuse(error, "-ctkd", "the draft's heads are no whole blocks of this type");
    if (!draft->shape.latent && draft->shape.value_length % draft->type_v->block_elements)
        return refuse(error, "-ctvd", "the draft's heads are no whole blocks of this type");
    return PLIM_OK;
}

/* A layer of its own heads attends like the model's attending layers. */
static plim_status take_heads(pli_arena *arena, const pli_shape *shape, pli_draft *draft)
{
    uint64_t count = shape->layers - shape->run_layers;
    const pli_layer *like = NULL;
    for (uint64_t il = 0; il < shape->run_layers; il++)
        if (shape->layer[il].cached && !shape->layer[il].slides)
            like = &shape->layer[il];
    pli_layer *layer = pli_alloc_array(arena, count, sizeof *layer);
    pli_role *role = pli_alloc_array(arena, shape->model->tensor_count, sizeof *role);
    if (!layer || !role)
        return PLIM_NOMEM;
    for (uint64_t il = 0; il < count; il++) {
        layer[il] = like ? *like : shape->layer[shape->run_layers + il];
        layer[il].attends = layer[il].cached = true;
        layer[il].recurrent = layer[il].slides = false;
        layer[il].index_key = layer[il].index_value = layer[il].ratio = 0;
        memset(layer[il].state, 0, sizeof layer[il].state);
    }
    for (size_t i = 0; i < shape->model->tensor_count; i++) {
        role[i] = shape->role[i];
        bool own = role[i].place == PLI_NOT_LOADED && role[i].layer >= shape->run_layers &&
                   role[i].layer < shape->layers;
        role[i].place = own ? PLI_AT_LAYER : PLI_NOT_LOADED;
        role[i].layer = own ? role[i].layer - (uint32_t)shape->run_layers : 0;
    }
    draft->shape = *shape;
    draft->shape.graph = NULL;
    draft->shape.layer = layer;
    draft->shape.role = role;
    draft->shape.layers = draft->shape.run_layers = count;
    draft->shape.window = 0;
    draft->shape.hybrid = false;
    draft->own = true;
    return PLIM_OK;
}

static plim_status take_model(pli_arena *arena, const pli_shape *shape, const pli_model *model,
                              plim_error *error, pli_draft *draft)
{
    pli_purpose purpose = pli_model_purpose(model);
    if (purpose != PLI_IS_MODEL)
        return pli_fail(error, PLIM_INVALID, "-md", PLIM_NO_OFFSET, "this file is %s: %s",
                        pli_purpose_what(purpose), pli_purpose_where(purpose));
    plim_status status = pli_shape_read(arena, model, error, &draft->shape);
    if (!status)
        status = pli_shape_agrees(&draft->shape, error);
    if (status)
        return status;
    if (draft->shape.lacking)
        return pli_fail(error, PLIM_INVALID, "-md", PLIM_NO_OFFSET,
                        "the draft model does not tell its %s", draft->shape.lacking);
    if (draft->shape.vocabulary && shape->vocabulary &&
        (draft->shape.vocabulary > shape->vocabulary
             ? draft->shape.vocabulary - shape->vocabulary
             : shape->vocabulary - draft->shape.vocabulary) > 128)
        return pli_fail(error, PLIM_INVALID, "-md", PLIM_NO_OFFSET,
                        "a vocabulary of %llu tokens cannot draft for one of %llu",
                        (unsigned long long)draft->shape.vocabulary,
                        (unsigned long long)shape->vocabulary);
    draft->shape.graph = pli_graph_new(arena);
    return PLIM_OK;
}

plim_status pli_draft_read(pli_arena *arena, const pli_shape *shape, const pli_sites *sites,
                           const plim_fit_options *options, plim_error *error,
                           const pli_draft **out)
{
    if (!options->draft && !options->own_draft)
        return PLIM_OK;
    if (options->draft && options->own_draft)
        return refuse(error, "--spec-type", "either a draft model or the model's own heads");
    if (!options->draft && shape->layers == shape->run_layers)
        return refuse(error, "--spec-type",
                      "this model has no next-token heads of its own (nextn_predict_layers)");
    pli_draft *draft = pli_alloc(arena, sizeof *draft);
    if (!draft)
        return PLIM_NOMEM;
    plim_status status = options->draft
                             ? take_model(arena, shape, pli_model_of(options->draft), error, draft)
                             : take_heads(arena, shape, draft);
    if (!status)
        status = read_devices(sites, options->draft_devices, error, draft);
    if (!status)
        status = read_types(options, error, draft);
    draft->gpu_layers = draft->shape.layers + 1;
    if (options->draft_gpu_layers >= 0)
        draft->gpu_layers = pli_smaller((uint64_t)options->draft_gpu_layers, draft->gpu_layers);
    *out = draft;
    return status;
}

bool pli_draft_rolls_back(const pli_draft *draft)
{
    /* llama-arch.cpp: llm_arch_supports_rs_rollback */
    static const char *const able[] = {"qwen35",    "qwen35moe",      "qwen4exp", "nemotron_h",
                                       "lfm2",      "nemotron_h_moe", "lfm2moe",  "deepseek4",
                                       "glm5-next", "bailingmoe3",    "kimi-k3"};
    for (size_t i = 0; draft->own && i < sizeof able / sizeof *able; i++)
        if (strcmp(draft->shape.arch->name, able[i]) == 0)
            return true;
    return false;
}

/* ---- placing --------------------------------------------------------------------------------- */

/* The devices that the draft may use, as a machine of its own: what the model took of them is no
 * longer free, which decides how layers are split. */
static void choose_sites(const pli_draft *draft, const pli_shape *shape, const pli_sites *sites,
                         const pli_plan *plan, pli_sites *out, size_t to[PLI_MAX_SITES])
{
    /* Its own heads stand behind the model's last layer. */
    size_t last = draft->own ? pli_layer_site(plan, sites, shape->run_layers) : 0;
    memset(out, 0, sizeof *out);
    out->repacks = sites->repacks;
    for (size_t i = 0; i < sites->devices; i++) {
        bool used = draft->own ? i == last : draft->chosen[i];
        if (!used)
            continue;
        to[out->devices] = i;
        out->at[out->devices] = sites->at[i];
        const pli_share *load = &plan->at[i];
        uint64_t taken = pli_add_sat(pli_add_sat(load->weights, load->kv),
                                     pli_add_sat(load->state, load->compute));
        out->at[out->devices].free = pli_sub_sat(sites->at[i].free, taken);
        out->devices++;
    }
    to[out->devices] = sites->devices;
    out->at[out->devices] = sites->at[sites->devices];
}

void pli_draft_place(pli_calc *calc, const pli_draft *draft, const pli_shape *shape,
                     const pli_setup *setup, const pli_sites *sites, const pli_plan *plan,
                     pli_plan *out, size_t to[PLI_MAX_SITES], size_t *count)
{
    pli_sites own;
    pli_setup with = *setup;
    choose_sites(draft, shape, sites, plan, &own, to);
    with.extras = NULL;
    with.drafted = with.rollback = with.outputs = 0;
    with.type_k = draft->type_k;
    with.type_v = draft->type_v;
    with.gpu_layers = own.devices ? draft->gpu_layers : 0;
    with.overrides = NULL;
    with.override_count = 0;
    with.overrides_text = NULL;
    with.host_experts = 0;
    with.taken = NULL;
    with.main_gpu = 0;
    if (draft->own || own.devices < sites->devices)
        with.shares = NULL;
    if (pli_place_weights(&draft->shape, &with, &own, out) ||
        pli_place_context(&draft->shape, &with, &own, out))
        calc->overflow = true;
    *count = own.devices + 1;
}
