#include "advice.h"

#include <string.h>

#include "roles.h"

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct change {
    pli_setup setup;
    const char *flags, *text;
} change;

/* Each makes the change in c->setup and names it, or says that it does not apply. */
typedef bool change_fn(const pli_case *base, change *c);

static bool has_cache(const pli_case *base)
{
    return base->plan->cache_count > 0;
}

static bool use_flash(const pli_case *base, change *c)
{
    if (base->setup->flash || !has_cache(base))
        return false;
    c->setup.flash = true;
    c->flags = "-fa on";
    c->text = "flash attention: no score matrix of the whole context";
    return true;
}

static bool use_window(const pli_case *base, change *c)
{
    if (!base->setup->swa_full || !base->shape->window)
        return false;
    c->setup.swa_full = false;
    c->flags = "without --swa-full";
    c->text = "sliding layers keep their window only";
    return true;
}

static bool set_cache_types(const pli_case *base, change *c, const char *name)
{
    const pli_quant *type = pli_quant_by_name(pli_s(name));
    const pli_setup *setup = base->setup;
    uint64_t value = base->shape->latent ? 0 : base->shape->value_length;
    if (!type || !has_cache(base) || base->shape->key_length % type->block_elements ||
        value % type->block_elements || setup->type_k->block_elements > 1 ||
        setup->type_v->block_elements > 1)
        return false;
    c->setup.type_k = c->setup.type_v = type;
    c->setup.flash = true;
    return true;
}

static bool use_q8_cache(const pli_case *base, change *c)
{
    c->flags = base->setup->flash ? "-ctk q8_0 -ctv q8_0" : "-fa on -ctk q8_0 -ctv q8_0";
    c->text = "an 8-bit cache: 53 % of its size, hardly any loss";
    return set_cache_types(base, c, "q8_0");
}

static bool use_q4_cache(const pli_case *base, change *c)
{
    c->flags = base->setup->flash ? "-ctk q4_0 -ctv q4_0" : "-fa on -ctk q4_0 -ctv q4_0";
    c->text = "a 4-bit cache: 28 % of its size, at some loss";
    return set_cache_types(base, c, "q4_0");
}

static bool use_one_slot(const pli_case *base, change *c)
{
    if (base->setup->sequences == 1 || (!base->plan->state_layers && !base->shape->window))
        return false;
    c->setup.sequences = 1;
    c->flags = "-np 1";
    c->text = "one conversation at a time";
    return pli_setup_context(&c->setup, base->setup->context, NULL) == PLIM_OK;
}

static bool use_small_batch(const pli_case *base, change *c)
{
    if (base->setup->ubatch <= 256)
        return false;
    c->setup.ubatch_asked = 256;
    c->flags = "-ub 256";
    c->text = "smaller batches: smaller buffers, slower prompts";
    return pli_setup_context(&c->setup, base->setup->context, NULL) == PLIM_OK;
}

static bool use_context(const pli_case *base, change *c)
{
    if (!base->max_context || base->max_context >= base->setup->context)
        return false;
    c->flags = pli_printf(base->arena, "-c %llu", (unsigned long long)base->max_context);
    c->text = "the largest context that stays under the line";
    c->setup.context_given = true;
    return pli_setup_context(&c->setup, base->max_context, NULL) == PLIM_OK;
}

static bool use_q8_context(const pli_case *base, change *c)
{
    pli_plan plan = *base->plan;
    uint64_t context;
    if (!set_cache_types(base, c, "q8_0") ||
        !pli_max_context(base->shape, &c->setup, base->sites, &plan, &context) ||
        context <= base->max_context || context >= base->setup->context ||
        pli_setup_context(&c->setup, context, NULL))
        return false;
    c->setup.context_given = true;
    c->flags =
        pli_printf(base->arena, "-c %llu %s", (unsigned long long)context,
                   base->setup->flash ? "-ctk q8_0 -ctv q8_0" : "-fa on -ctk q8_0 -ctv q8_0");
    c->text = "the largest context with an 8-bit cache";
    return true;
}

/* The most layers that stay under the line by the bound of the compute buffers, which costs less
 * than a replay; what comes of it is judged like everything else. 0 where not even none do. */
static uint64_t most_layers(const pli_case *base, pli_setup *setup)
{
    uint64_t low = 0, high = base->plan->offloaded;
    pli_shape bounded = *base->shape;
    bounded.graph = NULL;
    while (high - low > 1) {
        pli_plan plan;
        pli_verdict verdict;
        setup->gpu_layers = low + (high - low) / 2;
        bool good = !pli_place_weights(&bounded, setup, base->sites, &plan) &&
                    !pli_place_context(&bounded, setup, base->sites, &plan);
        pli_judge(&bounded, setup, base->sites, &plan, &verdict);
        if (good && verdict.utilization_known && verdict.utilization <= setup->line_warning)
            low = setup->gpu_layers;
        else
            high = setup->gpu_layers;
    }
    setup->gpu_layers = low;
    return low;
}

static bool use_fewer_layers(const pli_case *base, change *c)
{
    if (!base->sites->devices || !base->plan->offloaded)
        return false;
    c->flags =
        pli_printf(base->arena, "-ngl %llu", (unsigned long long)most_layers(base, &c->setup));
    c->text = "the other layers stay on the host, slower";
    return true;
}

/* A short context decides how many layers go to the devices; then it grows into what is left. */
static bool use_fewer_layers_and_context(const pli_case *base, change *c)
{
    pli_plan plan;
    uint64_t context = pli_smaller(base->setup->context, PLI_MIN_CONTEXT);
    if (!base->sites->devices || !base->plan->offloaded || base->max_context >= context ||
        pli_setup_context(&c->setup, context, NULL))
        return false;
    uint64_t layers = most_layers(base, &c->setup);
    c->setup.context_given = true;
    if (pli_place_weights(base->shape, &c->setup, base->sites, &plan) ||
        pli_place_context(base->shape, &c->setup, base->sites, &plan) ||
        !pli_max_context(base->shape, &c->setup, base->sites, &plan, &context) || !context ||
        context >= base->setup->context || pli_setup_context(&c->setup, context, NULL))
        return false;
    c->flags = pli_printf(base->arena, "-c %llu -ngl %llu", (unsigned long long)context,
                          (unsigned long long)layers);
    c->text = "less context, and the other layers on the host, slower";
    return true;
}

static bool use_host_experts(const pli_case *base, change *c)
{
    if (!base->shape->experts || !base->sites->devices || base->setup->override_count ||
        !base->plan->offloaded)
        return false;
    uint8_t *taken = pli_alloc(base->arena, base->shape->model->tensor_count);
    for (size_t i = 0; taken && i < base->shape->model->tensor_count; i++)
        taken[i] = base->shape->role[i].part & PLI_PART_EXPERTS ? (uint8_t)base->sites->devices
                                                                : PLI_NOT_TAKEN;
    c->setup.taken = taken;
    c->setup.override_count = 1;
    c->flags = "--cpu-moe";
    c->text = "the experts stay on the host, everything else on the devices";
    return taken != NULL;
}

/* By what they cost the user, least first. */
static change_fn *const changes[] = {
    use_flash,
    use_window,
    use_q8_cache,
    use_one_slot,
    use_small_batch,
    use_context,
    use_q8_context,
    use_q4_cache,
    use_host_experts,
    use_fewer_layers,
    use_fewer_layers_and_context,
};
#define CHANGE_COUNT (sizeof changes / sizeof *changes)

typedef struct tried {
    plim_alternative *record;
    pli_verdict verdict;
} tried;

static bool try_change(const pli_case *base, change_fn *make, tried *out)
{
    change c = {*base->setup, NULL, NULL};
    pli_plan plan;
    bool applies = make(base, &c);
    bool placed = applies && !pli_place_weights(base->shape, &c.setup, base->sites, &plan) &&
                  !pli_place_context(base->shape, &c.setup, base->sites, &plan);
    if (!placed || !c.flags)
        return false;
    pli_judge(base->shape, &c.setup, base->sites, &plan, &out->verdict);
    if (!out->verdict.utilization_known || out->verdict.mark >= base->verdict->mark)
        return false;
    plim_alternative *a = PLI_NEW(base->arena, alternative);
    if (!a)
        return false;
    PLI_SET(alternative, a, change, c.flags, NULL);
    PLI_SET(alternative, a, text, c.text, NULL);
    PLI_SET(alternative, a, verdict, pli_grade_name(out->verdict.mark), NULL);
    PLI_SET(alternative, a, context, c.setup.context, NULL);
    PLI_SET(alternative, a, utilization, out->verdict.utilization, NULL);
    out->record = a;
    return true;
}

plim_status pli_alternatives(const pli_case *base, plim_items *out)
{
    tried found[CHANGE_COUNT];
    size_t count = 0;
    *out = (plim_items){NULL, 0};
    if (base->verdict->mark != PLI_WARNING && base->verdict->mark != PLI_FAILED)
        return PLIM_OK;
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        count += try_change(base, changes[i], &found[count]);
    for (int mark = PLI_PASSED; mark <= PLI_WARNING; mark++)
        for (size_t i = 0; i < count; i++)
            if ((int)found[i].verdict.mark == mark &&
                !pli_items_add(base->arena, out, found[i].record))
                return PLIM_NOMEM;
    return pli_arena_failed(base->arena) ? PLIM_NOMEM : PLIM_OK;
}
