/* What is known about PCI ids and drivers: makers, AI devices, names of graphics processors. Rows
 * are in pci_vendors.def, pci_devices.def, pci_gpus.def, drivers.def and platform_devices.def. All
 * answers are static. */
#ifndef PLI_KNOW_PCI_H
#define PLI_KNOW_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/str.h"

/* What programs a device and what it is; NULL kind: no AI device, NULL name: none of its own. */
typedef struct pli_pci_role {
    const char *kind;   /* gpu, npu, tpu, asic */
    const char *family; /* cuda, rocm, intel, ...; unknown */
    const char *name;
} pli_pci_role;

/* Short name of a maker, NULL when unknown. */
const char *pli_pci_vendor_name(uint16_t vendor);
/* What this function is, by its ids where they are known and else by maker and class (24 bits).
 * subsystem: vendor << 16 | device, 0 for none. */
pli_pci_role pli_pci_role_of(uint16_t vendor, uint16_t device, uint32_t subsystem, uint32_t class);
/* Product name of a graphics processor, NULL when unknown. revision: -1 for unknown. */
const char *pli_pci_gpu_name(uint16_t vendor, uint16_t device, int revision);

/* The base class and sub-class of a 24-bit class code. */
static inline bool pli_pci_is_display(uint32_t class)
{
    return class >> 16 == 0x03;
}

/* What the node of this driver stands for where it is no PCI device's; NULL kind: nothing that is
 * known to compute. *vendor: its maker. */
pli_pci_role pli_platform_role_of(pli_str driver, const char **vendor);

typedef enum pli_driver_node {                 /* where programs enter a driver */
                               PLI_NODE_OTHER, /* its own way, or unknown */
                               PLI_NODE_DRM,   /* /dev/dri/renderD* */
                               PLI_NODE_ACCEL, /* /dev/accel/accel* */
} pli_driver_node;
typedef struct pli_driver {
    pli_driver_node node;
    const char *why_not; /* what keeps programs from computing with it, NULL: nothing */
} pli_driver;
/* An unknown driver is taken for one that can be used. */
pli_driver pli_driver_of(pli_str name);

/* One direction of a PCIe link, after the line code; 0 for a generation that is none. */
uint64_t pli_pcie_bytes_per_s(uint64_t generation, uint64_t lanes);

#endif
