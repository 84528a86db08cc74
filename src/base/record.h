/* Records: structs described by rows (include/plimsoll/fields_*.def). Setting fields, JSON out and
 * in are loops over the rows. */
#ifndef PLI_RECORD_H
#define PLI_RECORD_H

#include "arena.h"
#include "json.h"

/* A zeroed record in the arena with its table of sources; NULL when out of memory. */
void *pli_record_new(pli_arena *arena, const plim_record *record);
#define PLI_NEW(arena, rec) ((plim_##rec *)pli_record_new((arena), &plim_record_##rec))

/* Marks a field known, said by `source` (static text or in the arena; may be NULL). */
void pli_mark(plim_head *head, unsigned field, const char *source);
void pli_unmark(plim_head *head, unsigned field);

/* Set a field: PLI_SET(memory, m, total_bytes, 17, "proc"). Strings must live in the arena or be
 * static; a NULL string (out of memory) stays unknown. */
#define PLI_SET(rec, r, member_, value_, source_)                                                  \
    ((r)->member_ = (value_), pli_mark(&(r)->head, PLIM_F_##rec##_##member_, (source_)))
#define PLI_SET_STR(rec, r, member_, value_, source_)                                              \
    do {                                                                                           \
        const char *pli_text_ = (value_);                                                          \
        if (pli_text_)                                                                             \
            PLI_SET(rec, r, member_, pli_text_, source_);                                          \
    } while (0)
/* Only where nobody said it before. */
#define PLI_FILL(rec, r, member_, value_, source_)                                                 \
    do {                                                                                           \
        if (!PLIM_KNOWN(rec, r, member_))                                                          \
            PLI_SET(rec, r, member_, value_, source_);                                             \
    } while (0)
#define PLI_FORGET(rec, r, member_) pli_unmark(&(r)->head, PLIM_F_##rec##_##member_)
#define PLI_SOURCE(rec, r, member_) ((r)->head.source[PLIM_F_##rec##_##member_])

/* Appends a record to a list; the list's own known bit is the caller's. False when out of
 * memory. */
bool pli_items_add(pli_arena *arena, plim_items *list, const void *item);

/* Appends a text (in the arena or static); the list's own known bit is the caller's. False when out
 * of memory, of which a NULL text is a sign. */
bool pli_strs_add(pli_arena *arena, plim_strs *list, const char *text);

/* Copies what is known in `from` and unknown in `to`, with its source. Both are of this record;
 * lists and records inside are shared, not copied. */
void pli_record_fill(const plim_record *record, void *to, const void *from);
/* A copy whose strings, lists and records are the arena's. NULL when out of memory. */
void *pli_record_copy(pli_arena *arena, const plim_record *record, const void *r);

/* A record as a JSON object of doc. flags: PLIM_JSON_SOURCES; a record whose `sources_always` is
 * its name gets them anyway. */
yyjson_mut_val *pli_record_to_json(yyjson_mut_doc *doc, const plim_record *record, const void *r,
                                   unsigned flags);
/* What is wrong with a document: "devices[1].memory.total_bytes" (in the arena, "" for the document
 * itself) "is no number". */
typedef struct pli_misfit {
    const char *path, *what;
} pli_misfit;
/* An object into a record; unknown keys are skipped, null is unknown. PARSE for a value of another
 * type or a key that is there twice, LIMIT for too long a list: *misfit says which. */
plim_status pli_record_from_json(pli_arena *arena, const plim_record *record, yyjson_val *object,
                                 void *r, pli_misfit *misfit);

/* Tables of records are made from the rows by including this sequence in one .c file:
 *   #include <plimsoll/records_tables.h>
 *   #include <plimsoll/fields_machine.def> */

#endif
