/* How the readers fill a pli_model, and what is then told of it. All memory is the model's
 * arena's. */
#ifndef PLI_BUILD_H
#define PLI_BUILD_H

#include "gguf.h"
#include "model.h"

/* An empty model in an arena of its own, freed with plim_model_free(). Who fills it sets path, keys
 * (sorted), tensors and pub.format, then finishes it. NULL when out of memory. */
pli_model *pli_model_new(const plim_allocator *allocator);
/* The index of its tensors and all that the header tells. PARSE: two tensors of one name; NOMEM:
 * also when memory ran out while it was filled. */
plim_status pli_model_finish(pli_model *model, plim_error *error);

/* A model of a GGUF file: one file, or all of a split one when `path` is where it was found
 * (NULL: by a reader alone, so that the other files cannot be reached). */
plim_status pli_gguf_model(pli_model *model, const plim_reader *reader, const char *path,
                           plim_error *error);

/* A model of one safetensors file; of the files beside `path` that an index names. */
plim_status pli_safetensors_model(pli_model *model, const plim_reader *reader, plim_error *error);
plim_status pli_safetensors_index_model(pli_model *model, const plim_reader *reader,
                                        const char *path, plim_error *error);

/* The model's file in a directory: the only GGUF (the first of a split one), a safetensors
 * index, or the only safetensors file. */
plim_status pli_model_in_directory(pli_arena *arena, const char *path, plim_error *error,
                                   const char **file);

/* Sorts the tensors' names. PLIM_PARSE where one stands twice; `subject` is the file for the
 * message. */
plim_status pli_model_index_tensors(pli_model *model, const char *subject, plim_error *error);
/* What the header tells: sums over the tensors, layers, heads, experts, names. Right or left
 * out. */
void pli_model_facts(pli_model *model);
/* ... of it the layers by kind, where the architecture has a row and the file says all that it
 * needs. */
void pli_model_tell_kinds(pli_model *model);
bool pli_is_gguf(const pli_model *model);
/* Adds a line to "missing". */
void pli_model_misses(pli_model *model, const char *format, ...) PLI_PRINTF(2, 3);

#endif
