/* ggml's graph allocator (ggml-alloc.c, b7847): one list of free blocks for each memory, best
 * fit, freed after the last use, results in place of operands where that is allowed. Only the
 * peaks are wanted. */
#include <string.h>

#include "graph.h"

#define ENDLESS (UINT64_MAX / 2)
#define FIRST_ROOM 64u /* free blocks */

static bool make_room(pli_arena *arena, pli_heap *h)
{
    if (h->count < h->room)
        return true;
    pli_block *larger = pli_alloc_array(arena, h->room * 2, sizeof *larger);
    if (!larger)
        return false;
    memcpy(larger, h->free, h->count * sizeof *larger);
    h->free = larger;
    h->room *= 2;
    return true;
}

static void drop(pli_heap *h, size_t i)
{
    memmove(h->free + i, h->free + i + 1, (h->count - i - 1) * sizeof *h->free);
    h->count--;
}

static uint64_t rounded(const pli_heap *h, uint64_t size)
{
    return (size + h->alignment - 1) / h->alignment * h->alignment;
}

/* The smallest block that is large enough, of equal ones the last; else the endless one. */
static uint64_t take(pli_heap *h, uint64_t size)
{
    size_t best = h->count - 1;
    uint64_t smallest = UINT64_MAX;
    size = rounded(h, size);
    for (size_t i = 0; i + 1 < h->count; i++)
        if (h->free[i].size >= size && h->free[i].size <= smallest) {
            best = i;
            smallest = h->free[i].size;
        }
    pli_block *b = &h->free[best];
    uint64_t offset = b->offset;
    b->offset += size;
    b->size -= size;
    if (b->size == 0)
        drop(h, best);
    if (offset + size > h->peak)
        h->peak = offset + size;
    return offset;
}

static bool touch(const pli_block *a, const pli_block *b)
{
    return a->offset + a->size == b->offset;
}

static void join_next(pli_heap *h, size_t i)
{
    if (i + 1 >= h->count || !touch(&h->free[i], &h->free[i + 1]))
        return;
    h->free[i].size += h->free[i + 1].size;
    drop(h, i + 1);
}

static bool insert(pli_arena *arena, pli_heap *h, pli_block block)
{
    size_t i = 0;
    if (!make_room(arena, h))
        return false;
    while (i < h->count && h->free[i].offset < block.offset)
        i++;
    memmove(h->free + i + 1, h->free + i, (h->count - i) * sizeof *h->free);
    h->free[i] = block;
    h->count++;
    return true;
}

/* Joins the first block that it touches, on either side: where blocks of no size lie about, which
 * one that is matters. */
static bool give(pli_arena *arena, pli_heap *h, uint64_t offset, uint64_t size)
{
    pli_block block = {offset, rounded(h, size)};
    for (size_t i = 0; i < h->count; i++) {
        if (touch(&h->free[i], &block)) {
            h->free[i].size += block.size;
            join_next(h, i);
            return true;
        }
        if (touch(&block, &h->free[i])) {
            h->free[i] = (pli_block){block.offset, h->free[i].size + block.size};
            if (i > 0)
                join_next(h, i - 1);
            return true;
        }
    }
    return insert(arena, h, block);
}

static bool same_dims(const pli_node *a, const pli_node *b)
{
    return memcmp(&a->dims, &b->dims, sizeof a->dims) == 0 && a->bytes == b->bytes;
}

/* Takes over an operand that nobody else needs. */
static bool take_over(pli_graph *g, pli_node *node)
{
    if (node->op != PLI_OP_INPLACE && node->op != PLI_OP_ROPE)
        return false;
    for (size_t i = 0; i < PLI_MAX_SOURCES && node->source[i]; i++) {
        pli_node *source = &g->node[node->source[i]];
        if (source->root || !source->allocated || (source->flags & PLI_NODE_HELD) ||
            !same_dims(node, source) || source->children != 1 || source->views != 0)
            continue;
        node->buffer = source->buffer;
        node->offset = source->offset;
        source->allocated = false;
        return true;
    }
    return false;
}

static void allocate_node(pli_graph *g, pli_id id, int site)
{
    pli_node *node = &g->node[id];
    if (node->allocated || node->root || node->op == PLI_OP_DEPEND ||
        (node->flags & PLI_NODE_STORED))
        return;
    node->allocated = true;
    if (take_over(g, node))
        return;
    node->buffer = site;
    node->offset = take(&g->heap[site], node->bytes);
}

static void free_node(pli_graph *g, pli_node *node)
{
    if (node->flags & (PLI_NODE_HELD | PLI_NODE_STORED))
        return;
    if (!give(g->arena, &g->heap[node->buffer], node->offset, node->bytes))
        g->failed = true;
    node->allocated = false;
}

static void release(pli_graph *g, pli_node *source)
{
    if (--source->children != 0 || source->views != 0)
        return;
    if (source->root) {
        pli_node *root = &g->node[source->root];
        if (--root->views == 0 && root->children == 0 && root->allocated)
            free_node(g, root);
    } else if (source->allocated) {
        free_node(g, source);
    }
}

/* Counts uses, and allocates the inputs so that nothing overwrites them. */
static void count_uses(pli_graph *g)
{
    for (uint32_t i = 0; i < g->held.count; i++)
        allocate_node(g, g->held.at[i], g->node[g->held.at[i]].site);
    for (uint32_t i = 0; i < g->split_order.count; i++) {
        pli_node *node = &g->node[g->split_order.at[i]];
        if (node->root)
            g->node[node->root].views++;
        for (size_t k = 0; k < PLI_MAX_SOURCES && node->source[k]; k++)
            g->node[node->source[k]].children++;
    }
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t free_blocks(const pli_graph *g, size_t heaps)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < heaps; i++)
        for (size_t k = 0; k < g->heap[i].count; k++)
            hash = mixed(mixed(hash, g->heap[i].free[k].offset), g->heap[i].free[k].size);
    return hash;
}

/* Which results of the layer before are still needed, there or elsewhere, and where they lie: two
 * that have changed places leave the same blocks free, but not for the same time. */
static uint64_t results_left(const pli_graph *g, const pli_edge *edge)
{
    uint64_t hash = 0;
    pli_id from = edge == g->edge ? edge->first : edge[-1].first;
    for (pli_id id = from; id < edge->first; id++)
        for (pli_id at = id; at; at = at == id ? g->node[id].copy : g->node[at].next_copy)
            if (g->node[at].allocated) {
                hash = mixed(mixed(hash, edge->first - id), (uint64_t)g->node[at].buffer);
                hash = mixed(hash, g->node[at].offset);
            }
    return hash;
}

/* At the first node of a layer: what is free there, and whether that is as it was. */
static void compare(pli_graph *g, pli_edge *edge, size_t heaps)
{
    edge->state = mixed(free_blocks(g, heaps), results_left(g, edge));
    if (edge->like != PLI_UNPLACED && g->edge[edge->like].state != edge->state &&
        g->edge[edge->or_like].state != edge->state)
        g->unlike = true;
}

static void allocate_all(pli_graph *g, size_t heaps)
{
    uint32_t edge = 0;
    for (uint32_t i = 0; i < g->split_order.count && !g->failed; i++) {
        pli_id id = g->split_order.at[i];
        pli_node *node = &g->node[id];
        if (edge < g->edges && id >= g->edge[edge].first && id < g->drawn)
            compare(g, &g->edge[edge++], heaps);
        for (size_t k = 0; k < PLI_MAX_SOURCES && node->source[k]; k++)
            allocate_node(g, node->source[k], node->site);
        allocate_node(g, g->split_order.at[i], node->site);
        for (size_t k = 0; k < PLI_MAX_SOURCES && node->source[k]; k++)
            release(g, &g->node[node->source[k]]);
    }
}

bool pli_graph_allocate(pli_graph *graph, const pli_sites *sites, uint64_t peak[PLI_MAX_SITES])
{
    for (size_t i = 0; i <= sites->devices; i++) {
        pli_heap *h = &graph->heap[i];
        if (!h->free) {
            h->free = pli_alloc_array(graph->arena, FIRST_ROOM, sizeof *h->free);
            h->room = FIRST_ROOM;
        }
        if (!h->free)
            return false;
        h->free[0] = (pli_block){0, ENDLESS};
        h->count = 1;
        h->peak = 0;
        h->alignment = sites->at[i].backend->alignment;
    }
    count_uses(graph);
    allocate_all(graph, sites->devices + 1);
    if (graph->unlike)
        return false;
    for (size_t i = 0; i <= sites->devices; i++)
        peak[i] = graph->heap[i].peak;
    return !graph->failed;
}
