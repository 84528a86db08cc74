/* Which of the answers to one question are written into a recording.
 *
 * What is absent from a text is NOT_FOUND there, so a NOT_FOUND is written only when another answer
 * to the same question follows. The last entry of a series answers for ever, so repetitions are
 * held back until a different answer comes. */
#ifndef PLI_SERIES_H
#define PLI_SERIES_H

#include "record.h"

struct pli_answer;

typedef struct pli_series {
    pli_buf *text; /* the recording; its `failed` ends everything */
    const pli_record_sink *sink;
    plim_allocator allocator;
    pli_arena *arena; /* of answers that are held back */
    struct pli_answer *answers;
    size_t count, capacity; /* a power of two, at most 3/4 full */
} pli_series;

void pli_series_init(pli_series *, const plim_allocator *, pli_buf *text, const pli_record_sink *);
void pli_series_free(pli_series *);
/* An answer: a whole entry, whose first `question` bytes tell what was asked. absent: it says no
 * more than no entry at all would. */
void pli_series_add(pli_series *, pli_str entry, size_t question, bool absent);

#endif
