#include "nvidia.h"

#include <string.h>

#define NVIDIA_PCI_VENDOR "10de"

plim_device *pli_nvidia_next(const pli_inventory *inv, size_t *next)
{
    while (*next < pli_device_count(inv)) {
        plim_device *d = pli_device_at(inv, (*next)++);
        if (PLIM_KNOWN(device, d, pci_vendor_id) && PLIM_KNOWN(device, d, pci_address) &&
            PLIM_KNOWN(device, d, driver) && PLIM_KNOWN(device, d, kind) &&
            strcmp(d->pci_vendor_id, NVIDIA_PCI_VENDOR) == 0 && strcmp(d->driver, "nvidia") == 0 &&
            strcmp(d->kind, "gpu") == 0)
            return d;
    }
    return NULL;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 ..." or "NVRM version:
 * NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build ...": the first word that is
 * a version. */
pli_str pli_nvidia_module_version(pli_machine *m, pli_arena *arena)
{
    pli_str text, line, word;
    if (pli_read(m, arena, "/proc/driver/nvidia/version", &text) == PLIM_OK &&
        pli_find_value(text, "NVRM version", ':', &line))
        while (pli_next_word(&line, &word))
            if (word.p[0] >= '0' && word.p[0] <= '9' && pli_contains(word, "."))
                return word;
    return (pli_str){"", 0};
}

/* A list of NUL-terminated strings, the board first. */
bool pli_nvidia_is_tegra(pli_machine *m, pli_arena *arena)
{
    pli_str compatible, part;
    if (pli_read(m, arena, "/proc/device-tree/compatible", &compatible) != PLIM_OK)
        return false;
    while (pli_next_part(&compatible, '\0', &part))
        if (pli_starts(part, "nvidia,tegra"))
            return true;
    return false;
}

pli_nvidia_generation pli_nvidia_generation_of(unsigned major, unsigned minor)
{
    static const struct {
        unsigned first, last;
        pli_nvidia_generation generation;
    } rows[] = {
#define GENERATION(first, last, name, cores) {first, last, {name, cores}},
#include "../know/nvidia_generations.def"
#undef GENERATION
    };
    for (size_t i = 0; minor < 10 && i < sizeof rows / sizeof *rows; i++)
        if (major * 10 + minor >= rows[i].first && major * 10 + minor <= rows[i].last)
            return rows[i].generation;
    return (pli_nvidia_generation){NULL, 0};
}

/* Whole words: GB100 is not GB10. */
bool pli_nvidia_is_unified(const char *name)
{
    static const char *const chips[] = {"GB10", "Thor", "Orin", "Xavier"};
    pli_str rest = pli_s(name), word;
    while (pli_next_word(&rest, &word))
        for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
            if (pli_eq(word, chips[i]))
                return true;
    return false;
}
