#include "graph.h"

#include <string.h>

#include "../base/limits.h"
#include "compute.h"

static bool grow(pli_arena *arena, void **items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t more = *room ? *room * 2 : 1024;
    void *larger = pli_alloc_array(arena, more, size);
    if (!larger)
        return false;
    if (*room)
        memcpy(larger, *items, *room * size);
    *items = larger;
    *room = more;
    return true;
}

void pli_ids_add(pli_graph *graph, pli_ids *list, pli_id id)
{
    void *items = list->at;
    if (graph->failed || !grow(graph->arena, &items, list->count, &list->room, sizeof *list->at)) {
        graph->failed = true;
        return;
    }
    list->at = items;
    list->at[list->count++] = id;
}

pli_id pli_graph_add(pli_graph *graph, pli_op op, pli_dims dims, uint64_t element)
{
    void *nodes = graph->node;
    if (graph->count == 0)
        graph->count = 1;
    if (graph->failed || graph->count >= PLI_MAX_NODES ||
        !grow(graph->arena, &nodes, graph->count, &graph->room, sizeof *graph->node)) {
        graph->failed = true;
        return PLI_NO_NODE;
    }
    graph->node = nodes;
    uint64_t elements =
        pli_times(&graph->calc, pli_times(&graph->calc, dims.n[0], dims.n[1]), dims.n[2]);
    graph->node[graph->count] = (pli_node){.op = (uint8_t)op,
                                           .dims = dims,
                                           .rows = pli_mul_sat(dims.n[1], dims.n[2]),
                                           .bytes = pli_times(&graph->calc, elements, element),
                                           .site = PLI_UNPLACED};
    if (graph->node[graph->count].bytes > PLI_MAX_NODE_BYTES)
        graph->failed = true;
    return graph->count++;
}

void pli_graph_source(pli_graph *graph, pli_id node, pli_id source)
{
    if (graph->failed || source == PLI_NO_NODE)
        return;
    pli_id *at = graph->node[node].source;
    for (size_t i = 0; i < PLI_MAX_SOURCES; i++)
        if (at[i] == PLI_NO_NODE) {
            at[i] = source;
            return;
        }
    graph->failed = true;
}

/* As deep as a layer's longest chain: templates expand each layer before they build on it. */
void pli_graph_expand(pli_graph *graph, pli_id id)
{
    if (graph->failed || id == PLI_NO_NODE || graph->node[id].visited)
        return;
    graph->node[id].visited = true;
    for (size_t i = 0; i < PLI_MAX_SOURCES && graph->node[id].source[i]; i++)
        pli_graph_expand(graph, graph->node[id].source[i]);
    bool leaf = graph->node[id].op == PLI_OP_LEAF;
    pli_ids_add(graph, leaf ? &graph->leaves : &graph->order, id);
}

pli_graph *pli_graph_new(pli_arena *arena)
{
    pli_graph *graph = pli_alloc(arena, sizeof *graph);
    if (graph) {
        graph->arena = arena;
        graph->rhythm = 1;
    }
    return graph;
}

static void clear(pli_graph *graph)
{
    graph->count = graph->order.count = graph->leaves.count = 0;
    graph->split_order.count = graph->held.count = 0;
    graph->failed = graph->unlike = graph->calc.overflow = false;
    graph->edges = 0;
}

static bool replay(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                   const pli_sites *sites, const pli_plan *plan, uint64_t peak[PLI_MAX_SITES])
{
    unsigned copies = pli_is_pipelined(shape, setup, sites) ? PLI_PIPELINE_COPIES : 1;
    clear(graph);
    graph->replays++;
    if (!pli_graph_build(graph, shape, setup, sites, plan))
        return false;
    graph->drawn = graph->count;
    return pli_graph_schedule(graph, setup, sites, copies) &&
           pli_graph_allocate(graph, sites, peak) && !graph->calc.overflow;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Everything that the graph and its buffers depend on, of one model on one machine. */
static uint64_t key_of(const pli_shape *shape, const pli_setup *s)
{
    const uint64_t parts[] = {s->generation->flags,
                              s->context,
                              s->context_per_sequence,
                              s->streams,
                              s->sequences,
                              s->batch,
                              s->ubatch,
                              s->gpu_layers,
                              pli_quant_index(s->type_k),
                              pli_quant_index(s->type_v),
                              (uint64_t)s->flash | (uint64_t)s->unified << 1 |
                                  (uint64_t)s->swa_full << 2 | (uint64_t)s->kv_offload << 3 |
                                  (uint64_t)s->op_offload << 4 | (uint64_t)s->flash_given << 5,
                              (uint64_t)s->split,
                              s->main_gpu,
                              s->share_count};
    uint64_t hash = 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = mixed(hash, parts[i]);
    for (size_t i = 0; i < s->share_count; i++)
        hash = mixed(hash, pli_load(&s->shares[i], sizeof *s->shares, false));
    for (size_t i = 0; s->taken && i < shape->model->tensor_count; i++)
        hash = mixed(hash, s->taken[i]);
    return hash ? hash : 1;
}

static void replay_anew(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, const pli_plan *plan, pli_replayed *out)
{
    out->done = replay(graph, shape, setup, sites, plan, out->peak);
    /* What is left out follows a longer rhythm, or none. */
    while (!out->done && graph->unlike) {
        graph->rhythm = graph->rhythm == 1 ? 2 : PLI_NO_RHYTHM;
        out->done = replay(graph, shape, setup, sites, plan, out->peak);
    }
    if (graph->rhythm == PLI_NO_RHYTHM)
        graph->rhythm = 2;
}

/* Left to itself, the engine draws a graph of one token for each sequence and gives flash attention
 * up where it would be computed elsewhere than in the layer's own memory. */
static bool gives_up_flash(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                           const pli_sites *sites, const pli_plan *plan)
{
    pli_setup one = *setup;
    bool gives_up = false, mixed = plan->first > 0 || !setup->kv_offload || setup->taken;
    if (!setup->flash || setup->flash_given || !plan->offloaded || !mixed ||
        !(setup->generation->flags & PLI_GEN_AUTO_SLOTS))
        return false;
    one.ubatch = one.batch = setup->sequences;
    one.context = one.context_per_sequence = 0; /* no matter for what lies where */
    uint64_t key = key_of(shape, &one);
    if (graph->asked_key == key)
        return graph->gives_up;
    one.context = setup->context;
    one.context_per_sequence = setup->context_per_sequence;
    clear(graph);
    if (pli_graph_build(graph, shape, &one, sites, plan) &&
        pli_graph_schedule(graph, &one, sites, 1))
        for (uint32_t i = 1; i < graph->count; i++)
            gives_up |= (graph->node[i].flags & PLI_NODE_FLASH) && graph->node[i].visited &&
                        graph->node[i].site != graph->node[i].layer_site;
    graph->asked_key = key;
    graph->gives_up = gives_up;
    return gives_up;
}

/* Of a cache that was made for flash attention; without it a little more is copied than here. */
static void replay_as_engine(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                             const pli_sites *sites, const pli_plan *plan, pli_replayed *out)
{
    pli_setup without = *setup;
    without.flash = false;
    out->estimated = gives_up_flash(graph, shape, setup, sites, plan);
    replay_anew(graph, shape, out->estimated ? &without : setup, sites, plan, out);
}

bool pli_replay_compute(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                        pli_plan *plan)
{
    pli_graph *graph = shape->graph;
    if (!graph)
        return false;
    uint64_t key = key_of(shape, setup);
    pli_replayed *answer = &graph->kept[key % PLI_REPLAYS_KEPT];
    if (answer->key != key) {
        replay_as_engine(graph, shape, setup, sites, plan, answer);
        answer->key = key;
    }
    for (size_t i = 0; answer->done && i <= sites->devices; i++) {
        plan->at[i].compute = answer->peak[i];
        plan->at[i].compute_kind =
            sites->at[i].backend->exact && !answer->estimated ? PLI_EXACT : PLI_ESTIMATE;
    }
    return answer->done;
}
