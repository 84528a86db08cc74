/* Layers that are alike are drawn a few times, not all of them. The allocator works through a
 * graph in order, and the same operations on the same free blocks, with the same results still in
 * use, leave the same: once a period of layers, or two in a row, has left them as it found them,
 * any even number of the same periods does, and the peak stays what it is. graph_allocate.c
 * compares them where layers were left out; a graph that does not pass is drawn with twice the
 * period, then whole. */
#include "graph_build.h"

#define MAX_PERIOD 8u
#define PERIODS_BEFORE 3u /* drawn before others are left out: two to settle, one to compare */

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Where -ot puts the tensors of each layer, and how large they are. */
static void add_taken(pli_builder *b, uint64_t *look)
{
    const pli_model *model = b->shape->model;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_role *role = &b->shape->role[i];
        if (role->place != PLI_AT_LAYER || b->setup->taken[i] == PLI_NOT_TAKEN)
            continue;
        uint64_t where = mixed(b->setup->taken[i], model->tensors[i].bytes);
        look[role->layer] += mixed(where, role->part);
    }
}

/* Equal numbers for layers that are drawn alike. */
static uint64_t look_of(const pli_builder *b, uint64_t il)
{
    const pli_layer *l = &b->shape->layer[il];
    size_t site = pli_layer_site(b->plan, b->sites, il);
    bool sized = b->sites->devices && (site == b->sites->devices || b->setup->taken);
    uint64_t kind = (uint64_t)l->attends | (uint64_t)l->recurrent << 1 | (uint64_t)l->slides << 2 |
                    (uint64_t)l->cached << 3 | (uint64_t)(il + 1 == b->shape->run_layers) << 4 |
                    (uint64_t)pli_build_rotates(b, il) << 5;
    const uint64_t parts[] = {
        kind,         site,           l->heads, l->heads_kv,         l->feed_forward,
        l->key_width, l->value_width, l->names, sized ? l->bytes : 0};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = mixed(hash, parts[i]);
    return hash;
}

bool pli_fold_begin(pli_builder *b, bool wanted)
{
    pli_graph *g = b->graph;
    uint64_t layers = b->shape->run_layers;
    g->edges = 0;
    b->contiguous_from = 0;
    b->like = PLI_UNPLACED;
    b->folds = wanted && g->rhythm != PLI_NO_RHYTHM && layers <= PLI_MAX_DRAWN;
    if (!b->folds)
        return true;
    if (!g->edge) {
        g->edge = pli_alloc_array(g->arena, PLI_MAX_DRAWN, sizeof *g->edge);
        g->look = pli_alloc_array(g->arena, PLI_MAX_DRAWN, sizeof *g->look);
    }
    if (!g->edge || !g->look)
        return false;
    for (uint64_t il = 0; il < layers; il++)
        g->look[il] = look_of(b, il);
    if (b->setup->taken)
        add_taken(b, g->look);
    return true;
}

static bool repeats(const uint64_t *look, uint64_t from, uint64_t to, uint64_t period)
{
    for (uint64_t i = from; i < to; i++)
        if (look[i] != look[i + period])
            return false;
    return true;
}

/* How many layers from `at` on may be left out, and their period. */
static uint64_t spare_layers(const pli_builder *b, uint64_t at, uint64_t *period)
{
    const uint64_t *look = b->graph->look;
    uint64_t drawn = at - b->contiguous_from;
    for (uint64_t p = 1; p <= MAX_PERIOD; p++) {
        uint64_t end = at, length = p * b->graph->rhythm, before = length * PERIODS_BEFORE;
        if (before > drawn || !repeats(look, at - before, at - p, p))
            continue;
        while (end < b->shape->run_layers && look[end] == look[end - p])
            end++;
        *period = length;
        uint64_t periods = (end - at) / length; /* one is kept; an even number is left out */
        return periods > 2 ? (periods - 1) / 2 * 2 * length : 0;
    }
    return 0;
}

void pli_fold_layer(pli_builder *b)
{
    if (b->folds)
        b->graph->edge[b->graph->edges++] =
            (pli_edge){.first = b->graph->count, .like = b->like, .or_like = b->or_like};
    b->like = b->or_like = PLI_UNPLACED;
}

uint64_t pli_fold_next(pli_builder *b)
{
    uint64_t next = b->il + 1, period = 0;
    if (!b->folds || next == b->shape->run_layers)
        return next;
    uint64_t spare = spare_layers(b, next, &period);
    if (spare) {
        b->like = (int)(b->graph->edges - period);
        b->or_like = (int)(b->graph->edges - 2 * period);
        b->contiguous_from = next + spare;
    }
    return next + spare;
}
