/* Slices of a GPU in Multi-Instance GPU mode. Programs use the slices and not the GPU. */
#include "../base/limits.h"
#include "nvidia_gpu.h"

#define SOURCE "nvml"

/* The profile as NVIDIA writes it, "1g.10gb" or "1c.3g.40gb", is the end of the slice's name: its
 * size in GB is rounded in a way of its own, so that it is not reckoned here. */
static const char *profile_of(pli_nvidia_gpu *slice, const struct pli_nvml_attributes *a)
{
    pli_inventory *inv = slice->context->inv;
    pli_str rest = pli_s(PLIM_KNOWN(device, slice->d, name) ? slice->d->name : ""), word;
    while (pli_next_word(&rest, &word))
        if (pli_eq(word, "MIG") && pli_next_word(&rest, &word))
            return pli_text(inv, word);
    unsigned gpu = (unsigned)a->gpu_instance_slices, compute = (unsigned)a->compute_instance_slices;
    if (gpu == 0 || gpu > PLI_MAX_PARTITIONS)
        return NULL;
    if (compute == 0 || compute >= gpu)
        return pli_printf(inv->arena, "%ug", gpu);
    return pli_printf(inv->arena, "%uc.%ug", compute, gpu);
}

static void read_attributes(pli_nvidia_gpu *slice)
{
    struct pli_nvml_attributes a = {0};
    plim_device *d = slice->d;
    bool known = PLI_NVIDIA_ASK(slice, struct, nvmlDeviceGetAttributes_v2, &a, sizeof a);
    PLI_SET_STR(device, d, partition, profile_of(slice, &a), SOURCE);
    if (!known || a.multiprocessors == 0 || a.multiprocessors > 4096)
        return;
    PLI_SET(device, d, cores_compute_units, a.multiprocessors, SOURCE);
    if (slice->generation.cores_per_multiprocessor)
        PLI_SET(device, d, cores_shading,
                (uint64_t)a.multiprocessors * slice->generation.cores_per_multiprocessor, SOURCE);
}

/* What the GPU is, its slices are. */
static void inherit(pli_nvidia_gpu *slice, const plim_device *whole)
{
    plim_device *d = slice->d;
    pli_set_parent(slice->context->inv, d, whole);
    PLI_SET(device, d, available, true, SOURCE);
    if (PLIM_KNOWN(device, whole, pci_address))
        PLI_SET(device, d, pci_address, whole->pci_address, SOURCE);
    if (PLIM_KNOWN(device, whole, driver))
        PLI_SET(device, d, driver, whole->driver, SOURCE);
    if (PLIM_KNOWN(device, whole, compute_capability))
        PLI_SET(device, d, compute_capability, whole->compute_capability, SOURCE);
    if (PLIM_KNOWN(device, whole, arch))
        PLI_SET(device, d, arch, whole->arch, SOURCE);
    if (PLIM_KNOWN(device, whole, numa_node))
        PLI_SET(device, d, numa_node, whole->numa_node, SOURCE);
}

/* Compute instances of one GPU instance share its memory, which each of them reports in full. */
static void note_shared(pli_nvidia_gpu *slice, uint64_t *seen)
{
    uint32_t id;
    if (!PLI_NVIDIA_ASK(slice, u32, nvmlDeviceGetGpuInstanceId, &id) || id >= 64)
        return;
    if (*seen & (uint64_t)1 << id)
        pli_note(slice->context->inv, "info", slice->context->name, slice->at.ordinal, NULL,
                 "shares its memory with another slice of the same GPU instance: count it once");
    *seen |= (uint64_t)1 << id;
}

static bool read_slice(pli_nvidia_gpu *gpu, const pli_nvml_device *at, uint64_t *seen)
{
    pli_nvidia_gpu slice = *gpu;
    slice.at = *at;
    slice.is_slice = true;
    slice.d = pli_add_device(gpu->context->inv);
    if (!slice.d)
        return false;
    inherit(&slice, gpu->d);
    pli_nvidia_read_identity(&slice);
    pli_nvidia_read_memory(&slice);
    read_attributes(&slice);
    note_shared(&slice, seen);
    return true;
}

static uint32_t slice_places(pli_nvidia_gpu *gpu)
{
    uint32_t places;
    if (!PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetMaxMigDeviceCount, &places))
        return 0;
    if (places <= PLI_MAX_PARTITIONS)
        return places;
    pli_note(gpu->context->inv, "warning", gpu->context->name, pli_nvidia_subject(gpu), NULL,
             "says that it can have %u slices: the first %u are looked at", (unsigned)places,
             PLI_MAX_PARTITIONS);
    return PLI_MAX_PARTITIONS;
}

void pli_nvidia_read_slices(pli_nvidia_gpu *gpu)
{
    uint32_t places = slice_places(gpu);
    uint64_t seen = 0;
    unsigned slices = 0;
    for (uint32_t i = 0; i < places; i++) {
        pli_nvml_device at;
        int rc = pli_nvml_mig_at(gpu->nvml, &gpu->at, i, &at);
        if (rc == PLI_CALL_MISSING || (rc == PLI_NVML_SUCCESS && !read_slice(gpu, &at, &seen)))
            break;
        slices += rc == PLI_NVML_SUCCESS;
        if (rc != PLI_NVML_SUCCESS && rc != PLI_NVML_NOT_FOUND && rc != PLI_NVML_INVALID_ARGUMENT)
            pli_nvidia_note_error(gpu->context, NULL, at.ordinal,
                                  "nvmlDeviceGetMigDeviceHandleByIndex", rc);
    }
    pli_unavailable(gpu->context, gpu->d, SOURCE,
                    slices ? "it is in MIG mode: programs use its slices"
                           : "it is in MIG mode and has no slice that this process may use");
}
