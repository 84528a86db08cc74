#include "engine_fit.h"

#include <string.h>

#include "../base/buf.h"
#include "placement.h"
#include "roles.h"

#define MAX_USED ((uint64_t)1 << 56) /* of a memory: the sum over all does not overflow */
#define MAX_PATTERN_LAYERS 1000u     /* of which the engine has patterns */

/* How much of a layer stays on its device: the names of the engine. */
typedef enum fraction { ONLY_ATTENTION, AND_UP, AND_GATE, BUT_EXPERTS } fraction;

typedef struct filling {
    uint32_t layers, partial; /* of the layers, the last `partial` keep tensors elsewhere */
    fraction overflow;        /* of the first of those; the others keep their experts elsewhere */
    size_t to;                /* where the first one's go; the others': the host */
} filling;

typedef struct fills {
    filling of[PLI_MAX_PLAN_DEVICES];
    int64_t mem[PLI_MAX_PLAN_DEVICES];
} fills;

typedef struct engine {
    const pli_case *base;
    pli_engine_fit *out;
    pli_setup setup; /* as it stands: the context may have been reduced */
    pli_plan plan;   /* of the last measurement */
    size_t devices, host;
    uint32_t layers; /* the engine's: without the output, without next-token-prediction layers */
    uint64_t streams, context_max, context_min;
    int64_t free[PLI_MAX_PLAN_DEVICES], target[PLI_MAX_PLAN_DEVICES];
    double *shares;
    uint8_t *taken;
    bool failed;
} engine;

/* ---- measuring ------------------------------------------------------------------------------- */

/* The engine counts buffers, not what its driver takes. */
static int64_t used_on(const pli_plan *plan, size_t site)
{
    return (int64_t)(plan->at[site].used - plan->at[site].overhead);
}

/* What a header can claim: more than that is no memory, and would not add up. */
static bool adds_up(const engine *e)
{
    for (size_t i = 0; i <= e->base->sites->devices; i++)
        if (e->plan.at[i].used > MAX_USED)
            return false;
    return true;
}

static bool measure(engine *e, const pli_setup *setup)
{
    pli_setup with = *setup;
    if (pli_setup_context(&with, with.context, NULL) ||
        pli_place_weights(e->base->shape, &with, e->base->sites, &e->plan) ||
        pli_place_context(e->base->shape, &with, e->base->sites, &e->plan) || !adds_up(e))
        e->failed = true;
    return !e->failed;
}

static int64_t sum_used(const engine *e)
{
    int64_t sum = 0;
    for (size_t d = 0; d < e->devices; d++)
        sum += used_on(&e->plan, d);
    return e->devices ? sum : used_on(&e->plan, e->host);
}

static bool overflows(const pli_role *role, fraction kept)
{
    switch (kept) {
    case ONLY_ATTENTION:
        return role->part & (PLI_PART_UP | PLI_PART_GATE | PLI_PART_DOWN);
    case AND_UP:
        return role->part & (PLI_PART_GATE | PLI_PART_DOWN);
    case AND_GATE:
        return role->part & PLI_PART_DOWN;
    case BUT_EXPERTS:
        break;
    }
    return role->part & PLI_PART_EXPERTS;
}

static void take_layer(engine *e, uint32_t il, fraction kept, size_t to)
{
    const pli_shape *shape = e->base->shape;
    for (size_t i = 0; i < shape->model->tensor_count; i++)
        if (shape->role[i].layer == il && overflows(&shape->role[i], kept))
            e->taken[i] = (uint8_t)to;
}

/* The run that a filling means. */
static void apply(engine *e, const fills *f, pli_setup *setup)
{
    uint32_t sum = 0;
    bool any = false;
    memset(e->taken, PLI_NOT_TAKEN, e->base->shape->model->tensor_count);
    for (size_t d = 0; d < e->devices; d++) {
        sum += f->of[d].layers;
        e->shares[d] = f->of[d].layers;
    }
    uint32_t first = e->layers + 1 - sum;
    for (size_t d = 0; d < e->devices; d++) {
        const filling *of = &f->of[d];
        first += of->layers - of->partial; /* may wrap, as there */
        for (uint32_t il = first; il < first + of->partial; il++, any = true)
            take_layer(e, il, il == first ? of->overflow : BUT_EXPERTS,
                       il == first ? of->to : e->host);
        first += of->partial;
    }
    setup->gpu_layers = sum;
    setup->gpu_layers_given = true;
    setup->shares = e->devices > 1 && sum ? e->shares : NULL;
    setup->share_count = setup->shares ? e->devices : 0;
    setup->taken = any ? e->taken : NULL;
}

static bool measure_fills(engine *e, fills *f)
{
    pli_setup with = e->setup;
    apply(e, f, &with);
    if (!measure(e, &with))
        return false;
    for (size_t d = 0; d < e->devices; d++)
        f->mem[d] = used_on(&e->plan, d);
    return true;
}

/* ---- the context ----------------------------------------------------------------------------- */

static bool set_context(engine *e, uint64_t context)
{
    if (pli_setup_context(&e->setup, context, NULL))
        e->failed = true;
    return !e->failed;
}

/* Returns true when nothing else has to change. */
static bool shrink_context(engine *e, int64_t used, int64_t target, int64_t weights)
{
    if (e->devices > 1) {
        int64_t layer = weights / (int64_t)pli_larger(pli_smaller(e->base->setup->gpu_layers_given
                                                                      ? e->base->setup->gpu_layers
                                                                      : e->layers,
                                                                  e->layers),
                                                      1);
        target -= (int64_t)(e->devices + 1) * layer / (e->base->shape->experts ? 6 : 2);
    }
    if (!set_context(e, e->context_min) || !measure(e, &e->setup))
        return false;
    int64_t least = sum_used(e);
    if (target <= least || used <= least)
        return false;
    int64_t more = (int64_t)(e->context_max - e->context_min) * (target - least) / (used - least);
    uint64_t context = e->context_min + (uint64_t)more, step = 256 * e->streams;
    return set_context(e, pli_larger(context - context % step, e->context_min)) && e->devices <= 1;
}

/* ---- filling devices from the back ----------------------------------------------------------- */

/* False position, in the engine's own integers. */
static uint32_t step_of(uint32_t delta, int64_t target, int64_t low, int64_t high)
{
    int64_t step = high == low ? 1 : (int64_t)delta * (target - low) / (high - low);
    uint32_t narrow = (uint32_t)step;
    narrow = narrow < 1 ? 1 : narrow;
    return narrow < delta - 1 ? narrow : delta - 1;
}

static void fill_device(engine *e, size_t d, bool experts, fills *f)
{
    bool last = d + 1 == e->devices;
    uint32_t unassigned = e->layers + 1;
    for (size_t i = d + 1; i < e->devices; i++)
        unassigned -= f->of[i].layers;
    fills high = *f;
    high.of[d].layers = unassigned;
    high.of[d].partial = experts && unassigned ? unassigned - last : 0;
    if (unassigned == 0 || !measure_fills(e, &high))
        return;
    if (high.mem[d] <= e->target[d]) {
        *f = high;
        return;
    }
    for (uint32_t delta = high.of[d].layers - f->of[d].layers; delta > 1 && !e->failed;
         delta = high.of[d].layers - f->of[d].layers) {
        uint32_t step = step_of(delta, e->target[d], f->mem[d], high.mem[d]);
        fills test = *f;
        test.of[d].layers += step;
        if (experts) /* the output, the first of the last device, stays whole */
            test.of[d].partial += last && test.of[d].partial == 0 ? step - 1 : step;
        if (!measure_fills(e, &test))
            return;
        *(test.mem[d] <= e->target[d] ? f : &high) = test;
    }
}

/* ---- experts, from the front ----------------------------------------------------------------- */

static uint32_t full_layers(const filling *f)
{
    return f->layers - f->partial;
}

/* Turns up to `count` partial layers, from device *from on, into whole ones of device d. */
static void convert(const engine *e, fills *f, size_t d, uint32_t count, size_t *from)
{
    uint32_t done = 0;
    for (; *from < e->devices; (*from)++) {
        filling *source = &f->of[*from];
        uint32_t n = count - done < source->partial ? count - done : source->partial;
        source->layers -= n;
        source->partial -= n;
        f->of[d].layers += n;
        done += n;
        if (source->partial > 0)
            return;
    }
}

static void fill_whole(engine *e, size_t d, fills *f, size_t *from)
{
    fills high = *f;
    size_t high_from = e->devices - 1;
    for (size_t i = *from; i < e->devices; i++) {
        uint32_t n = high.of[i].layers - (i + 1 == e->devices);
        high.of[d].layers += n;
        high.of[i].layers -= n;
        high.of[i].partial = 0;
    }
    if (!measure_fills(e, &high))
        return;
    if (high.mem[d] <= e->target[d]) {
        *f = high;
        *from = high_from;
        return;
    }
    for (uint32_t delta = full_layers(&high.of[d]) - full_layers(&f->of[d]);
         delta > 1 && !e->failed; delta = full_layers(&high.of[d]) - full_layers(&f->of[d])) {
        uint32_t step = step_of(delta, e->target[d], f->mem[d], high.mem[d]);
        fills test = *f;
        size_t test_from = *from;
        convert(e, &test, d, step, &test_from);
        if (!measure_fills(e, &test))
            return;
        if (test.mem[d] <= e->target[d]) {
            *f = test;
            *from = test_from;
        } else {
            high = test;
        }
    }
}

static bool try_part(engine *e, size_t d, fraction kept, fills *test)
{
    test->of[d].overflow = kept;
    return measure_fills(e, test) && test->mem[d] < e->target[d] &&
           (d + 1 == e->devices || test->mem[d + 1] < e->target[d + 1]);
}

/* Part of one layer more: attention and up, and gate if that fits too; else attention alone. */
static void fill_part(engine *e, size_t d, fills *f, size_t *from)
{
    if (*from >= e->devices || f->of[*from].layers <= (d + 1 < e->devices ? 0u : 1u))
        return;
    fills test = *f;
    size_t test_from = *from;
    test.of[*from].layers--;
    test.of[*from].partial--;
    test.of[d].layers++;
    test.of[d].partial++;
    if (test.of[*from].partial == 0)
        test_from++;
    test.of[d].to = d + 1 < e->devices ? d + 1 : e->host;
    if (try_part(e, d, AND_UP, &test)) {
        *f = test;
        *from = test_from;
        if (try_part(e, d, AND_GATE, &test))
            *f = test;
    } else if (try_part(e, d, ONLY_ATTENTION, &test)) {
        *f = test;
        *from = test_from;
    }
}

/* ---- in words -------------------------------------------------------------------------------- */

#define MAX_OVERRIDES 65536u /* bytes */

static const char *const patterns[] = {
    [ONLY_ATTENTION] = "ffn_(gate|up|gate_up|down).*",
    [AND_UP] = "ffn_(gate|gate_up|down).*",
    [AND_GATE] = "ffn_down.*",
    [BUT_EXPERTS] = "ffn_(up|down|gate_up|gate)_(ch|)exps",
};

static void add_override(const engine *e, uint32_t il, fraction kept, size_t to, pli_buf *out)
{
    const pli_site *site = &e->base->sites->at[to];
    (void)pli_buf_printf(out, "%sblk\\.%u\\.%s=%s", out->n ? "," : "", (unsigned)il, patterns[kept],
                         site->backend->buffer);
    if (to != e->host)
        (void)pli_buf_printf(out, "%u", site->ordinal);
}

/* The argument of -ot. */
static const char *overrides_of(engine *e, const fills *f)
{
    pli_buf out;
    pli_buf_init(&out, pli_arena_allocator(e->base->arena), MAX_OVERRIDES);
    uint32_t first = e->layers + 1 - (uint32_t)e->setup.gpu_layers;
    for (size_t d = 0; d < e->devices; d++) {
        const filling *of = &f->of[d];
        first += of->layers - of->partial;
        for (uint32_t il = first; il < first + of->partial; il++)
            add_override(e, il, il == first ? of->overflow : BUT_EXPERTS,
                         il == first ? of->to : e->host, &out);
        first += of->partial;
    }
    const char *text = out.n && !out.failed ? pli_strndup(e->base->arena, pli_buf_str(&out)) : NULL;
    e->failed |= out.failed;
    pli_buf_free(&out);
    return text;
}

const char *pli_engine_fit_flags(const pli_case *base, const pli_engine_fit *found)
{
    pli_arena *arena = base->arena;
    const pli_setup *was = base->setup, *is = &found->setup;
    const char *text = "";
    if (is->context != was->context)
        text = pli_printf(arena, " -c %llu", (unsigned long long)is->context);
    if (text && is->gpu_layers_given && !was->gpu_layers_given)
        text = pli_printf(arena, "%s -ngl %llu", text, (unsigned long long)is->gpu_layers);
    if (text && is->shares && is->shares != was->shares)
        text = pli_split_text(arena, is, pli_printf(arena, "%s -ts ", text));
    if (text && is->overrides_text)
        text = pli_printf(arena, "%s -ot \"%s\"", text, is->overrides_text);
    return text && *text ? text + 1 : text;
}

/* ---- the two together ------------------------------------------------------------------------ */

/* What all devices would have left with every expert on the host. */
static int64_t surplus_without_experts(engine *e)
{
    const pli_shape *shape = e->base->shape;
    pli_setup with = e->setup;
    int64_t surplus = 0;
    for (size_t i = 0; i < shape->model->tensor_count; i++)
        e->taken[i] = shape->role[i].part & PLI_PART_EXPERTS ? (uint8_t)e->host : PLI_NOT_TAKEN;
    with.taken = e->taken;
    if (!measure(e, &with))
        return 0;
    for (size_t d = 0; d < e->devices; d++)
        surplus += e->target[d] - used_on(&e->plan, d);
    return surplus;
}

static void distribute(engine *e)
{
    bool experts = e->base->shape->experts > 0;
    int64_t surplus = experts ? surplus_without_experts(e) : 0;
    fills f = {.of = {{.overflow = BUT_EXPERTS}}};
    for (size_t d = 0; d < e->devices; d++)
        f.of[d] = (filling){.overflow = BUT_EXPERTS, .to = e->host};
    if (!measure_fills(e, &f))
        return;
    for (size_t d = e->devices; d-- > 0;)
        fill_device(e, d, experts, &f);
    if (experts && surplus > 0) {
        size_t from = e->devices;
        while (from > 0 && f.of[from - 1].layers > 0)
            from--;
        for (size_t d = 0; d <= from && from < e->devices; d++) {
            fill_whole(e, d, &f, &from);
            fill_part(e, d, &f, &from);
        }
    }
    apply(e, &f, &e->setup);
    if (e->setup.taken)
        e->setup.overrides_text = overrides_of(e, &f);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Why --fit leaves a run alone that does not fit. */
static const char *gives_up(const engine *e)
{
    const pli_setup *s = e->base->setup;
    if (e->devices == 0)
        return "the context cannot be reduced far enough";
    if (s->gpu_layers_given)
        return "-ngl is given";
    if (e->devices > 1 && s->shares)
        return "-ts is given";
    if (e->devices > 1 && s->split == PLI_SPLIT_ROW)
        return "-sm row is not implemented there";
    if (s->taken)
        return "-ot is given";
    return e->layers > MAX_PATTERN_LAYERS ? "too many layers" : NULL;
}

static bool begin(engine *e)
{
    const pli_case *base = e->base;
    const pli_setup *s = base->setup;
    for (size_t i = 0; i <= e->devices; i++) {
        const pli_site *site = &base->sites->at[i];
        bool counts = i < e->devices || e->devices == 0;
        if (counts && (site->unlimited || !(i < e->devices ? site->free_known : site->total_known)))
            return false;
        int64_t margin = (int64_t)pli_fit_target(s, i);
        if (i < e->devices) {
            e->free[i] = (int64_t)site->free;
            e->target[i] = e->free[i] - margin;
        } else if (e->devices == 0) { /* of the host it asks for the whole size */
            e->free[0] = (int64_t)site->total;
            e->target[0] = e->free[0] - margin;
        }
    }
    e->streams = s->unified ? 1 : pli_larger(s->sequences, 1);
    e->context_max = pli_smaller(pli_mul_sat(base->shape->trained, e->streams), UINT32_MAX);
    e->context_min = pli_smaller(pli_mul_sat(s->fit_context, e->streams), UINT32_MAX);
    e->shares = pli_alloc_array(base->arena, PLI_MAX_PLAN_DEVICES, sizeof *e->shares);
    e->taken = pli_alloc(base->arena, base->shape->model->tensor_count);
    return e->shares && e->taken;
}

static bool is_met(const engine *e)
{
    if (e->devices == 0)
        return used_on(&e->plan, e->host) <= e->target[0];
    for (size_t d = 0; d < e->devices; d++)
        if (used_on(&e->plan, d) > e->target[d])
            return false;
    return true;
}

static void choose(engine *e)
{
    int64_t target = 0, weights = 0;
    if (!e->setup.context_given && !set_context(e, e->context_max))
        return;
    if (!measure(e, &e->setup) || is_met(e))
        return;
    e->out->changed = true;
    int64_t used = sum_used(e);
    for (size_t d = 0; d < (e->devices ? e->devices : 1); d++) {
        target += e->target[d];
        weights += (int64_t)e->plan.at[d].weights;
    }
    if (used > target && !e->setup.context_given && e->context_max > e->context_min &&
        shrink_context(e, used, target, weights))
        return;
    e->out->why = gives_up(e);
    if (!e->out->why && !e->failed)
        distribute(e);
}

bool pli_engine_fit_find(const pli_case *base, pli_engine_fit *out)
{
    engine e = {.base = base,
                .out = out,
                .setup = *base->setup,
                .devices = base->sites->devices,
                .host = base->sites->devices,
                .layers = (uint32_t)base->shape->run_layers};
    *out = (pli_engine_fit){.changed = false};
    if (!begin(&e))
        return false;
    choose(&e);
    if (!e.failed && measure(&e, &e.setup)) {
        out->setup = e.setup;
        out->plan = e.plan;
        pli_judge(base->shape, &out->setup, base->sites, &out->plan, &out->verdict);
    }
    return !e.failed;
}
