/* Accelerators by product name: nominal figures, for machines that are imagined and for what a
 * device does not tell. */
#ifndef PLI_CHIPS_H
#define PLI_CHIPS_H

#include "../base/str.h"

typedef struct pli_chip {
    const char *name, *family, *vendor;
    uint64_t memory_bytes;          /* 0: sold in several sizes */
    uint64_t bandwidth_bytes_per_s; /* 0: not known */
    bool unified;                   /* its memory is the host's RAM */
    const char *arch;               /* compute capability, gfx number ...; "" for none */
} pli_chip;

/* By name: any case, blanks and hyphens do not count, nor do the vendor's words ("NVIDIA GeForce
 * RTX 4090"). NULL: none. */
const pli_chip *pli_chip_find(pli_str name);

#endif
