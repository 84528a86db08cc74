/* What recurrent layers keep of each sequence (llama-graph.cpp: build_rs_inp, build_rs). */
#include "graph_build.h"

#define F32 4u

/* Is the graph the same for any number of sequences? */
static bool is_steady(const pli_builder *b)
{
    return b->setup->generation->flags & PLI_GEN_STEADY_STATES;
}

/* The graph that memory is reserved for works on every sequence: no state is left over, but a
 * steady graph reads all that ever could be. */
void pli_build_state_inputs(pli_builder *b)
{
    b->kept = pli_build_input(b, b->sequences, sizeof(int32_t));
    b->states = pli_build_view(b, b->kept, pli_dims_of(b->sequences, 1, 1));
    b->spares = is_steady(b) ? b->sequences - 1 : 0;
    b->spare = pli_build_view(b, b->kept, pli_dims_of(b->spares, 1, 1));
}

static pli_id expanded(pli_builder *b, pli_id id)
{
    pli_graph_expand(b->graph, id);
    return id;
}

static pli_id rows_of(pli_builder *b, const pli_state *state, uint64_t rows, pli_id which)
{
    return pli_build_op(b, PLI_OP_LOOKUP, pli_dims_of(state->width, rows, 1), state->all, which);
}

/* A copy into the state, or work on it where it is. */
static void store(pli_builder *b, const pli_state *state, pli_id what)
{
    pli_id id = pli_build_op(b, PLI_OP_STORE, pli_dims_of(0, 0, 0), what, state->cache);
    if (id != PLI_NO_NODE)
        b->graph->node[id].root = state->cache;
    pli_graph_expand(b->graph, id);
}

pli_state pli_build_state(pli_builder *b, uint64_t width)
{
    pli_state state = {.cache = pli_build_cache(b, b->il), .width = width};
    state.all = pli_build_view(b, state.cache, pli_dims_of(width, b->sequences, 1));
    store(b, &state, state.all);
    return state;
}

void pli_build_state_moved(pli_builder *b, const pli_state *state)
{
    pli_id id = rows_of(b, state, b->spares, b->spare);
    store(b, state, is_steady(b) ? pli_build_view(b, id, pli_dims_of(state->width, 0, 1)) : id);
}

pli_id pli_build_state_loaded(pli_builder *b, const pli_state *state)
{
    if (!is_steady(b)) {
        pli_id id = expanded(b, rows_of(b, state, b->sequences, b->states));
        pli_build_state_moved(b, state);
        return id;
    }
    pli_id id = expanded(b, rows_of(b, state, b->sequences, b->kept));
    store(b, state, pli_build_view(b, id, pli_dims_of(state->width, 0, 1)));
    return pli_build_view(b, id, pli_dims_of(state->width, b->sequences, 1));
}

void pli_build_state_store(pli_builder *b, const pli_state *state, pli_id what)
{
    store(b, state, what);
}
