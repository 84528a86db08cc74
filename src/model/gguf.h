/* One GGUF file: its keys, values and tensor table. Facts of the format: GGUF specification,
 * versions 1 (32-bit counts), 2 and 3 (either byte order). Nothing is allocated because a file
 * claims it: memory follows the bytes that are there. */
#ifndef PLI_GGUF_H
#define PLI_GGUF_H

#include "cursor.h"
#include "model.h"

typedef struct pli_gguf {
    uint32_t version;
    bool big_endian;
    uint64_t alignment;
    uint64_t data_start; /* offset of the data section in the file */
    uint64_t data_bytes; /* from there to the end of the last tensor */
    uint64_t file_bytes;
    pli_value *values; /* sorted by key */
    size_t value_count;
    pli_tensor *tensors; /* in the file's order */
    size_t tensor_count;
} pli_gguf;

/* Does it begin with the magic? */
plim_status pli_gguf_is(const plim_reader *reader, plim_error *error, bool *is);
/* Reads the header of one file into the arena. `file` numbers its tensors. */
plim_status pli_gguf_read(const plim_reader *reader, pli_arena *arena, uint32_t file,
                          plim_error *error, pli_gguf *out);

/* Parts of the above, one file each. Failures are in c->status. */
size_t
pli_gguf_count_size(const pli_gguf *g); /* bytes of a count or length: 4 in version 1, else 8 */
void pli_gguf_read_values(pli_cursor *c, pli_arena *arena, pli_gguf *g, uint64_t count);
void pli_gguf_read_tensors(pli_cursor *c, pli_arena *arena, pli_gguf *g, uint64_t count,
                           uint32_t file);
/* A string of at most `max` bytes, copied; a longer one is skipped (p NULL, n its length) or,
 * if refuse, an error. */
pli_str pli_gguf_string(pli_cursor *c, pli_arena *arena, const pli_gguf *g, size_t max, bool refuse,
                        const char *what);

#endif
