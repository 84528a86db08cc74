/* Lines of /proc/self/mountinfo. */
#ifndef PLI_PROBE_MOUNTS_H
#define PLI_PROBE_MOUNTS_H

#include "probe.h"

typedef struct pli_mount { /* views into the text; octal escapes are left as they are */
    pli_str device;        /* "8:1" */
    pli_str root;          /* of the mount in its file system */
    pli_str point;         /* where it is */
    pli_str type, source;
    pli_str options; /* of the file system */
} pli_mount;

/* The next well-formed line of *rest. */
bool pli_next_mount(pli_str *rest, pli_mount *out);
/* The value of "key=value" among options; false when absent. An empty `value` for a bare key. */
bool pli_mount_option(pli_str options, const char *key, pli_str *value);
/* "\040" becomes a blank; in the arena. NULL when out of memory. */
char *pli_mount_path(pli_arena *, pli_str s);

#endif
