/* Files of a POSIX system, optionally below a directory that stands for /. Used by the live machine
 * and by --root. */
#ifndef PLI_FILES_POSIX_H
#define PLI_FILES_POSIX_H

#include "../base/status.h"
#include "machine.h"

typedef struct pli_files {
    int root; /* descriptor of the directory that stands for /, -1: the real one */
} pli_files;

plim_status pli_files_read(const pli_files *, const char *path, pli_buf *out);
plim_status pli_files_open(const pli_files *, const char *path, int *fd);
plim_status pli_files_reread(int fd, pli_buf *out);
plim_status pli_files_list(const pli_files *, const char *path, pli_arena *, pli_names *out);
plim_status pli_files_link(const pli_files *, const char *path, pli_buf *target);
plim_status pli_files_stat(const pli_files *, const char *path, pli_stat *out);

#endif
