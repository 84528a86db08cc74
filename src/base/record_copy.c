/* A copy of a record that shares nothing with the original. */
#include <string.h>

#include "record.h"

static bool copy_strs(pli_arena *arena, const plim_strs *from, plim_strs *to)
{
    const char **items = pli_alloc_array(arena, from->count, sizeof *items);
    for (size_t i = 0; items && i < from->count; i++)
        items[i] = pli_strdup(arena, from->items[i]);
    *to = (plim_strs){items, from->count};
    return items != NULL;
}

static bool copy_u64s(pli_arena *arena, const plim_u64s *from, plim_u64s *to)
{
    uint64_t *items = pli_alloc_array(arena, from->count, sizeof *items);
    if (items && from->count)
        memcpy(items, from->items, from->count * sizeof *items);
    *to = (plim_u64s){items, from->count};
    return items != NULL;
}

static bool copy_counts(pli_arena *arena, const plim_counts *from, plim_counts *to)
{
    plim_count *items = pli_alloc_array(arena, from->count, sizeof *items);
    for (size_t i = 0; items && i < from->count; i++)
        items[i] = (plim_count){pli_strdup(arena, from->items[i].name), from->items[i].value};
    *to = (plim_counts){items, from->count};
    return items != NULL;
}

static bool copy_items(pli_arena *arena, const plim_record *record, const plim_items *from,
                       plim_items *to)
{
    *to = (plim_items){NULL, 0};
    for (size_t i = 0; i < from->count; i++)
        if (!pli_items_add(arena, to, pli_record_copy(arena, record, from->items[i])))
            return false;
    return true;
}

static bool copy_field(pli_arena *arena, const plim_field *field, const char *from, char *to)
{
    union {
        const char *text;
        plim_strs strs;
        plim_u64s u64s;
        plim_counts counts;
        plim_items items;
        const void *inner;
    } in, out;
    bool done = true;
    switch (field->type) {
    case PLIM_TYPE_STR:
        memcpy(&in.text, from, sizeof in.text);
        out.text = pli_strdup(arena, in.text);
        memcpy(to, &out.text, sizeof out.text);
        return out.text != NULL;
    case PLIM_TYPE_STRS:
        memcpy(&in.strs, from, sizeof in.strs);
        done = copy_strs(arena, &in.strs, &out.strs);
        memcpy(to, &out.strs, sizeof out.strs);
        return done;
    case PLIM_TYPE_U64S:
        memcpy(&in.u64s, from, sizeof in.u64s);
        done = copy_u64s(arena, &in.u64s, &out.u64s);
        memcpy(to, &out.u64s, sizeof out.u64s);
        return done;
    case PLIM_TYPE_COUNTS:
        memcpy(&in.counts, from, sizeof in.counts);
        done = copy_counts(arena, &in.counts, &out.counts);
        memcpy(to, &out.counts, sizeof out.counts);
        return done;
    case PLIM_TYPE_RECORDS:
        memcpy(&in.items, from, sizeof in.items);
        done = copy_items(arena, field->record, &in.items, &out.items);
        memcpy(to, &out.items, sizeof out.items);
        return done;
    case PLIM_TYPE_RECORD:
        memcpy(&in.inner, from, sizeof in.inner);
        out.inner = in.inner ? pli_record_copy(arena, field->record, in.inner) : NULL;
        memcpy(to, &out.inner, sizeof out.inner);
        return !in.inner || out.inner;
    default: /* numbers */
        break;
    }
    size_t size = field->type == PLIM_TYPE_BOOL ? sizeof(bool) : sizeof(uint64_t);
    memcpy(to, from, size);
    return true;
}

void *pli_record_copy(pli_arena *arena, const plim_record *record, const void *r)
{
    const plim_head *from = r;
    plim_head *to = pli_record_new(arena, record);
    for (unsigned i = 0; to && i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        if (!plim_known(from, i))
            continue;
        if (!copy_field(arena, field, (const char *)r + field->offset, (char *)to + field->offset))
            return NULL;
        pli_mark(to, i, from->source ? pli_strdup(arena, from->source[i]) : NULL);
    }
    return to;
}
