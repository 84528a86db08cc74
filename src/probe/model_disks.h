/* The disks behind a directory: through partitions, dm and md layers, btrfs and overlays. */
#ifndef PLI_PROBE_MODEL_DISKS_H
#define PLI_PROBE_MODEL_DISKS_H

#include "probe.h"

typedef struct pli_model_disks {
    const char *directory; /* where models are kept, NULL where nobody can tell */
    pli_names disks;       /* names of whole disks; none for RAM, networks, what is out of sight */
} pli_model_disks;

/* The directory is options->models_directory, else the first of the usual places that exists. */
void pli_model_disks_find(pli_probe_context *, pli_model_disks *out);

/* Where a sysfs link leads, as stored; an empty view when it is none. */
pli_str pli_link_target(pli_probe_context *, const char *path);

#endif
