/* The "nothing here" answers of every operation, for machines that answer only some. */
#ifndef PLI_LIVE_NULL_H
#define PLI_LIVE_NULL_H

#include "machine.h"

plim_status pli_null_read(pli_machine *, const char *path, pli_buf *out);
plim_status pli_null_open(pli_machine *, const char *path, void **file);
plim_status pli_null_reread(pli_machine *, void *file, pli_buf *out);
void pli_null_close(pli_machine *, void *file);
plim_status pli_null_list(pli_machine *, const char *path, pli_arena *, pli_names *out);
plim_status pli_null_link(pli_machine *, const char *path, pli_buf *target);
plim_status pli_null_stat(pli_machine *, const char *path, pli_stat *out);
const char *pli_null_env(pli_machine *, const char *name);
uint64_t pli_null_clock(pli_machine *);
plim_status pli_null_lib(pli_machine *, const pli_lib *, pli_symbol *symbols);
bool pli_null_call_before(pli_machine *, const pli_call *, int *rc);
void pli_null_call_after(pli_machine *, const pli_call *, int rc);
plim_status pli_null_run(pli_machine *, const char *const argv[], uint32_t timeout_ms, pli_run *);
bool pli_null_cpuid(pli_machine *, uint32_t leaf, uint32_t sub, uint32_t out[4]);
plim_status pli_null_query(pli_machine *, const char *node, const char *what, const void *in,
                           size_t in_size, void *out, size_t out_size, size_t *length);

#endif
