/* What is loaded beside the model: a draft model or the model's own next-token heads, a projector
 * of images and sound, LoRA adapters, control vectors, the server's prompt cache. All of it is read
 * once and placed whenever the model is, because a draft's cache follows the model's context.
 *
 * Rules: llama.cpp 0.5.0's common.cpp, speculative.cpp, llama-adapter.cpp and mtmd/clip.cpp; what
 * 0.7.0 was held against stands in tests/fit/README.md. */
#ifndef PLI_EXTRAS_H
#define PLI_EXTRAS_H

#include "load.h"

typedef struct pli_draft {
    pli_shape shape;
    bool own;            /* the model's own heads: no weights but theirs */
    uint64_t gpu_layers; /* at most layers + 1 */
    const pli_quant *type_k, *type_v;
    bool chosen[PLI_MAX_SITES]; /* -devd; the host is always one */
    const char *devices;        /* as given, or NULL */
} pli_draft;

/* The encoder of images or sound. */
typedef struct pli_projector {
    const pli_model *model;
    bool offloaded;
    uint64_t positions; /* of the largest image, or of half a minute of sound */
    uint64_t elements;  /* f32 that a position needs at the widest point of the graph */
    uint64_t heads;
    pli_certainty kind; /* of what the graph takes */
    bool masked;        /* some layers attend within windows: a mask over all pairs */
} pli_projector;

#define PLI_NO_BASE UINT32_MAX
typedef struct pli_adapter {
    const pli_model *model;
    const uint32_t *base; /* by its tensors: the model's tensor that it changes, or PLI_NO_BASE */
} pli_adapter;

typedef struct pli_extras {
    const pli_draft *draft;
    const pli_projector *projector;
    const pli_adapter *adapters;
    size_t adapter_count;
    const pli_model *const *controls; /* however many, one row for each layer is kept */
    size_t control_count;
    uint64_t cache; /* bytes that the server's prompt cache may grow to */
    bool cache_unlimited;
    bool cache_given;  /* asked for: counted */
    bool kept_on_host; /* --no-mmproj-offload */
} pli_extras;

/* Reads what the options name into setup->extras. INVALID: a file that is not what its flag takes
 * or does not belong to this model, a flag's value; LIMIT; NOMEM. After pli_setup_read(). */
plim_status pli_extras_read(pli_arena *arena, const pli_shape *shape, const pli_sites *sites,
                            const plim_fit_options *options, plim_error *error, pli_setup *setup);

/* Fills what of a plan belongs to them; after everything of the model's own. */
void pli_place_extras(pli_calc *calc, const pli_shape *shape, const pli_setup *setup,
                      const pli_sites *sites, pli_plan *plan);

/* Parts, one file each. */
plim_status pli_draft_read(pli_arena *arena, const pli_shape *shape, const pli_sites *sites,
                           const plim_fit_options *options, plim_error *error,
                           const pli_draft **out);
/* Are recurrent states of the model kept once more for each token that the draft proposes? */
bool pli_draft_rolls_back(const pli_draft *draft);
/* Places a draft alone; which site each of its own is, in `to`. */
void pli_draft_place(pli_calc *calc, const pli_draft *draft, const pli_shape *shape,
                     const pli_setup *setup, const pli_sites *sites, const pli_plan *plan,
                     pli_plan *out, size_t to[PLI_MAX_SITES], size_t *count);
plim_status pli_projector_read(pli_arena *arena, const pli_sites *sites,
                               const plim_fit_options *options, plim_error *error,
                               const pli_projector **out);
uint64_t pli_projector_weights(pli_calc *calc, const pli_projector *projector,
                               const pli_backend *backend);
uint64_t pli_projector_compute(pli_calc *calc, const pli_projector *projector,
                               const pli_setup *setup);
plim_status pli_adapters_read(pli_arena *arena, const pli_shape *shape,
                              const plim_fit_options *options, plim_error *error,
                              pli_extras *extras);
/* Bytes on every site, the widest addition to a graph among them. */
void pli_adapters_place(pli_calc *calc, const pli_extras *extras, const pli_shape *shape,
                        const pli_setup *setup, const pli_sites *sites, pli_plan *plan);

#endif
