/* The engine's computation graph, as far as memory goes: which operation reads what, how large
 * its result is, and what may take over its operand's memory. Built by templates
 * (graph_build.c), spread over the memories as ggml's scheduler does (graph_schedule.c), and
 * allocated as ggml's allocator does (graph_allocate.c); the peak is the compute buffer. */
#ifndef PLI_GRAPH_H
#define PLI_GRAPH_H

#include "load.h"

typedef uint32_t pli_id; /* of a node; PLI_NO_NODE: none */
#define PLI_NO_NODE 0u
#define PLI_MAX_SOURCES 7u       /* a scan's */
#define PLI_MAX_NODES (1u << 16) /* a model of 128 layers with 8 experts a token has 20,000 */
#define PLI_MAX_NODE_BYTES ((uint64_t)1 << 44) /* with the above, no sum overflows */
#define PLI_UNPLACED (-1)

typedef enum pli_op {
    PLI_OP_LEAF,    /* an input, a weight, a cache: not computed */
    PLI_OP_VIEW,    /* a reshape, slice or permutation: no memory of its own */
    PLI_OP_STORE,   /* writes into a cache: no memory of its own */
    PLI_OP_PLAIN,   /* its result is new memory */
    PLI_OP_INPLACE, /* its result may take over an operand's memory */
    PLI_OP_ROPE,    /* the same, and a weight does not attract it */
    PLI_OP_ATTEND,  /* its result is new memory, and a weight does not attract it */
    PLI_OP_LOOKUP,  /* rows of a table: never worth lending to a device */
    PLI_OP_DEPEND,  /* keeps its operand until a copy of it is made */
} pli_op;

#define PLI_NODE_WEIGHT 1u /* lies in a weights buffer */
#define PLI_NODE_STORED 2u /* lies in a buffer that exists already: weights, caches */
#define PLI_NODE_INPUT 4u  /* filled by the caller, on the host */
#define PLI_NODE_HELD 8u   /* never freed, never taken over */
#define PLI_NODE_FLASH 16u /* flash attention of a layer that lies at layer_site */

typedef struct pli_dims {
    uint64_t n[3];
} pli_dims;

typedef struct pli_node {
    pli_id source[PLI_MAX_SOURCES];
    pli_id root; /* whose memory a view or store shows */
    pli_id copy; /* first copy in another memory; chained by next_copy */
    pli_id next_copy;
    pli_dims dims;
    uint64_t rows;  /* how many the operation works on: decides whether lending it pays */
    uint64_t bytes; /* of its own memory */
    int site;
    uint8_t op, flags, layer_site;
    bool visited;
    /* while memory is allocated */
    bool allocated;
    uint32_t children, views;
    int buffer;
    uint64_t offset;
} pli_node;

typedef struct pli_ids {
    pli_id *at;
    uint32_t count, room;
} pli_ids;

typedef struct pli_block {
    uint64_t offset, size;
} pli_block;

typedef struct pli_heap {
    pli_block *free; /* by offset; the last has no end */
    size_t count, room;
    uint64_t alignment, peak;
} pli_heap;

#define PLI_MAX_DRAWN 256u /* layers */
#define PLI_NO_RHYTHM 0u   /* all layers are drawn */
/* Where a layer begins. */
typedef struct pli_edge {
    pli_id first;      /* its first node */
    int like, or_like; /* the free blocks must be as at one of these edges; PLI_UNPLACED: any */
    uint64_t state;    /* of the free blocks, when the allocator was here */
} pli_edge;

/* An answer that was worked out before. */
typedef struct pli_replayed {
    uint64_t key; /* of everything that the graph depends on; 0: none */
    bool done;
    bool estimated; /* by another graph than the one that was asked about */
    uint64_t peak[PLI_MAX_SITES];
} pli_replayed;
#define PLI_REPLAYS_KEPT 64u

typedef struct pli_graph {
    pli_arena *arena;
    pli_node *node; /* node[0] is none */
    uint32_t count, room;
    pli_ids order;             /* the nodes in the order of computation */
    pli_ids leaves;            /* in the order they were met */
    pli_ids split_order, held; /* of the scheduler */
    pli_heap heap[PLI_MAX_SITES];
    pli_edge *edge; /* of the layers drawn */
    uint64_t *look; /* of all layers: equal for those that are drawn alike */
    uint32_t edges;
    uint32_t drawn;     /* nodes; those that follow are copies */
    uint64_t asked_key; /* for which it is known whether flash attention is given up */
    bool gives_up;
    unsigned rhythm;  /* periods of layers in which the allocator repeats itself */
    bool unlike;      /* layers were left out that would have mattered */
    unsigned replays; /* done so far: a test counts them */
    pli_replayed kept[PLI_REPLAYS_KEPT];
    bool failed; /* out of memory, or over a limit */
    pli_calc calc;
} pli_graph;

/* Memory for graphs, used again by every replay. NULL when out of memory. */
pli_graph *pli_graph_new(pli_arena *arena);

/* A new node; PLI_NO_NODE when the graph failed. bytes follow from dims and the size of an
 * element. */
pli_id pli_graph_add(pli_graph *graph, pli_op op, pli_dims dims, uint64_t element);
void pli_graph_source(pli_graph *graph, pli_id node, pli_id source);
/* Appends a node and everything it needs to the order, operands from left to right. */
void pli_graph_expand(pli_graph *graph, pli_id node);
void pli_ids_add(pli_graph *graph, pli_ids *list, pli_id id);

/* The graph of one physical batch. False: no template knows this model exactly (or *graph
 * failed). */
bool pli_graph_build(pli_graph *graph, const pli_shape *shape, const pli_setup *setup,
                     const pli_sites *sites, const pli_plan *plan);
/* Gives every node its memory and inserts the copies between them. `copies` of every input: 1,
 * or 4 in a pipeline. */
bool pli_graph_schedule(pli_graph *graph, const pli_setup *setup, const pli_sites *sites,
                        unsigned copies);
/* Peak bytes of each memory. */
bool pli_graph_allocate(pli_graph *graph, const pli_sites *sites, uint64_t peak[PLI_MAX_SITES]);

/* The three together: compute bytes of every site, byte for byte. False: not known exactly,
 * nothing changed. */
bool pli_replay_compute(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                        pli_plan *plan);

#endif
