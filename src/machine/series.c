#include "series.h"

#include <string.h>

#include "../base/limits.h"

/* The last answer to one question. */
struct pli_answer {
    uint64_t hash;         /* of the question */
    size_t question, size; /* bytes of "-- KIND ARGUMENT..." and of the whole entry */
    size_t offset;         /* of the entry in the text, when it was written */
    const char *unwritten; /* the entry, when it was not */
    size_t pending;        /* how often the same answer came again */
};

void pli_series_init(pli_series *s, const plim_allocator *allocator, pli_buf *text,
                     const pli_record_sink *sink)
{
    *s = (pli_series){.text = text, .sink = sink, .allocator = *allocator};
}

void pli_series_free(pli_series *s)
{
    if (s->answers)
        pli_hook_resize(&s->allocator, s->answers, s->capacity * sizeof *s->answers, 0);
    pli_arena_free(s->arena);
}

static uint64_t hash_of(pli_str s)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return h;
}

static pli_str entry_of(const pli_series *s, const struct pli_answer *a)
{
    return (pli_str){a->unwritten ? a->unwritten : s->text->p + a->offset, a->size};
}

/* The slot of a question: its last answer, or a free one (size 0). */
static struct pli_answer *find_slot(pli_series *s, uint64_t hash, pli_str question)
{
    for (size_t i = (size_t)hash & (s->capacity - 1);; i = (i + 1) & (s->capacity - 1)) {
        struct pli_answer *a = &s->answers[i];
        if (a->size == 0 || (a->hash == hash && a->question == question.n &&
                             memcmp(entry_of(s, a).p, question.p, question.n) == 0))
            return a;
    }
}

static bool make_room(pli_series *s)
{
    if (s->count + 1 <= s->capacity / 4 * 3)
        return true;
    size_t before = s->capacity, capacity = before ? before * 2 : 256;
    struct pli_answer *old = s->answers,
                      *answers = pli_hook_resize(&s->allocator, NULL, 0, capacity * sizeof *old);
    if (!answers)
        return false;
    memset(answers, 0, capacity * sizeof *answers);
    s->answers = answers;
    s->capacity = capacity;
    for (size_t i = 0; i < before; i++) {
        if (old[i].size == 0)
            continue;
        pli_str question = {entry_of(s, &old[i]).p, old[i].question};
        *find_slot(s, old[i].hash, question) = old[i];
    }
    if (old)
        pli_hook_resize(&s->allocator, old, before * sizeof *old, 0);
    return true;
}

/* `entry` may be a piece of the text when there is room for it. */
static void append(pli_series *s, pli_str entry)
{
    if (pli_buf_add(s->text, entry.p, entry.n) == PLIM_OK && s->sink->entry)
        s->sink->entry(s->sink->user, entry);
}

/* Writes what was held back of the last answer, before another one. */
static void catch_up(pli_series *s, struct pli_answer *a)
{
    size_t times = a->pending + (a->unwritten != NULL);
    for (; times && pli_buf_reserve(s->text, a->size) == PLIM_OK; times--)
        append(s, entry_of(s, a));
}

static const char *hold_back(pli_series *s, pli_str entry)
{
    if (!s->arena)
        s->arena = pli_arena_new(&s->allocator, PLI_MAX_ARENA);
    const char *copy = s->arena ? pli_strndup(s->arena, entry) : NULL;
    if (!copy)
        s->text->failed = PLIM_NOMEM;
    return copy;
}

void pli_series_add(pli_series *s, pli_str entry, size_t question, bool absent)
{
    pli_str asked = {entry.p, question};
    if (s->text->failed != PLIM_OK)
        return;
    if (!make_room(s)) {
        s->text->failed = PLIM_NOMEM;
        return;
    }
    uint64_t hash = hash_of(asked);
    struct pli_answer *a = find_slot(s, hash, asked);
    bool first = a->size == 0;
    if (!first && pli_same(entry_of(s, a), entry)) {
        a->pending++;
        return;
    }
    if (!first)
        catch_up(s, a);
    s->count += first;
    *a = (struct pli_answer){hash, question, entry.n, s->text->n, NULL, 0};
    if (first && absent)
        a->unwritten = hold_back(s, entry);
    else
        append(s, entry);
}
