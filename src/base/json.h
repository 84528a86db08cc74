/* A thin layer over yyjson: caps, our allocator, and errors with an offset. */
#ifndef PLI_JSON_H
#define PLI_JSON_H

#include <yyjson.h>

#include "arena.h"
#include "buf.h"

/* Reads a document of at most `max` bytes and PLI_MAX_JSON_DEPTH levels. The document is freed with
 * yyjson_doc_free(); the allocator must outlive it. subject: for messages. */
plim_status pli_json_read(const plim_allocator *allocator, const char *text, size_t length,
                          size_t max, const char *subject, plim_error *error, yyjson_doc **out);
/* The same in place, of a text that the caller owns and that outlives the document: it is
 * changed, has PLI_JSON_PADDING bytes of room behind its length, and the document's strings
 * point into it, so that their place tells where in the input they stood. `base` is the offset
 * of the text in its file, for messages. */
#define PLI_JSON_PADDING YYJSON_PADDING_SIZE
plim_status pli_json_read_in_place(const plim_allocator *allocator, char *text, size_t length,
                                   unsigned depth, const char *subject, uint64_t base,
                                   plim_error *error, yyjson_doc **out);
/* A new mutable document on the allocator (which must outlive it), NULL when out of memory. */
yyjson_mut_doc *pli_json_new(const plim_allocator *allocator, yyjson_alc *alc);
/* Writes a document as text for plim_text_free(); strings that are not UTF-8 are PLIM_INTERNAL. */
plim_status pli_json_write(yyjson_mut_doc *doc, bool pretty, char **text, size_t *length);
/* The allocator hook as yyjson's. */
yyjson_alc pli_json_allocator(const plim_allocator *allocator);

#endif
