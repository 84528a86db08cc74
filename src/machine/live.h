/* The large pieces of the live machine, each in a file of its own. What they promise is written at
 * the operations in machine.h. */
#ifndef PLI_LIVE_H
#define PLI_LIVE_H

#include "machine.h"

/* dl.c: RTLD_NOW | RTLD_LOCAL, never closed again (vendors' libraries do not survive that). A stub
 * for building (".../stubs/...") is not a library. */
plim_status pli_dl_load(const pli_lib *, pli_symbol *symbols);

/* run_posix.c: the run operation. */
plim_status pli_run_tool(const plim_allocator *, const char *const argv[], uint32_t timeout_ms,
                         pli_run *);

/* isolate_posix.c: the isolate operation. */
void pli_isolate(pli_machine *, pli_job job, void *arg, uint32_t timeout_ms, pli_isolation *);

/* random_posix.c: unguessable bytes, 256 at most. */
bool pli_random_bytes(void *bytes, size_t n);

/* cpuid.c: false where there is no such thing. xcr0: XGETBV(0). xcomp: states of XSAVE that Linux
 * gives on request (AMX tiles are bit 18). */
bool pli_cpuid_read(uint32_t leaf, uint32_t sub, uint32_t out[4]);
bool pli_xcr0_read(uint64_t *out);
bool pli_xcomp_read(uint64_t *out);

#endif
