/* One NVIDIA GPU, or one MIG slice of it, as NVML tells of it. Parts of the probe nvidia_nvml. */
#ifndef PLI_PROBE_NVIDIA_GPU_H
#define PLI_PROBE_NVIDIA_GPU_H

#include "../vendor/nvml.h"
#include "device_node.h"
#include "nvidia.h"

typedef struct pli_nvidia_gpu {
    pli_probe_context *context;
    const pli_nvml *nvml;
    pli_nvml_device at;
    plim_device *d;
    const char *driver_version; /* NULL when unknown */
    pli_nvidia_generation generation;
    bool on_bus;   /* the bus layer lists it, too */
    bool is_slice; /* of a GPU in MIG mode */
    bool lost;     /* a call said that the GPU is gone: nothing more is asked */
} pli_nvidia_gpu;

/* Everything about the GPU whose handle `at` is, into d, and its MIG slices behind it. */
void pli_nvidia_read_gpu(pli_nvidia_gpu *);

/* nvidia_memory.c */
void pli_nvidia_read_memory(pli_nvidia_gpu *);
/* nvidia_mig.c: only where MIG mode is on. */
void pli_nvidia_read_slices(pli_nvidia_gpu *);

/* Did a call answer? Keeps in mind when the GPU itself is gone. */
bool pli_nvidia_ok(pli_nvidia_gpu *, int rc);
/* Does this code only say that there is nothing to tell? */
bool pli_nvidia_is_silent(int rc);
/* What both a GPU and a slice tell about themselves: name, UUID, versions. */
void pli_nvidia_read_identity(pli_nvidia_gpu *);
/* A name for notes. */
const char *pli_nvidia_subject(const pli_nvidia_gpu *);
/* A code of one GPU: what it means for the device, with a note. */
void pli_nvidia_note_error(pli_probe_context *, plim_device *, const char *subject,
                           const char *call, int rc);

/* PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetNumGpuCores, &cores): asks, unless the GPU is gone. True
 * when it answered. */
#define PLI_NVIDIA_ASK(gpu, shape, symbol, ...)                                                    \
    (!(gpu)->lost &&                                                                               \
     pli_nvidia_ok((gpu), PLI_NVML_GET((gpu)->nvml, shape, symbol, &(gpu)->at, __VA_ARGS__)))

#endif
