/* ggml's scheduler (ggml-backend.cpp: ggml_backend_sched_split_graph, b7847): which memory each
 * operation works in, and the copies that cross between them. Sites are its backends, in order
 * of priority; the last is the host. */
#include "graph.h"

#define FEW_INPUTS 30u        /* of a split, until it took any number */
#define MAX_SPLIT_INPUTS 256u /* more than any template draws */
#define WORTH_LENDING                                                                              \
    32u /* rows from which a device takes an operation whose weights lie on the host */

typedef struct scheduling {
    pli_graph *graph;
    int host;
    bool lend;
    uint32_t most; /* inputs of a split */
    unsigned copies;
} scheduling;

static bool is_view(const pli_node *node)
{
    return node->op == PLI_OP_VIEW;
}

/* ---- pass 1: what lies somewhere draws the operation there ----------------------------------- */

static int drawn_to(const scheduling *s, const pli_node *node)
{
    const pli_node *all = s->graph->node;
    if (node->flags & PLI_NODE_STORED)
        return node->site;
    if (node->root && (all[node->root].flags & PLI_NODE_STORED))
        return all[node->root].site;
    if (node->flags & PLI_NODE_INPUT)
        return s->host;
    bool drawn = node->op != PLI_OP_ROPE && node->op != PLI_OP_ATTEND;
    for (size_t i = 0; drawn && i < PLI_MAX_SOURCES && node->source[i]; i++) {
        const pli_node *source = &all[node->source[i]];
        if (!(source->flags & PLI_NODE_WEIGHT))
            continue;
        bool lent = s->lend && source->site == s->host && s->host > 0 &&
                    node->op != PLI_OP_LOOKUP && node->rows >= WORTH_LENDING;
        return lent ? 0 : source->site;
    }
    return node->site;
}

/* ---- pass 2: the rest follows its neighbours ------------------------------------------------- */

/* One sweep over the order; `devices`: the host's operations end a run instead of spreading. */
static void spread(scheduling *s, bool forward, bool devices)
{
    pli_graph *g = s->graph;
    int current = PLI_UNPLACED;
    for (uint32_t k = 0; k < g->order.count; k++) {
        pli_node *node = &g->node[g->order.at[forward ? k : g->order.count - 1 - k]];
        if (is_view(node))
            continue;
        if (node->site != PLI_UNPLACED)
            current = devices && node->site == s->host ? PLI_UNPLACED : node->site;
        else
            node->site = current;
    }
}

static void place_all(scheduling *s)
{
    pli_graph *g = s->graph;
    for (uint32_t i = 0; i < g->leaves.count; i++)
        g->node[g->leaves.at[i]].site = drawn_to(s, &g->node[g->leaves.at[i]]);
    for (uint32_t i = 0; i < g->order.count; i++)
        g->node[g->order.at[i]].site = drawn_to(s, &g->node[g->order.at[i]]);
    spread(s, true, true);
    spread(s, false, true);
    spread(s, true, false);
    spread(s, false, false);
    /* views lie where their memory lies; leaves without a place where they are first used */
    for (uint32_t i = 0; i < g->order.count; i++) {
        pli_node *node = &g->node[g->order.at[i]];
        if (node->site == PLI_UNPLACED && node->root)
            node->site = g->node[node->root].site;
        for (size_t k = 0; k < PLI_MAX_SOURCES && node->source[k]; k++) {
            pli_node *source = &g->node[node->source[k]];
            if (source->site == PLI_UNPLACED)
                source->site = source->root ? g->node[source->root].site : node->site;
        }
        if (node->site == PLI_UNPLACED)
            node->site = s->host;
    }
}

/* ---- pass 3: splits and the copies at their starts ------------------------------------------- */

static pli_id copy_in(const pli_graph *g, pli_id id, int site)
{
    pli_id copy = g->node[id].copy;
    while (copy && g->node[copy].site != site)
        copy = g->node[copy].next_copy;
    return copy;
}

static pli_id make_copy(scheduling *s, pli_id id, int site)
{
    pli_graph *g = s->graph;
    pli_id copy = pli_graph_add(g, PLI_OP_LEAF, g->node[id].dims, 0);
    if (copy == PLI_NO_NODE)
        return copy;
    g->node[copy].bytes = g->node[id].bytes;
    g->node[copy].site = site;
    return copy;
}

static void emit(scheduling *s, pli_id id)
{
    pli_ids_add(s->graph, &s->graph->split_order, id);
}

/* Inputs and their copies of a pipeline are allocated first and never freed. */
static void hold(scheduling *s, pli_id id)
{
    s->graph->node[id].flags |= PLI_NODE_INPUT | PLI_NODE_HELD;
    pli_ids_add(s->graph, &s->graph->held, id);
}

/* In a pipeline every input exists as often as there are batches under way. */
static void hold_copies(scheduling *s, pli_id id, int site)
{
    hold(s, id);
    for (unsigned i = 1; i < s->copies && !s->graph->failed; i++)
        hold(s, make_copy(s, id, site));
}

/* The operand as this memory sees it: itself, or a copy made at the split's start. */
static void bring(scheduling *s, pli_id node, size_t slot, int site, uint32_t *inputs, pli_id *made)
{
    pli_graph *g = s->graph;
    pli_id id = g->node[node].source[slot];
    if (s->copies > 1 && (g->node[id].flags & PLI_NODE_INPUT) &&
        !(g->node[id].flags & PLI_NODE_HELD))
        hold_copies(s, id, g->node[id].site);
    if (g->node[id].site == site)
        return;
    pli_id copy = copy_in(g, id, site);
    if (!copy) {
        copy = make_copy(s, id, site);
        if (g->failed)
            return;
        g->node[copy].next_copy = g->node[id].copy;
        g->node[id].copy = copy;
        if (*inputs < s->most)
            made[*inputs] = id;
        (*inputs)++;
    }
    g->node[node].source[slot] = copy;
}

/* Weights of another memory start a split of their own, so that the copies before them can be
 * dropped; so does one input too many. */
static bool begins_split(const scheduling *s, const pli_node *node, int site, uint32_t inputs)
{
    const pli_graph *g = s->graph;
    if (node->site != site)
        return true;
    for (size_t i = 0; inputs && i < PLI_MAX_SOURCES && node->source[i]; i++) {
        const pli_node *source = &g->node[node->source[i]];
        if (source->site == site)
            continue;
        if ((source->flags & PLI_NODE_WEIGHT) ||
            (inputs == s->most && !copy_in(g, node->source[i], site)))
            return true;
    }
    return false;
}

/* A split's operations, after the copies that it needs. */
static void emit_split(scheduling *s, uint32_t from, uint32_t to, int site, const pli_id *made,
                       uint32_t inputs)
{
    pli_graph *g = s->graph;
    for (uint32_t i = 0; i < inputs && !g->failed; i++) {
        pli_id copy = copy_in(g, made[i], site);
        pli_id depend = pli_graph_add(g, PLI_OP_DEPEND, (pli_dims){{0, 0, 0}}, 0);
        if (g->failed)
            return;
        g->node[depend].site = g->node[made[i]].site;
        pli_graph_source(g, depend, made[i]);
        emit(s, depend);
        emit(s, copy);
        if (s->copies > 1)
            hold_copies(s, copy, site);
    }
    for (uint32_t i = from; i < to; i++)
        emit(s, g->order.at[i]);
}

static void split_all(scheduling *s)
{
    pli_graph *g = s->graph;
    pli_id made[MAX_SPLIT_INPUTS];
    uint32_t begin = 0, inputs = 0;
    int site = PLI_UNPLACED;
    for (uint32_t i = 0; i < g->order.count && !g->failed; i++) {
        pli_id id = g->order.at[i];
        if (is_view(&g->node[id]))
            continue;
        if (site == PLI_UNPLACED)
            site = g->node[id].site;
        if (begins_split(s, &g->node[id], site, inputs)) {
            emit_split(s, begin, i, site, made, inputs);
            begin = i;
            inputs = 0;
            site = g->node[id].site;
        }
        for (size_t k = 0; k < PLI_MAX_SOURCES && g->node[id].source[k] && !g->failed; k++)
            bring(s, id, k, site, &inputs, made);
        if (inputs > s->most)
            g->failed = true;
    }
    emit_split(s, begin, g->order.count, site, made, inputs);
}

/* Inputs that no split reads exist as often as the others. */
static void hold_the_rest(scheduling *s)
{
    pli_graph *g = s->graph;
    for (uint32_t i = 0; i < g->leaves.count && !g->failed; i++) {
        pli_id id = g->leaves.at[i];
        if ((g->node[id].flags & (PLI_NODE_INPUT | PLI_NODE_HELD)) == PLI_NODE_INPUT)
            hold_copies(s, id, g->node[id].site);
    }
}

bool pli_graph_schedule(pli_graph *graph, const pli_setup *setup, const pli_sites *sites,
                        unsigned copies)
{
    bool newer = setup->generation->flags & PLI_GEN_EVERY_INPUT;
    scheduling s = {.graph = graph,
                    .host = (int)sites->devices,
                    .lend = setup->op_offload,
                    .most = newer ? MAX_SPLIT_INPUTS : FEW_INPUTS,
                    .copies = copies};
    place_all(&s);
    split_all(&s);
    if (newer && copies > 1)
        hold_the_rest(&s);
    for (uint32_t i = 0; i < graph->leaves.count; i++)
        pli_ids_add(graph, &graph->held, graph->leaves.at[i]);
    return !graph->failed;
}
