/* The gated delta rule written out, as llama.cpp b7847 did (qwen3next.cpp,
 * build_delta_net_chunking): each sequence is cut into chunks of tokens; what can be is computed of
 * all chunks at once, then the state goes from chunk to chunk. */
#include "compute.h"
#include "graph_delta.h"

#define CHUNK 64u
#define MAX_CHUNKS 1024u /* of a sequence: expanding what they made goes as deep */
#define F32 4u

typedef struct chunks {
    uint64_t count;   /* of a sequence */
    uint64_t padded;  /* tokens of a sequence, filled up to whole chunks */
    uint64_t threads; /* heads of all sequences */
    pli_dims square;  /* tokens x tokens of every chunk */
    pli_dims one;     /* a row for each token of one chunk */
    pli_id keys, keys_beta;
    pli_id sums;         /* of the decays within a chunk, up to each token */
    pli_id last, decays; /* the last of them; the decay over a whole chunk */
    pli_id mask;         /* decay between two tokens of a chunk */
    pli_id grown;        /* decay since the chunk's start */
    pli_id solved, values, keys_decayed, keys_left;
    pli_id queries, scores;
} chunks;

static pli_id copied(pli_builder *b, pli_id id, pli_dims dims)
{
    return pli_build_new(b, dims, id, PLI_NO_NODE);
}

static pli_id unary(pli_builder *b, pli_id id)
{
    return pli_build_onto(b, id, PLI_NO_NODE);
}

static pli_id same(pli_builder *b, pli_id id)
{
    return b->graph->failed ? PLI_NO_NODE : pli_build_view(b, id, b->graph->node[id].dims);
}

/* ---- constants ------------------------------------------------------------------------------- */

static pli_id filled(pli_builder *b, uint64_t elements)
{
    return pli_build_where(b,
                           pli_graph_add(b->graph, PLI_OP_LEAF, pli_dims_of(elements, 1, 1), F32));
}

void pli_delta_chunk_inputs(pli_builder *b)
{
    pli_dims dims = pli_dims_of(CHUNK, CHUNK, 1);
    b->chunk.before = copied(b, filled(b, CHUNK * CHUNK), dims);
    b->chunk.identity = copied(b, filled(b, CHUNK), dims);
    b->chunk.until = pli_build_onto(b, b->chunk.before, b->chunk.identity);
    pli_graph_expand(b->graph, b->chunk.before);
    pli_graph_expand(b->graph, b->chunk.identity);
    pli_graph_expand(b->graph, b->chunk.until);
}

/* ---- all chunks at once ---------------------------------------------------------------------- */

/* Tokens of each head behind each other, filled up to whole chunks. */
static pli_id by_heads(pli_builder *b, const pli_delta *d, const chunks *c, pli_id id,
                       uint64_t width)
{
    id = copied(b, same(b, id), pli_dims_of(width, d->length, c->threads));
    return copied(b, id, pli_dims_of(width, c->padded, c->threads));
}

/* Queries or keys: repeated where values have more heads, normed. */
static pli_id normed(pli_builder *b, const pli_delta *d, pli_id mixed)
{
    pli_dims dims = pli_dims_of(d->head, d->heads, b->tokens), own = dims;
    own.n[1] = d->key_heads;
    pli_id id = copied(b, pli_build_view(b, mixed, own), own);
    if (d->key_heads != d->heads)
        id = pli_build_view(b, copied(b, same(b, id), dims), dims);
    return pli_build_anew(b, id);
}

static void sum_decays(pli_builder *b, const pli_delta *d, const pli_delta_rule *rule, chunks *c)
{
    pli_id id = by_heads(b, d, c, rule->decay, 1);
    pli_dims whole = pli_dims_of(1, c->count, c->threads);
    c->sums = copied(b, same(b, id), pli_dims_of(CHUNK, c->count, c->threads));
    c->last = copied(b, pli_build_view(b, c->sums, whole), whole);
    c->decays = unary(b, c->last);
}

static void mask_decays(pli_builder *b, chunks *c)
{
    pli_id id = copied(b, same(b, c->sums), c->square);
    id = pli_build_onto(b, pli_build_onto(b, id, c->sums), b->chunk.until);
    c->mask = pli_build_onto(b, unary(b, id), b->chunk.until);
}

/* What each token of a chunk owes those before it, solved for all at once. */
static void solve(pli_builder *b, chunks *c)
{
    pli_id id = pli_build_new(b, c->square, c->keys, c->keys_beta);
    id = pli_build_onto(b, pli_build_onto(b, id, c->mask), b->chunk.before);
    id = unary(b, id);
    pli_id left = copied(b, b->chunk.identity, c->square);
    left = pli_build_onto(b, left, pli_build_onto(b, id, b->chunk.before));
    id = pli_build_new(b, c->square, left, id);
    c->solved = pli_build_onto(b, pli_build_onto(b, id, b->chunk.before), b->chunk.identity);
}

static pli_id turned(pli_builder *b, pli_id id)
{
    return pli_build_anew(b, same(b, id));
}

static void prepare(pli_builder *b, const pli_delta *d, const pli_delta_rule *rule, chunks *c)
{
    pli_dims rows = pli_dims_of(d->head, c->padded, c->threads);
    pli_dims heads = pli_dims_of(d->head, d->heads, b->tokens);
    sum_decays(b, d, rule, c);
    pli_id beta = by_heads(b, d, c, rule->beta, 1);
    pli_id values = copied(b, pli_build_view(b, rule->mixed, heads), heads);
    values = pli_build_onto(b, by_heads(b, d, c, values, d->head), beta);
    pli_id keys = by_heads(b, d, c, normed(b, d, rule->mixed), d->head);
    c->keys = same(b, keys);
    c->keys_beta = same(b, pli_build_onto(b, keys, beta));
    mask_decays(b, c);
    solve(b, c);
    c->values = pli_build_new(b, rows, turned(b, same(b, values)), c->solved);
    c->grown = unary(b, turned(b, c->sums));
    pli_id id = turned(b, pli_build_onto(b, c->keys_beta, c->grown));
    c->keys_decayed = turned(b, pli_build_new(b, rows, c->solved, id));
    id = unary(b, unary(b, pli_build_onto(b, c->sums, c->last)));
    c->keys_left = pli_build_onto(b, c->keys, id);
    c->queries = same(b, by_heads(b, d, c, unary(b, normed(b, d, rule->mixed)), d->head));
    id = pli_build_new(b, c->square, c->keys, c->queries);
    c->scores = pli_build_onto(b, pli_build_onto(b, id, c->mask), b->chunk.until);
}

/* ---- from chunk to chunk --------------------------------------------------------------------- */

typedef struct step { /* of one chunk: the state before it, its values less what is known */
    pli_id state, fresh;
} step;

/* The state after a chunk. */
static pli_id advanced(pli_builder *b, const pli_delta *d, const chunks *c, pli_id state, step *s)
{
    pli_dims each = pli_dims_of(1, c->threads, 1);
    pli_dims square = pli_dims_of(d->head * d->head, d->heads, b->sequences);
    pli_id decay = copied(b, pli_build_view(b, c->decays, each), each);
    pli_id kept = pli_build_onto(b, state, pli_build_view(b, decay, each));
    pli_id fresh = copied(b, pli_build_view(b, c->values, c->one), c->one);
    s->state = copied(b, same(b, state), square);
    pli_id known = pli_build_new(b, c->one, s->state, pli_build_view(b, c->keys_decayed, c->one));
    s->fresh = turned(b, pli_build_onto(b, fresh, known));
    pli_id keys = copied(b, pli_build_view(b, c->keys_left, c->one), c->one);
    pli_id learnt = pli_build_new(b, square, s->fresh, turned(b, keys));
    return pli_build_onto(b, kept, same(b, learnt));
}

/* What a chunk's queries find in the state, and in the chunk itself. */
static pli_id answered(pli_builder *b, const chunks *c, const step *s)
{
    pli_dims square = pli_dims_of(CHUNK, CHUNK, c->threads);
    pli_id id = pli_build_onto(b, pli_build_view(b, c->queries, c->one), same(b, c->grown));
    id = pli_build_new(b, c->one, s->state, id);
    return pli_build_onto(b, id,
                          pli_build_new(b, c->one, s->fresh, pli_build_view(b, c->scores, square)));
}

pli_id pli_delta_in_chunks(pli_builder *b, const pli_delta *d, const pli_delta_rule *rule,
                           pli_id *next)
{
    chunks c = {.count = (d->length + CHUNK - 1) / CHUNK, .threads = d->heads * b->sequences};
    c.padded = c.count * CHUNK;
    c.square = pli_dims_of(CHUNK, c.padded, c.threads);
    c.one = pli_dims_of(d->head, CHUNK, c.threads);
    prepare(b, d, rule, &c);
    pli_id state = same(b, rule->state), all = PLI_NO_NODE;
    for (uint64_t i = 0; i < c.count && !b->graph->failed; i++) {
        step s;
        state = advanced(b, d, &c, state, &s);
        pli_graph_expand(b->graph, state);
        pli_id found = answered(b, &c, &s);
        pli_dims so_far = pli_dims_of(d->head, (i + 1) * CHUNK, c.threads);
        all = i ? pli_build_new(b, so_far, all, found) : found;
    }
    *next = state;
    all = copied(b, same(b, all), pli_dims_of(d->head, d->length, c.threads));
    all = copied(b, same(b, all), pli_dims_of(d->head, d->heads, b->tokens));
    return same(b, all);
}

bool pli_delta_chunks_fit(const pli_builder *b)
{
    return pli_graph_tokens(b->setup) / b->setup->sequences / CHUNK < MAX_CHUNKS &&
           pli_build_has(b, "attn_qkv") && pli_build_has(b, "ssm_ba");
}
