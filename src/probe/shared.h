/* What several host probes need: files that are read once a run, and notes on files that could not
 * be read. */
#ifndef PLI_PROBE_SHARED_H
#define PLI_PROBE_SHARED_H

#include "cpuinfo.h"
#include "probe.h"

/* A file that more than one probe wants (/proc/cpuinfo, mountinfo): read on first use and kept
 * until the run ends. An empty view when absent; the status is the first read's. */
plim_status pli_read_shared(pli_probe_context *, const char *path, pli_str *out);

/* /proc/cpuinfo, parsed once a run. NULL when out of memory. */
const pli_cpuinfo *pli_shared_cpuinfo(pli_probe_context *);

/* A note on a file that is there and could not be read; silent where it is absent or where the
 * system does not have such a thing. */
void pli_note_unreadable(pli_probe_context *, const char *path, plim_status status);
/* A note on a file whose content is no such thing as `what` ("a CPU list"). */
void pli_note_nonsense(pli_probe_context *, const char *path, const char *what);

#endif
