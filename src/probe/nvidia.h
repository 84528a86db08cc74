/* What the NVIDIA probes share: which devices are the driver's, what is known of a generation. */
#ifndef PLI_PROBE_NVIDIA_H
#define PLI_PROBE_NVIDIA_H

#include "probe.h"

typedef struct pli_nvidia_generation {
    const char *name; /* "hopper", NULL when unknown */
    unsigned cores_per_multiprocessor;
} pli_nvidia_generation;

/* Number i of the GPUs on the bus that NVIDIA's own kernel driver holds; NULL past the last. *next
 * starts at 0. */
plim_device *pli_nvidia_next(const pli_inventory *, size_t *next);
/* Version of the loaded kernel module, "550.54.14"; empty where there is none. */
pli_str pli_nvidia_module_version(pli_machine *, pli_arena *);
/* Is this a Tegra (Jetson), whose GPU is no PCI device? */
bool pli_nvidia_is_tegra(pli_machine *, pli_arena *);
pli_nvidia_generation pli_nvidia_generation_of(unsigned major, unsigned minor);
/* Is this the name of a chip whose GPU has no memory of its own? */
bool pli_nvidia_is_unified(const char *name);

#endif
