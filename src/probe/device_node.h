/* The node in /dev through which programs enter a device. */
#ifndef PLI_DEVICE_NODE_H
#define PLI_DEVICE_NODE_H

#include "probe.h"

/* Records in `available` whether this process may open the node, with the reason and a note where
 * it may not. A /dev that is not there at all (a tree of /sys files) says nothing, and the device
 * is left as it is. */
void pli_judge_node(pli_probe_context *, plim_device *, const char *path);

/* Marks a device as not usable; the first reason given stands. */
void pli_unavailable(pli_probe_context *, plim_device *, const char *source, const char *why);

#endif
