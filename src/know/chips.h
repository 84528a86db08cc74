/* Accelerators by product name: nominal figures, for machines that are imagined and for what a
 * device does not tell. */
#ifndef PLI_CHIPS_H
#define PLI_CHIPS_H

#include "../base/str.h"

typedef struct pli_chip {
    const char *name, *others, *family, *vendor;
    uint64_t memory_bytes;          /* 0: sold in several sizes */
    uint64_t bandwidth_bytes_per_s; /* 0: not known */
    bool unified;                   /* its memory is the host's RAM */
    const char *arch;               /* compute capability, gfx number ...; "" for none */
    uint64_t fp16, fp8, int8;       /* operations a second; 0: not published */
    const char *source;             /* of these three; NULL: none of them is known */
} pli_chip;

/* Number i of the table; NULL past the last. */
const pli_chip *pli_chip_at(size_t i);

/* By name: any case, blanks and hyphens do not count, nor do the words of vendors and drivers
 * ("NVIDIA GeForce RTX 4090", "Radeon RX 7900 XTX Graphics"). Without its series ("4090") where
 * only one chip is so called. NULL: none. */
const pli_chip *pli_chip_find(pli_str name);

/* The chips whose names are nearest, the nearest first; NULL where fewer are near. */
#define PLI_NEAR_CHIPS 3u
void pli_chip_near(pli_str name, const pli_chip *near[PLI_NEAR_CHIPS]);

#endif
