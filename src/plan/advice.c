#include "advice.h"

#include "placement.h"
#include "requantize.h"
#include "speed.h"

/* ---- changes --------------------------------------------------------------------------------- */

typedef struct change {
    pli_setup setup;
    const char *flags, *text;
} change;

/* Each makes the change in c->setup and names it, or says that it does not apply. */
typedef bool change_fn(const pli_case *base, change *c);

static const char *flags_of(const pli_case *base, const char *format, uint64_t n)
{
    return pli_printf(base->arena, "%s %llu", format, (unsigned long long)n);
}

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

/* An 8-bit or 4-bit cache, where there is none yet. */
static bool set_cache_types(const pli_case *base, change *c, const char *name)
{
    const pli_setup *setup = base->setup;
    if (setup->type_k->block_elements > 1 || setup->type_v->block_elements > 1 ||
        !pli_use_cache_type(base, name, &c->setup))
        return false;
    c->flags =
        pli_printf(base->arena, "%s-ctk %s -ctv %s", setup->flash ? "" : "-fa on ", name, name);
    return c->flags != NULL;
}

static bool use_q8_cache(const pli_case *base, change *c)
{
    c->text = "an 8-bit cache: 53 % of its size, hardly any loss";
    return set_cache_types(base, c, "q8_0");
}

static bool use_q4_cache(const pli_case *base, change *c)
{
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

static bool set_context(change *c, uint64_t context)
{
    c->setup.context_given = true;
    return pli_setup_context(&c->setup, context, NULL) == PLIM_OK;
}

static bool use_context(const pli_case *base, change *c)
{
    if (!base->max_context || base->max_context >= base->setup->context)
        return false;
    c->flags = flags_of(base, "-c", base->max_context);
    c->text = "the largest context that stays under the line";
    return set_context(c, base->max_context);
}

static bool use_q8_context(const pli_case *base, change *c)
{
    uint64_t context;
    if (!set_cache_types(base, c, "q8_0") || !pli_max_context(base, &c->setup, &context) ||
        context <= base->max_context || context >= base->setup->context || !set_context(c, context))
        return false;
    c->flags = pli_printf(base->arena, "-c %llu %s", (unsigned long long)context, c->flags);
    c->text = "the largest context with an 8-bit cache";
    return true;
}

/* ---- other places ---------------------------------------------------------------------------- */

static bool has_devices(const pli_case *base)
{
    return base->sites->devices && base->plan->offloaded;
}

static bool use_split(const pli_case *base, change *c)
{
    if (base->setup->shares || !pli_balance(base, &c->setup))
        return false;
    c->flags = pli_split_text(base->arena, &c->setup, "-ts ");
    c->text = "the layers so that every device is as full as the others";
    return c->flags != NULL;
}

static bool use_split_and_context(const pli_case *base, change *c)
{
    uint64_t context;
    if (!use_split(base, c) || !pli_max_context(base, &c->setup, &context) ||
        context <= base->max_context || context >= base->setup->context || !set_context(c, context))
        return false;
    c->flags = pli_printf(base->arena, "-c %llu %s", (unsigned long long)context, c->flags);
    c->text = "the largest context, every device as full as the others";
    return true;
}

static bool use_fewer_layers(const pli_case *base, change *c)
{
    if (!has_devices(base) || !pli_max_layers(base, &c->setup, &c->setup.gpu_layers) ||
        c->setup.gpu_layers >= base->plan->offloaded)
        return false;
    c->flags = flags_of(base, "-ngl", c->setup.gpu_layers);
    c->text = "the other layers stay on the host, slower";
    return true;
}

/* A short context decides what goes to the host; then it grows into what is left. */
static bool grow_context(const pli_case *base, change *c, bool place(const pli_case *, change *))
{
    uint64_t context = pli_smaller(base->setup->context, PLI_MIN_CONTEXT);
    if (!has_devices(base) || base->max_context >= context || !set_context(c, context) ||
        !place(base, c) || !pli_max_context(base, &c->setup, &context) || !context ||
        context >= base->setup->context || !set_context(c, context))
        return false;
    c->flags = pli_printf(base->arena, "-c %llu %s", (unsigned long long)context, c->flags);
    return c->flags != NULL;
}

static bool use_fewer_layers_and_context(const pli_case *base, change *c)
{
    bool done = grow_context(base, c, use_fewer_layers);
    c->text = "less context, and the other layers on the host, slower";
    return done;
}

static bool use_host_experts(const pli_case *base, change *c)
{
    if (!base->shape->experts || !has_devices(base) || base->setup->taken ||
        !pli_least_host_experts(base, &c->setup))
        return false;
    c->flags = flags_of(base, "-ncmoe", c->setup.host_experts);
    c->text = "experts of the first layers stay on the host, everything else on the devices";
    return c->flags != NULL;
}

static bool use_host_experts_and_context(const pli_case *base, change *c)
{
    bool done = grow_context(base, c, use_host_experts);
    c->text = "less context, and experts of the first layers on the host";
    return done;
}

/* By what they cost the user, least first. */
static change_fn *const changes[] = {
    use_flash,        use_window,
    use_split,        use_q8_cache,
    use_one_slot,     use_small_batch,
    use_context,      use_q8_context,
    use_q4_cache,     use_split_and_context,
    use_host_experts, use_host_experts_and_context,
    use_fewer_layers, use_fewer_layers_and_context,
};
#define CHANGE_COUNT (sizeof changes / sizeof *changes)

typedef struct tried {
    plim_alternative *record;
    pli_verdict verdict;
} tried;

static plim_alternative *record_of(const pli_case *base, const change *c, const pli_plan *plan,
                                   const pli_verdict *verdict)
{
    plim_alternative *a = PLI_NEW(base->arena, alternative);
    pli_speed speed;
    if (!a)
        return NULL;
    PLI_SET(alternative, a, change, c->flags, NULL);
    PLI_SET(alternative, a, text, c->text, NULL);
    PLI_SET(alternative, a, verdict, pli_grade_name(verdict->mark), NULL);
    PLI_SET(alternative, a, context, c->setup.context, NULL);
    PLI_SET(alternative, a, utilization, verdict->utilization, NULL);
    PLI_SET_STR(alternative, a, command,
                pli_command(base->arena, base->shape, &c->setup, base->sites, c->setup.context),
                NULL);
    if (pli_speed_find(base->shape, &c->setup, base->sites, plan, &speed) && speed.decode > 0)
        PLI_SET(alternative, a, decode_tokens_per_s, speed.decode, NULL);
    return a;
}

static bool try_change(const pli_case *base, change_fn *make, tried *out)
{
    change c = {*base->setup, NULL, NULL};
    pli_plan plan;
    if (!make(base, &c) || !c.flags || !pli_try(base, &c.setup, &plan, &out->verdict) ||
        !out->verdict.utilization_known || out->verdict.mark >= base->verdict->mark)
        return false;
    out->record = record_of(base, &c, &plan, &out->verdict);
    return out->record != NULL;
}

/* Another file of the same model; which, only its publisher can say, so there is no command. */
static bool try_quantization(const pli_case *base, tried *out)
{
    pli_requantized other;
    char size[32];
    if (!pli_requantize(base, &other))
        return false;
    change c = {*base->setup, NULL, NULL};
    c.flags = pli_printf(base->arena, "in %s", other.mixture->name);
    c.text = pli_printf(base->arena, "the model in another quantization, %s",
                        plim_bytes_text(other.tensor_bytes, size, sizeof size));
    pli_case with = *base;
    with.shape = &other.shape;
    out->verdict = other.verdict;
    out->record = c.flags && c.text ? record_of(&with, &c, &other.plan, &other.verdict) : NULL;
    if (out->record)
        PLI_FORGET(alternative, out->record, command);
    return out->record != NULL;
}

plim_status pli_alternatives(const pli_case *base, plim_items *out)
{
    tried found[CHANGE_COUNT + 1];
    size_t count = 0;
    *out = (plim_items){NULL, 0};
    if (base->verdict->mark != PLI_WARNING && base->verdict->mark != PLI_FAILED)
        return PLIM_OK;
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        count += try_change(base, changes[i], &found[count]);
    count += try_quantization(base, &found[count]);
    for (int mark = PLI_PASSED; mark <= PLI_WARNING; mark++)
        for (size_t i = 0; i < count; i++)
            if ((int)found[i].verdict.mark == mark &&
                !pli_items_add(base->arena, out, found[i].record))
                return PLIM_NOMEM;
    return pli_arena_failed(base->arena) ? PLIM_NOMEM : PLIM_OK;
}
