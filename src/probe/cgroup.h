/* Control groups of this process, v1, v2 and hybrid: where the files of a controller are, from the
 * process's own group up to the highest that can be seen. */
#ifndef PLI_PROBE_CGROUP_H
#define PLI_PROBE_CGROUP_H

#include "probe.h"

typedef struct pli_cgroup {
    bool v2;
    const char *mount; /* where the hierarchy is mounted */
    char *path;        /* below it: "/a/b", "" at the mount point */
} pli_cgroup;

/* False when the controller is in no hierarchy. Strings are in the scratch arena. */
bool pli_cgroup_find(pli_probe_context *, const char *controller, pli_cgroup *out);
/* Moves to the parent; false at the mount point. */
bool pli_cgroup_up(pli_cgroup *);
/* A file of the group, trimmed; an empty view when absent. Unreadable is a note. */
pli_str pli_cgroup_read(pli_probe_context *, const pli_cgroup *, const char *file);
/* "1", "2", "hybrid"; NULL: unknown */
const char *pli_cgroup_version(pli_probe_context *);

#endif
