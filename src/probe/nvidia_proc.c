/* NVIDIA GPUs by the files of the kernel driver: names, version and state also where the management
 * library is absent or does not fit. Reading them hangs on nothing and wakes nothing. Memory is not
 * told here. */
#include <string.h>

#include "device_node.h"
#include "nvidia.h"

#define GPUS "/proc/driver/nvidia/gpus"

static bool gate(pli_probe_context *context)
{
    return pli_exists(context->m, "/proc/driver/nvidia/version");
}

/* Question marks stand for what the driver learns only when the GPU is first used. */
static bool told(pli_str value)
{
    return value.n && !memchr(value.p, '?', value.n) && !pli_eq(value, "Unknown");
}

static plim_device *device_at(pli_inventory *inv, const char *address)
{
    plim_device *d = pli_device_by_pci(inv, address);
    if (d || !(d = pli_add_device(inv)))
        return d;
    PLI_SET_STR(device, d, pci_address, pli_strdup(inv->arena, address), "proc");
    PLI_SET(device, d, pci_vendor_id, "10de", "proc");
    PLI_SET(device, d, kind, "gpu", "proc");
    PLI_SET(device, d, driver, "nvidia", "proc");
    return d;
}

static void read_information(pli_probe_context *context, plim_device *d, pli_str text)
{
    pli_inventory *inv = context->inv;
    pli_str value;
    PLI_FILL(device, d, vendor, "NVIDIA", "proc");
    PLI_FILL(device, d, family, "cuda", "proc");
    if (pli_find_value(text, "Model", ':', &value) && told(value))
        PLI_SET_STR(device, d, name, pli_text(inv, value), "proc");
    if (pli_find_value(text, "GPU UUID", ':', &value) && told(value))
        PLI_SET_STR(device, d, uuid, pli_text(inv, value), "proc");
    if (pli_find_value(text, "Video BIOS", ':', &value) && told(value))
        PLI_SET_STR(device, d, vbios_version, pli_text(inv, value), "proc");
    if (pli_find_value(text, "GPU Excluded", ':', &value) && pli_eq(value, "Yes"))
        pli_unavailable(context, d, "proc",
                        "the driver is told to leave it alone (NVreg_ExcludedGpus)");
}

/* A GPU that the driver has switched off is asleep also where the bus says nothing of it. */
static void read_power(plim_device *d, pli_str text)
{
    pli_str value;
    if (pli_find_value(text, "Video Memory", ':', &value) && pli_eq(value, "Off"))
        PLI_FILL(device, d, power_state, "suspended", "proc");
}

static void read_gpu(pli_probe_context *context, const char *address)
{
    pli_str text;
    if (pli_readf(context->m, context->scratch, &text, GPUS "/%s/information", address) != PLIM_OK)
        return;
    plim_device *d = device_at(context->inv, address);
    if (!d)
        return;
    read_information(context, d, text);
    if (pli_readf(context->m, context->scratch, &text, GPUS "/%s/power", address) == PLIM_OK)
        read_power(d, text);
}

static void run(pli_probe_context *context)
{
    pli_names gpus;
    size_t next = 0;
    const char *version =
        pli_text(context->inv, pli_nvidia_module_version(context->m, context->scratch));
    (void)pli_list(context->m, context->scratch, GPUS, &gpus);
    for (size_t i = 0; i < gpus.count; i++)
        read_gpu(context, gpus.items[i]);
    for (plim_device *d; (d = pli_nvidia_next(context->inv, &next));)
        PLI_SET_STR(device, d, driver_version, version, "proc");
}

const pli_probe pli_probe_nvidia_proc = {.gate = gate, .run = run};
