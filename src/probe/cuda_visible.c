/* CUDA_VISIBLE_DEVICES: which of the GPUs that CUDA would find a program started here is shown.
 * Batch systems and people set it; NVML does not heed it. */
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "device_node.h"

#define VARIABLE "CUDA_VISIBLE_DEVICES"

struct gpu {
    plim_device *d;
    bool shown;
};
struct gpus {
    struct gpu *items;
    size_t count;
    bool numbered; /* is CUDA's order of them known? */
};

static bool gate(pli_probe_context *context)
{
    return pli_device_count(context->inv) > 0 && pli_env(context->m, VARIABLE);
}

static bool is_before(const plim_device *a, const plim_device *b)
{
    size_t na = strlen(a->pci_address), nb = strlen(b->pci_address);
    return na != nb ? na < nb : strcmp(a->pci_address, b->pci_address) < 0;
}

static bool counts(const plim_device *d)
{
    return PLIM_KNOWN(device, d, family) && strcmp(d->family, "cuda") == 0 &&
           PLIM_KNOWN(device, d, pci_address) && PLIM_KNOWN(device, d, name) &&
           PLIM_KNOWN(device, d, available) && d->available;
}

/* By PCI address. Without CUDA_DEVICE_ORDER the fastest come first, which is the same where all are
 * alike; slices of a GPU have an order of their own. */
static struct gpus find(pli_probe_context *context)
{
    const pli_inventory *inv = context->inv;
    const char *order = pli_env(context->m, "CUDA_DEVICE_ORDER");
    struct gpus gpus = {.numbered = true};
    gpus.items = pli_alloc_array(context->scratch, pli_device_count(inv), sizeof *gpus.items);
    for (size_t i = 0; gpus.items && i < pli_device_count(inv); i++) {
        plim_device *d = pli_device_at(inv, i);
        if (!counts(d))
            continue;
        size_t at = gpus.count++;
        for (; at > 0 && is_before(d, gpus.items[at - 1].d); at--)
            gpus.items[at] = gpus.items[at - 1];
        gpus.items[at] = (struct gpu){d, false};
        if (pli_is_part(d) || (strcmp(d->name, gpus.items[0].d->name) != 0 &&
                               !(order && strcmp(order, "PCI_BUS_ID") == 0)))
            gpus.numbered = false;
    }
    return gpus;
}

/* "GPU-" or "MIG-" and as much of the UUID as makes it one of a kind. */
static struct gpu *by_uuid(const struct gpus *gpus, pli_str prefix)
{
    struct gpu *found = NULL;
    for (size_t i = 0; i < gpus->count; i++) {
        const plim_device *d = gpus->items[i].d;
        if (!PLIM_KNOWN(device, d, uuid) || strlen(d->uuid) < prefix.n ||
            memcmp(d->uuid, prefix.p, prefix.n) != 0)
            continue;
        if (found)
            return NULL;
        found = &gpus->items[i];
    }
    return found;
}

/* False where the list ends for CUDA: at the first entry that names nothing. *unknown is set where
 * CUDA alone knows what it names. */
static bool show(const struct gpus *gpus, pli_str entry, bool *unknown)
{
    struct gpu *gpu = NULL;
    uint64_t number;
    entry = pli_trim(entry);
    if (pli_starts(entry, "GPU-") || pli_starts(entry, "MIG-")) {
        gpu = by_uuid(gpus, entry);
    } else if (pli_parse_u64(entry, &number) && number < gpus->count) {
        *unknown = !gpus->numbered;
        gpu = &gpus->items[number];
    }
    if (gpu)
        gpu->shown = true;
    return gpu && !*unknown;
}

static void run(pli_probe_context *context)
{
    struct gpus gpus = find(context);
    pli_str list = pli_s(pli_env(context->m, VARIABLE)), entry;
    bool unknown = false;
    while (pli_next_part(&list, ',', &entry) && show(&gpus, entry, &unknown)) {
    }
    if (unknown) {
        pli_note(context->inv, "info", context->name, VARIABLE,
                 "CUDA_DEVICE_ORDER=PCI_BUS_ID makes the numbers plain",
                 "numbers GPUs of several kinds in an order that only CUDA knows: not heeded");
        return;
    }
    for (size_t i = 0; i < gpus.count; i++)
        if (!gpus.items[i].shown)
            pli_unavailable(context, gpus.items[i].d, "env", "hidden by " VARIABLE);
}

const pli_probe pli_probe_cuda_visible = {.gate = gate, .run = run};
