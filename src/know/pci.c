#include "pci.h"

#include <stddef.h>

/* ---- makers ---------------------------------------------------------------------------------- */

static const struct vendor {
    uint16_t id;
    const char *name, *display_family, *kind, *family;
} vendors[] = {
#define VENDOR(id, name, display, kind, family) {0x##id, name, #display, #kind, #family},
#define PICTURES(id, what)
#include "pci_vendors.def"
#undef VENDOR
#undef PICTURES
};

static const uint16_t picture_makers[] = {
#define VENDOR(id, name, display, kind, family)
#define PICTURES(id, what) 0x##id,
#include "pci_vendors.def"
#undef VENDOR
#undef PICTURES
};

static const struct vendor *vendor_of(uint16_t id)
{
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (vendors[i].id == id)
            return &vendors[i];
    return NULL;
}

const char *pli_pci_vendor_name(uint16_t vendor)
{
    const struct vendor *v = vendor_of(vendor);
    return v ? v->name : NULL;
}

/* ---- devices --------------------------------------------------------------------------------- */

static const struct device {
    uint16_t vendor, device;
    uint32_t subsystem; /* 0: any */
    pli_pci_role role;
} devices[] = {
#define DEVICE(v, d, kind, family, name) {0x##v, 0x##d, 0, {#kind, #family, name}},
#define BOARD(v, d, sv, sd, kind, family, name)                                                    \
    {0x##v, 0x##d, 0x##sv##u << 16 | 0x##sd, {#kind, #family, name}},
#define NOT_AI(v, d, what) {0x##v, 0x##d, 0, {NULL, NULL, what}},
#include "pci_devices.def"
#undef DEVICE
#undef BOARD
#undef NOT_AI
};

static bool makes_pictures(uint16_t id)
{
    for (size_t i = 0; i < sizeof picture_makers / sizeof *picture_makers; i++)
        if (picture_makers[i] == id)
            return true;
    return false;
}

static pli_pci_role role_by_class(uint16_t id, uint32_t class)
{
    const pli_pci_role none = {NULL, NULL, NULL};
    const struct vendor *v = vendor_of(id);
    if (class >> 16 == 0x12) /* processing accelerators: every maker's */
        return (pli_pci_role){v ? v->kind : "npu", v ? v->family : "unknown", NULL};
    if (!pli_pci_is_display(class) || makes_pictures(id))
        return none;
    if (v && pli_eq(PLI_LIT("none"), v->display_family))
        return none;
    return (pli_pci_role){"gpu", v ? v->display_family : "unknown", NULL};
}

pli_pci_role pli_pci_role_of(uint16_t vendor, uint16_t device, uint32_t subsystem, uint32_t class)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        const struct device *d = &devices[i];
        if (d->vendor == vendor && d->device == device &&
            (d->subsystem == 0 || d->subsystem == subsystem))
            return d->role;
    }
    return role_by_class(vendor, class);
}

/* ---- names of graphics processors ------------------------------------------------------------ */

/* Some 1,800 names: one block of text and offsets into it, so that the loader has no pointers to
 * relocate at every start. */
static const struct names {
#define GPU(v, d, name) char name_##v##_##d[sizeof name];
#define GPU_REV(v, d, r, name) char name_##v##_##d##_##r[sizeof name];
#include "pci_gpus.def"
#undef GPU
#undef GPU_REV
} names = {
#define GPU(v, d, name) name,
#define GPU_REV(v, d, r, name) name,
#include "pci_gpus.def"
#undef GPU
#undef GPU_REV
};
_Static_assert(sizeof(struct names) <= UINT16_MAX, "offsets of names have 16 bits");

static const struct gpu {
    uint16_t vendor, device;
    int16_t revision; /* -1: any */
    uint16_t name;
} gpus[] = {
#define GPU(v, d, name) {0x##v, 0x##d, -1, offsetof(struct names, name_##v##_##d)},
#define GPU_REV(v, d, r, name) {0x##v, 0x##d, 0x##r, offsetof(struct names, name_##v##_##d##_##r)},
#include "pci_gpus.def"
#undef GPU
#undef GPU_REV
};

static bool before(const struct gpu *g, uint16_t vendor, uint16_t device)
{
    return g->vendor != vendor ? g->vendor < vendor : g->device < device;
}

const char *pli_pci_gpu_name(uint16_t vendor, uint16_t device, int revision)
{
    size_t low = 0, high = sizeof gpus / sizeof *gpus;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(&gpus[middle], vendor, device))
            low = middle + 1;
        else
            high = middle;
    }
    const struct gpu *found =
        NULL; /* the row of any revision comes first, the exact one beats it */
    for (; low < sizeof gpus / sizeof *gpus && gpus[low].vendor == vendor &&
           gpus[low].device == device;
         low++)
        if (gpus[low].revision < 0 || gpus[low].revision == revision)
            found = &gpus[low];
    return found ? (const char *)&names + found->name : NULL;
}

/* ---- drivers --------------------------------------------------------------------------------- */

static const struct driver {
    const char *name;
    pli_driver driver;
} drivers[] = {
#define DRIVER(name, node, why_not) {name, {PLI_NODE_##node, why_not}},
#include "drivers.def"
#undef DRIVER
};

pli_driver pli_driver_of(pli_str name)
{
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (pli_eq(name, drivers[i].name))
            return drivers[i].driver;
    return (pli_driver){PLI_NODE_OTHER, NULL};
}

/* Line codes are 8b/10b, then 128b/130b, then flits of 242 in 256: PCI Express base specification.
 * No link has more than 32 lanes. */
uint64_t pli_pcie_bytes_per_s(uint64_t generation, uint64_t lanes)
{
    static const uint64_t lane[] = {0,          250000000,  500000000,  984615384,
                                    1969230769, 3938461538, 7562500000, 15125000000};
    return generation < sizeof lane / sizeof *lane && lanes <= 32 ? lane[generation] * lanes : 0;
}

static const struct platform {
    const char *driver, *vendor;
    pli_pci_role role;
} platforms[] = {
#define PLATFORM(driver, kind, family, vendor, name) {driver, vendor, {#kind, #family, name}},
#include "platform_devices.def"
#undef PLATFORM
};

pli_pci_role pli_platform_role_of(pli_str driver, const char **vendor)
{
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
        if (pli_eq(driver, platforms[i].driver)) {
            *vendor = platforms[i].vendor;
            return platforms[i].role;
        }
    *vendor = NULL;
    return (pli_pci_role){NULL, NULL, NULL};
}
