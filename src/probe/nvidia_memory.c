/* Memory of an NVIDIA GPU: its own, or the system's RAM where it has none. */
#include "../base/limits.h"
#include "../base/num.h"
#include "nvidia_gpu.h"

#define SOURCE "nvml"

/* Free is what counts and total does not change; what a version of the driver calls used may or may
 * not hold what it reserves for itself, so used is reckoned. */
static void dedicated(pli_nvidia_gpu *gpu, const struct pli_nvml_memory_v2 *mem)
{
    plim_device *d = gpu->d;
    PLI_SET(device, d, memory_kind, "dedicated", SOURCE);
    PLI_SET(device, d, memory_total_bytes, mem->total, SOURCE);
    if (mem->reserved <= mem->total)
        PLI_SET(device, d, memory_reserved_bytes, mem->reserved, SOURCE);
    if (mem->free <= mem->total && mem->used <= mem->total) {
        PLI_SET(device, d, memory_free_bytes, mem->free, SOURCE);
        PLI_SET(device, d, memory_used_bytes, mem->total - mem->free, SOURCE);
        return;
    }
    pli_note(gpu->context->inv, "warning", gpu->context->name, pli_nvidia_subject(gpu), NULL,
             "says that %llu bytes are in use and %llu free of %llu: taken for unknown",
             (unsigned long long)mem->used, (unsigned long long)mem->free,
             (unsigned long long)mem->total);
}

/* The GPU takes pages like any program, with one exception: where huge pages are reserved, CUDA
 * takes those and no others. */
static void unified(pli_nvidia_gpu *gpu)
{
    const plim_memory *ram = gpu->context->inv->machine->memory;
    plim_device *d = gpu->d;
    uint64_t free;
    PLI_SET(device, d, integrated, true, SOURCE);
    PLI_SET(device, d, memory_kind, "unified", SOURCE);
    PLI_FORGET(device, d, memory_used_bytes);
    if (!ram || !PLIM_KNOWN(memory, ram, total_bytes))
        return;
    PLI_SET(device, d, memory_total_bytes, ram->total_bytes, "meminfo");
    if (PLIM_KNOWN(memory, ram, hugepages_total) && ram->hugepages_total &&
        PLIM_KNOWN(memory, ram, hugepages_free) && PLIM_KNOWN(memory, ram, hugepage_size_bytes)) {
        if (pli_mul(ram->hugepages_free, ram->hugepage_size_bytes, &free) &&
            free <= ram->total_bytes)
            PLI_SET(device, d, memory_free_bytes, free, "meminfo");
        return;
    }
    if (PLIM_KNOWN(memory, ram, usable_bytes))
        free = ram->usable_bytes;
    else if (PLIM_KNOWN(memory, ram, available_bytes))
        free = ram->available_bytes;
    else
        return;
    if (free > ram->total_bytes)
        return;
    PLI_SET(device, d, memory_free_bytes, free, "meminfo");
    PLI_SET(device, d, memory_used_bytes, ram->total_bytes - free, "meminfo");
}

/* GPU and CPU share page tables, and the GPU's memory is no NUMA node of its own (GH200's is). */
static bool shares_page_tables(pli_nvidia_gpu *gpu)
{
    struct pli_nvml_addressing_mode mode = {PLI_NVML_ADDRESSING_MODE_V1, 0};
    uint32_t node;
    return PLI_NVIDIA_ASK(gpu, struct, nvmlDeviceGetAddressingMode, &mode, sizeof mode) &&
           mode.value == PLI_NVML_ADDRESSING_ATS &&
           !PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetNumaNodeId, &node);
}

/* Unified memory is a property of the chip. That the driver tells of no memory is no proof: it also
 * refuses a vGPU or a broken GPU. So something else has to say so, too; and what a Tegra's NVML
 * says of memory is zeros or worse. */
static bool is_unified(pli_nvidia_gpu *gpu, bool told)
{
    const plim_device *d = gpu->d;
    if (PLIM_KNOWN(device, d, name) && pli_nvidia_is_unified(d->name))
        return true;
    if (!gpu->on_bus && pli_nvidia_is_tegra(gpu->context->m, gpu->context->scratch))
        return true;
    return !told && shares_page_tables(gpu);
}

void pli_nvidia_read_memory(pli_nvidia_gpu *gpu)
{
    struct pli_nvml_memory_v2 mem;
    if (gpu->lost)
        return;
    int rc = pli_nvml_memory(gpu->nvml, &gpu->at, &mem);
    bool told = pli_nvidia_ok(gpu, rc) && mem.total != 0 && mem.total <= PLI_MAX_DEVICE_MEMORY;
    if (gpu->lost)
        return;
    if (!gpu->is_slice && is_unified(gpu, told))
        unified(gpu);
    else if (told)
        dedicated(gpu, &mem);
    else if (rc == PLI_NVML_SUCCESS)
        pli_note(gpu->context->inv, "warning", gpu->context->name, pli_nvidia_subject(gpu), NULL,
                 "says that it has %llu bytes of memory: taken for unknown",
                 (unsigned long long)mem.total);
    else if (!pli_nvidia_is_silent(rc))
        pli_note(gpu->context->inv, "warning", gpu->context->name, pli_nvidia_subject(gpu), NULL,
                 "does not tell its memory (nvmlDeviceGetMemoryInfo: %d %s)", rc,
                 pli_nvml_error(rc));
}
