/* What kind of disk a block device is, by know/disks.def and the kernel's flag. */
#ifndef PLI_PROBE_DISKS_H
#define PLI_PROBE_DISKS_H

#include "../base/str.h"

typedef struct pli_disk_traits {
    pli_str path; /* of the device in sysfs: "../devices/pci0000:00/.../block/sda" */
    pli_str vendor, model;
    bool rotational, rotational_known;
} pli_disk_traits;

/* "nvme", "ssd", "hdd", "virtual" or "unknown" */
const char *pli_disk_kind(pli_str name, const pli_disk_traits *);

#endif
