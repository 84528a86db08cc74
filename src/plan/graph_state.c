/* What recurrent layers keep of each sequence (llama-graph.cpp: build_rs_inp, build_rs). */
#include "graph_build.h"

#define F32 4u

void pli_build_state_inputs(pli_builder *b)
{
    pli_id ids = pli_build_input(b, b->sequences, sizeof(int32_t));
    b->states = pli_build_view(b, ids, pli_dims_of(b->sequences, 1, 1));
    /* The graph that memory is reserved for works on every sequence: none is left over. */
    b->spare = pli_build_view(b, ids, pli_dims_of(0, 1, 1));
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

pli_id pli_build_state_rows(pli_builder *b, const pli_state *state)
{
    return expanded(b, rows_of(b, state, b->sequences, b->states));
}

void pli_build_state_moved(pli_builder *b, const pli_state *state)
{
    store(b, state, rows_of(b, state, 0, b->spare));
}

pli_id pli_build_state_loaded(pli_builder *b, const pli_state *state)
{
    pli_id id = pli_build_state_rows(b, state);
    pli_build_state_moved(b, state);
    return id;
}

void pli_build_state_store(pli_builder *b, const pli_state *state, pli_id what)
{
    store(b, state, what);
}
