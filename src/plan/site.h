/* The memories that a model can be placed in: the accelerators that llama.cpp would use, then
 * the host. What is free there, what of it may be used, and who says so. */
#ifndef PLI_SITE_H
#define PLI_SITE_H

#include <plimsoll/machine.h>

#include "../base/str.h"

typedef struct pli_backend {
    const char *family, *name, *buffer;
    uint64_t alignment, row_padding, context_mib;
    bool pipelines, exact;
    bool halves; /* flash attention reads keys and values as f16 */
} pli_backend;

#define PLI_MAX_PLAN_DEVICES 16u /* the engine's own limit */
#define PLI_MAX_SITES (PLI_MAX_PLAN_DEVICES + 1)
#define PLI_HOST_BUFFER                                                                            \
    ((uint64_t)1 << 30) /* RAM left to the system (seed 000); twice that on Windows */
#define PLI_MIB(n) ((uint64_t)(n) << 20)

typedef struct pli_site {
    const pli_backend *backend;
    const plim_device *device; /* NULL: the host */
    unsigned ordinal;          /* among the devices of its backend */
    char name[24];             /* "cuda0", "host" */
    bool total_known, free_known, budget_known;
    bool unlimited; /* the host of a specification that names none */
    bool shared;    /* its memory is the host's RAM ... */
    uint64_t own;   /* ... but for these bytes, free of a part of its own */
    uint64_t total, free, budget;
    const char *source; /* who says what is free */
} pli_site;

typedef struct pli_sites {
    pli_site at[PLI_MAX_SITES]; /* at[devices] is the host */
    size_t devices;
    size_t left_out;  /* devices beyond the engine's limit */
    bool alone;       /* -sm none: the others are not opened */
    uint64_t safety;  /* bytes of RAM left to the system */
    uint32_t repacks; /* which weights the processor rearranges (repack.h) */
} pli_sites;

void pli_sites_read(const plim_machine *machine, pli_sites *sites);
static inline const pli_site *pli_sites_host(const pli_sites *sites)
{
    return &sites->at[sites->devices];
}
/* The site of one of ggml's buffer names: "CPU", "CUDA0", "CUDA_Host". False: none here. */
bool pli_sites_by_buffer(const pli_sites *sites, const char *buffer, size_t *site);

#endif
