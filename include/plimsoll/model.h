/* plimsoll/model.h: read a model's own header (GGUF, split GGUF, safetensors and its index) without
 * its weights. */
#ifndef PLIMSOLL_MODEL_H
#define PLIMSOLL_MODEL_H

#include <plimsoll/base.h>
#include <plimsoll/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

#include <plimsoll/records_begin.h>
#include <plimsoll/fields_model.def>
#include <plimsoll/records_numbers.h>
#include <plimsoll/fields_model.def>
#include <plimsoll/records_end.h>

/** Opens a model file, any file of a split GGUF, a safetensors index, or a directory that holds one
 *  of these. Only headers are read; memory is bounded by what the header really holds. Errors:
 *  NOT_FOUND, PERMISSION, INVALID (a pipe, a directory of several models), PARSE, LIMIT, VERSION,
 *  NOMEM, with file and byte offset in *error. A header that is whole but whose data is absent is
 *  no error: data_present is false.
 *  Freed with plim_model_free(); immutable, may be shared between threads. */
PLIM_API plim_status plim_model_open(plimsoll *context, const char *path, plim_error *error,
                                     plim_model **out) PLIM_CHECK_RESULT;
/** The same for one file that a reader gives (memory, HTTP ranges). The reader is used only during
 *  the call. */
PLIM_API plim_status plim_model_open_reader(plimsoll *context, const plim_reader *reader,
                                            plim_error *error, plim_model **out) PLIM_CHECK_RESULT;
/** The same for a model whose files, `name` and those that belong to it (parts of a split GGUF,
 *  what an index names), are opened by name through `files`; the others stand beside `name`, behind
 *  its last '/'. At most one file beside the first is open at a time, and all are closed when the
 *  call returns. Errors: those of plim_model_open() and of files->open. */
PLIM_API plim_status plim_model_open_files(plimsoll *context, const plim_files *files,
                                           const char *name, plim_error *error,
                                           plim_model **out) PLIM_CHECK_RESULT;

/** A model of the built-in catalogue as its published GGUF in a quantization would tell it:
 *  "qwen3-30b-a3b:q4_k_m", "llama3.1:8b"; without a quantization in the one that most people take.
 *  Metadata, tensors and types are complete; file_bytes and data_present are unknown, `catalogue`
 *  is its name there. Sizes follow llama-quantize's own rules. Errors: NOT_FOUND (with names that
 *  are near), NOMEM. */
PLIM_API plim_status plim_model_from_catalogue(plimsoll *context, const char *name,
                                               plim_error *error,
                                               plim_model **out) PLIM_CHECK_RESULT;

#define PLIM_MODEL_TENSORS 16u  /* "tensors": a list instead of a count */
#define PLIM_MODEL_METADATA 32u /* "metadata": keys and values; long arrays as {type, count} */
/** The plimsoll.model/1 document; flags: PLIM_JSON_PRETTY and the above. Freed with
 *  plim_text_free(). Errors: NOMEM. */
PLIM_API plim_status plim_model_to_json(const plim_model *model, unsigned flags, char **text,
                                        size_t *length) PLIM_CHECK_RESULT;
/** The tensors in the files' order, as plim_tensor records. They live as long as the model. */
PLIM_API plim_items plim_model_tensors(const plim_model *model);
/** Key number i (in the order of the keys) and its value as text for people: control characters are
 *  '?', a long array is its type and count, a long text ends with "...". Both are always
 *  terminated. False past the last. */
PLIM_API bool plim_model_metadata_text(const plim_model *model, size_t i, char *key,
                                       size_t key_size, char *value, size_t value_size);
/** Frees a model and everything that was given out of it. NULL is allowed. */
PLIM_API void plim_model_free(plim_model *model);

#ifdef __cplusplus
}
#endif
#endif
