/* Probes: one file each, one row each in table.def. A probe reads the machine and fills the
 * inventory; it never prints, exits or touches the operating system. Absent hardware is silent;
 * present but unreadable is a note with a hint. */
#ifndef PLI_PROBE_H
#define PLI_PROBE_H

#include "../inventory/inventory.h"
#include "../machine/machine.h"

/* in the order in which they run */
typedef enum pli_stage {
    PLI_STAGE_HOST,
    PLI_STAGE_BUS,
    PLI_STAGE_ACCEL,
    PLI_STAGE_GENERIC,
    PLI_STAGE_LINK,
    PLI_STAGE_ANNOTATE,
    PLI_STAGE_COUNT,
} pli_stage;

typedef struct pli_probe_context {
    pli_machine *m;
    pli_inventory *inv;
    pli_arena *scratch; /* emptied after each probe */
    pli_arena *shared;  /* lives as long as the run; shared.h */
    struct pli_shared_file *shared_files;
    const struct pli_cpuinfo *cpuinfo;
    const plim_detect_options *options;
    const char *name; /* the probe's, for notes and sources */
} pli_probe_context;

typedef struct pli_probe {
    /* Cheap look (a PCI vendor already in the inventory, a /dev entry: ~1 us) that says whether
     * run() is worth calling. NULL: always. Never loads a library. */
    bool (*gate)(pli_probe_context *);
    void (*run)(pli_probe_context *);
    bool isolated; /* enters a vendor's library or tool */
} pli_probe;

/* Runs every probe of the table that options select; notes and timings go to the inventory. */
plim_status pli_probe_all(pli_machine *, const plim_detect_options *, pli_inventory *);

#define PROBE(id, os, stage, title) extern const pli_probe pli_probe_##id;
#include "table.def"
#undef PROBE

#endif
