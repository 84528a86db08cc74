#include "../know/pci.h"
#include "nvidia_gpu.h"

#define SOURCE "nvml"

/* What is possible: an answer beyond it is no answer. */
#define MAX_CELSIUS 200
#define MAX_MILLIWATT 100000000u
#define MAX_MHZ 100000u
#define MAX_BUS_BITS 65536u
#define MAX_CORES 1000000u

bool pli_nvidia_ok(pli_nvidia_gpu *gpu, int rc)
{
    if (rc == PLI_NVML_GPU_IS_LOST || rc == PLI_NVML_RESET_REQUIRED) {
        pli_nvidia_note_error(gpu->context, gpu->d, pli_nvidia_subject(gpu), "nvml", rc);
        gpu->lost = true;
    }
    return rc == PLI_NVML_SUCCESS;
}

bool pli_nvidia_is_silent(int rc)
{
    return rc == PLI_CALL_MISSING || rc == PLI_NVML_FUNCTION_NOT_FOUND ||
           rc == PLI_NVML_NOT_SUPPORTED || rc == PLI_NVML_DEPRECATED;
}

const char *pli_nvidia_subject(const pli_nvidia_gpu *gpu)
{
    return PLIM_KNOWN(device, gpu->d, pci_address) ? gpu->d->pci_address : gpu->at.ordinal;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct trouble {
    int rc;
    const char *why, *hint;
} troubles[] = {
    {PLI_NVML_GPU_IS_LOST, "has fallen off the bus",
     "look for Xid 79 in the kernel log; it needs a reset or the machine a cold start"},
    {PLI_NVML_RESET_REQUIRED, "must be reset before it can be used",
     "nvidia-smi --gpu-reset, or reboot"},
    {PLI_NVML_NO_PERMISSION, "may not be opened by this process",
     "check the rights of /dev/nvidia* and the container's device rules"},
    {PLI_NVML_OPERATING_SYSTEM, "is kept away by the operating system",
     "a container loses its GPUs when systemd reloads its units: start it anew"},
    {PLI_NVML_UNKNOWN, "does not answer the driver",
     "a container loses its GPUs when systemd reloads its units: start it anew; else look for Xid "
     "in the kernel log"},
    {PLI_NVML_NOT_FOUND, "is not given to this process", NULL},
    {PLI_NVML_INSUFFICIENT_POWER, "lacks its power cables", "attach the external power cables"},
    {PLI_NVML_IRQ_ISSUE, "gets no interrupts", "check the firmware's settings for PCI interrupts"},
};

static const struct trouble *trouble_of(int rc)
{
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (troubles[i].rc == rc)
            return &troubles[i];
    return NULL;
}

void pli_nvidia_note_error(pli_probe_context *context, plim_device *d, const char *subject,
                           const char *call, int rc)
{
    const struct trouble *trouble = trouble_of(rc);
    const char *why = trouble ? trouble->why : "is not told about by the driver";
    if (d)
        pli_unavailable(context, d, SOURCE, why);
    pli_note(context->inv, "warning", context->name, subject, trouble ? trouble->hint : NULL,
             "%s (%s: %d %s)", why, call, rc, pli_nvml_error(rc));
}

/* ---- identity -------------------------------------------------------------------------------- */

/* NULL where there is nothing to show. */
#define TEXT(gpu, symbol, text)                                                                    \
    (PLI_NVIDIA_ASK((gpu), text, symbol, (text))                                                   \
         ? pli_text((gpu)->context->inv, pli_field_str((text), sizeof(text)))                      \
         : NULL)

void pli_nvidia_read_identity(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    char text[PLI_NVML_TEXT];
    PLI_FILL(device, d, kind, "gpu", SOURCE);
    PLI_SET(device, d, vendor, "NVIDIA", SOURCE);
    PLI_SET(device, d, family, "cuda", SOURCE);
    PLI_SET_STR(device, d, driver_version, gpu->driver_version, SOURCE);
    PLI_SET_STR(device, d, name, TEXT(gpu, nvmlDeviceGetName, text), SOURCE);
    PLI_SET_STR(device, d, uuid, TEXT(gpu, nvmlDeviceGetUUID, text), SOURCE);
}

/* The generation by compute capability, and by NVML's own number where that is newer than ours. */
static void read_generation(pli_nvidia_gpu *gpu)
{
    static const char *const names[] = {
        [2] = "kepler", [3] = "maxwell", [4] = "pascal", [5] = "volta",      [6] = "turing",
        [7] = "ampere", [8] = "ada",     [9] = "hopper", [10] = "blackwell", [13] = "rubin"};
    pli_inventory *inv = gpu->context->inv;
    uint32_t major, minor, number;
    if (PLI_NVIDIA_ASK(gpu, two, nvmlDeviceGetCudaComputeCapability, &major, &minor) &&
        major < 1000 && minor < 100) {
        PLI_SET_STR(device, gpu->d, compute_capability,
                    pli_printf(inv->arena, "%u.%u", (unsigned)major, (unsigned)minor), SOURCE);
        gpu->generation = pli_nvidia_generation_of(major, minor);
    }
    if (!gpu->generation.name && PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetArchitecture, &number) &&
        number < sizeof names / sizeof *names)
        gpu->generation.name = names[number];
    PLI_SET_STR(device, gpu->d, arch, gpu->generation.name, SOURCE);
}

static void read_cores(pli_nvidia_gpu *gpu)
{
    uint32_t cores, each = gpu->generation.cores_per_multiprocessor;
    if (!PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetNumGpuCores, &cores) || cores == 0 ||
        cores > MAX_CORES)
        return;
    PLI_SET(device, gpu->d, cores_shading, cores, SOURCE);
    if (each && cores % each == 0)
        PLI_SET(device, gpu->d, cores_compute_units, cores / each, SOURCE);
}

/* ---- how it is connected and what it does ---------------------------------------------------- */

static bool is_link(uint32_t generation, uint32_t lanes)
{
    return generation && lanes && pli_pcie_bytes_per_s(generation, lanes);
}

/* NVML's most is what GPU and slot can do together; the bus layer knows only the GPU's. A GPU that
 * shares the CPU's fabric shows one slow lane that carries nothing. */
static void read_pcie(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    uint32_t gen, lanes;
    if (PLIM_KNOWN(device, d, integrated))
        return;
    if (PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetMaxPcieLinkGeneration, &gen) &&
        PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetMaxPcieLinkWidth, &lanes) && is_link(gen, lanes)) {
        PLI_SET(device, d, pcie_max_gen, gen, SOURCE);
        PLI_SET(device, d, pcie_max_width, lanes, SOURCE);
        PLI_SET(device, d, pcie_bandwidth_bytes_per_s, pli_pcie_bytes_per_s(gen, lanes), SOURCE);
    }
    if (PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetCurrPcieLinkGeneration, &gen) &&
        PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetCurrPcieLinkWidth, &lanes) && is_link(gen, lanes)) {
        PLI_SET(device, d, pcie_current_gen, gen, SOURCE);
        PLI_SET(device, d, pcie_current_width, lanes, SOURCE);
    }
}

static void read_clocks(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    uint32_t mhz;
    if (PLI_NVIDIA_ASK(gpu, typed_u32, nvmlDeviceGetClockInfo, PLI_NVML_CLOCK_GRAPHICS, &mhz) &&
        mhz <= MAX_MHZ)
        PLI_SET(device, d, telemetry_clock_mhz, mhz, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, typed_u32, nvmlDeviceGetClockInfo, PLI_NVML_CLOCK_MEMORY, &mhz) &&
        mhz <= MAX_MHZ)
        PLI_SET(device, d, telemetry_clock_memory_mhz, mhz, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, typed_u32, nvmlDeviceGetMaxClockInfo, PLI_NVML_CLOCK_GRAPHICS, &mhz) &&
        mhz && mhz <= MAX_MHZ)
        PLI_SET(device, d, telemetry_clock_max_mhz, mhz, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, typed_u32, nvmlDeviceGetMaxClockInfo, PLI_NVML_CLOCK_MEMORY, &mhz) &&
        mhz && mhz <= MAX_MHZ)
        PLI_SET(device, d, telemetry_clock_memory_max_mhz, mhz, SOURCE);
}

/* Peak of both clock edges; NVML's memory clock is already doubled for GDDR6X and GDDR7, so that
 * this holds for all. */
static void read_bandwidth(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    uint32_t bits;
    if (!PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetMemoryBusWidth, &bits) || !bits ||
        bits > MAX_BUS_BITS)
        return;
    PLI_SET(device, d, memory_bus_width_bits, bits, SOURCE);
    if (PLIM_KNOWN(device, d, telemetry_clock_memory_max_mhz))
        PLI_SET(device, d, memory_bandwidth_bytes_per_s,
                d->telemetry_clock_memory_max_mhz * 1000000 * 2 * bits / 8, SOURCE);
}

static void read_telemetry(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    struct pli_nvml_utilization busy = {PLI_NVML_NO_U32, PLI_NVML_NO_U32};
    int32_t celsius;
    uint32_t n;
    if (!gpu->lost && pli_nvidia_ok(gpu, pli_nvml_temperature(gpu->nvml, &gpu->at, &celsius)) &&
        celsius >= 0 && celsius <= MAX_CELSIUS)
        PLI_SET(device, d, telemetry_temperature_c, (uint64_t)celsius, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetPowerUsage, &n) && n <= MAX_MILLIWATT)
        PLI_SET(device, d, telemetry_power_w, n / 1000.0, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetEnforcedPowerLimit, &n) && n <= MAX_MILLIWATT)
        PLI_SET(device, d, telemetry_power_limit_w, n / 1000.0, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, struct, nvmlDeviceGetUtilizationRates, &busy, sizeof busy) &&
        busy.gpu <= 100)
        PLI_SET(device, d, telemetry_utilization_percent, busy.gpu, SOURCE);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static void read_compute_mode(pli_nvidia_gpu *gpu)
{
    static const char *const names[] = {"default", "exclusive_process", "prohibited",
                                        "exclusive_process"};
    uint32_t mode;
    if (!PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetComputeMode, &mode) || mode >= 4)
        return;
    PLI_SET(device, gpu->d, compute_mode, names[mode], SOURCE);
    if (mode == PLI_NVML_COMPUTE_PROHIBITED)
        pli_unavailable(gpu->context, gpu->d, SOURCE,
                        "its compute mode is prohibited (nvidia-smi -c 0 allows it again)");
}

static void read_modes(pli_nvidia_gpu *gpu)
{
    char text[PLI_NVML_TEXT];
    uint32_t now = 0, pending, mode;
    if (PLI_NVIDIA_ASK(gpu, two, nvmlDeviceGetEccMode, &now, &pending) && now <= 1)
        PLI_SET(device, gpu->d, ecc_enabled, now == 1, SOURCE);
    if (PLI_NVIDIA_ASK(gpu, u32, nvmlDeviceGetVirtualizationMode, &mode) &&
        mode == PLI_NVML_VIRTUALIZATION_VGPU)
        PLI_SET(device, gpu->d, partition, "vGPU", SOURCE);
    PLI_SET_STR(device, gpu->d, vbios_version, TEXT(gpu, nvmlDeviceGetVbiosVersion, text), SOURCE);
    read_compute_mode(gpu);
    if (PLI_NVIDIA_ASK(gpu, two, nvmlDeviceGetMigMode, &now, &pending) && now <= 1)
        PLI_SET(device, gpu->d, mig_enabled, now == 1, SOURCE);
}

void pli_nvidia_read_gpu(pli_nvidia_gpu *gpu)
{
    plim_device *d = gpu->d;
    if (!PLIM_KNOWN(device, d, why_unavailable))
        PLI_SET(device, d, available, true, SOURCE);
    pli_nvidia_read_identity(gpu);
    read_generation(gpu);
    pli_nvidia_read_memory(gpu);
    read_cores(gpu);
    read_clocks(gpu);
    read_bandwidth(gpu);
    read_pcie(gpu);
    read_telemetry(gpu);
    read_modes(gpu);
    if (!gpu->lost && PLIM_KNOWN(device, d, mig_enabled) && d->mig_enabled)
        pli_nvidia_read_slices(gpu);
}
