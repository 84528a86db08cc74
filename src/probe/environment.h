/* Containers, virtual machines and firmware strings: the larger parts of host_env. */
#ifndef PLI_PROBE_ENVIRONMENT_H
#define PLI_PROBE_ENVIRONMENT_H

#include "probe.h"

/* container, kubernetes */
void pli_container_find(pli_probe_context *, plim_environment *);
/* dmi, cloud */
void pli_firmware_read(pli_probe_context *, plim_environment *);
/* virtualization; after the others */
void pli_virtualization_find(pli_probe_context *, plim_environment *);

/* uname's release and version, from a tree's /proc where nobody answers; empty when unknown. */
pli_str pli_kernel_release(pli_probe_context *);
pli_str pli_kernel_version(pli_probe_context *);

#endif
