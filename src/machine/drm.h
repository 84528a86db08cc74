/* Semantic questions to the kernel's graphics drivers. Drivers share ioctl numbers for different
 * things, so the driver's name is asked before any question that only it understands. */
#ifndef PLI_DRM_H
#define PLI_DRM_H

#include "machine.h"

/* How an ioctl is done: 0, or an errno. Tests answer in the kernel's place. */
typedef int (*pli_ioctl)(void *file, unsigned long request, void *argument);

/* Asks an open device node. UNSUPPORTED where its driver is another one or too old. */
plim_status pli_drm_ask(pli_ioctl, void *file, const char *what, void *out, size_t out_size,
                        size_t *length);
/* Opens the node, asks, closes it. UNSUPPORTED for what is no DRM question at all. */
plim_status pli_drm_query(const char *node, const char *what, void *out, size_t out_size,
                          size_t *length);

#endif
