#include "placement.h"

#include <math.h>
#include <string.h>

#include "roles.h"

const char *pli_split_text(pli_arena *arena, const pli_setup *setup, const char *prefix)
{
    const char *text = prefix;
    for (size_t i = 0; text && i < setup->share_count; i++)
        text = pli_printf(arena, "%s%s%.6g", text, i ? "," : "", setup->shares[i]);
    return text;
}

/* ---- layers over devices --------------------------------------------------------------------- */

typedef struct balancing {
    const pli_case *base;
    pli_setup setup;
    double layers[PLI_MAX_PLAN_DEVICES]; /* of each device, the output counted */
    pli_plan plan;
    double load[PLI_MAX_PLAN_DEVICES];
    size_t fullest, emptiest;
} balancing;

/* How full every device is with these layers. */
static bool weigh(balancing *b)
{
    const pli_sites *sites = b->base->sites;
    b->setup.shares = b->layers;
    b->setup.share_count = sites->devices;
    if (pli_place_weights(b->base->shape, &b->setup, sites, &b->plan) ||
        pli_place_context(b->base->shape, &b->setup, sites, &b->plan))
        return false;
    b->fullest = b->emptiest = 0;
    for (size_t d = 0; d < sites->devices; d++) {
        if (!pli_utilization(&b->plan, sites, d, &b->load[d]))
            return false;
        if (b->load[d] > b->load[b->fullest])
            b->fullest = d;
        if (b->load[d] < b->load[b->emptiest])
            b->emptiest = d;
    }
    return true;
}

/* Layers from the fullest to the emptiest device after which both would be as full. */
static double layers_to_move(const balancing *b)
{
    const pli_site *from = &b->base->sites->at[b->fullest], *to = &b->base->sites->at[b->emptiest];
    double budget_from = (double)from->budget, budget_to = (double)to->budget;
    double layer = (double)b->plan.at[b->fullest].used / b->layers[b->fullest];
    double gap = (b->load[b->fullest] - b->load[b->emptiest]) * budget_from * budget_to /
                 (budget_from + budget_to);
    double n = floor(gap / layer);
    double most = b->layers[b->fullest] - 1;
    return n < 1 ? 1 : n > most ? most : n;
}

bool pli_balance(const pli_case *base, pli_setup *setup)
{
    const pli_sites *sites = base->sites;
    balancing b = {.base = base, .setup = *setup};
    double *best = pli_alloc_array(base->arena, PLI_MAX_PLAN_DEVICES, sizeof *best);
    if (!best || sites->devices < 2 || setup->split != PLI_SPLIT_LAYER || !base->plan->offloaded)
        return false;
    for (uint64_t il = base->plan->first; il <= base->shape->layers; il++)
        b.layers[pli_layer_site(base->plan, sites, il)]++;
    memcpy(best, b.layers, sizeof b.layers);
    if (!weigh(&b))
        return false;
    double first = b.load[b.fullest], least = first;
    for (unsigned round = 0; round < 4 * PLI_MAX_PLAN_DEVICES; round++) {
        if (b.layers[b.fullest] < 2 || b.fullest == b.emptiest)
            break;
        double n = layers_to_move(&b);
        b.layers[b.fullest] -= n;
        b.layers[b.emptiest] += n;
        if (!weigh(&b))
            return false;
        if (b.load[b.fullest] < least) {
            least = b.load[b.fullest];
            memcpy(best, b.layers, sizeof b.layers);
        } else if (n <= 1) {
            break;
        }
    }
    setup->shares = best;
    setup->share_count = sites->devices;
    return least < first;
}

/* ---- experts on the host --------------------------------------------------------------------- */

static void move_experts(const pli_case *base, uint64_t layers, uint8_t *taken, pli_setup *with)
{
    const pli_shape *shape = base->shape;
    for (size_t i = 0; i < shape->model->tensor_count; i++)
        taken[i] = (shape->role[i].part & PLI_PART_EXPERTS) && shape->role[i].layer < layers
                       ? (uint8_t)base->sites->devices
                       : PLI_NOT_TAKEN;
    with->taken = taken;
    with->host_experts = layers;
}

/* So many layers' experts on the devices. */
static bool apply_experts(pli_search *s, uint64_t layers, pli_setup *with)
{
    move_experts(s->base, s->base->shape->run_layers - layers, s->taken, with);
    return true;
}

bool pli_least_host_experts(const pli_case *base, pli_setup *setup)
{
    pli_search s = {
        .base = base, .setup = setup, .apply = apply_experts, .weights = true, .devices = true};
    uint64_t most = base->shape->run_layers, on_devices;
    s.taken = pli_alloc(base->arena, base->shape->model->tensor_count);
    if (!s.taken || most < 2 || !pli_largest(&s, 0, most - 1, &on_devices))
        return false;
    move_experts(base, most - on_devices, s.taken, setup);
    return true;
}
