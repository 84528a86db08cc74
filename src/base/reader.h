/* Readers over a file, memory and a part of another reader. Model files and fuzzers come in through
 * these. */
#ifndef PLI_READER_H
#define PLI_READER_H

#include <plimsoll/base.h>

#include "arena.h"

/* A file that can be sought in; directories, pipes and devices are refused (PLIM_INVALID). Closed
 * with pli_reader_close(). */
plim_status pli_reader_open(const char *path, const plim_allocator *allocator, plim_error *error,
                            plim_reader *out);
void pli_reader_close(plim_reader *reader);
/* The files of this system by their paths, opened and closed as above. */
extern const plim_files pli_files_here;
/* Memory that outlives the reader. Needs no close. `view` is the reader's state and must outlive it
 * too. */
plim_reader pli_reader_memory(const char *name, const pli_str *view);
/* All n bytes or an error: PLIM_IO with the offset when the input ends before. */
plim_status pli_reader_exact(const plim_reader *reader, uint64_t offset, void *buf, size_t n,
                             plim_error *error);

#endif
