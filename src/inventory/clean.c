/* The last look at strings before a result leaves: a loop over every row of every record. */
#include <string.h>

#include "../base/str.h"
#include "inventory.h"

/* The text to keep: the same, or its clean copy; NULL when out of memory. */
static const char *clean_text(pli_arena *arena, const char *text)
{
    pli_str s = pli_s(text);
    if (pli_is_clean(s))
        return text;
    char *copy = pli_alloc(arena, s.n + 1);
    if (copy)
        (void)pli_clean(s, copy, s.n + 1);
    return copy;
}

static void clean_str(pli_arena *arena, plim_head *head, unsigned field, char *at)
{
    const char *text;
    memcpy(&text, at, sizeof text);
    text = clean_text(arena, text);
    if (text)
        memcpy(at, &text, sizeof text);
    else
        pli_unmark(head, field);
}

static void clean_strs(pli_arena *arena, plim_head *head, unsigned field, char *at)
{
    plim_strs list;
    memcpy(&list, at, sizeof list);
    size_t dirty = 0;
    for (size_t i = 0; i < list.count; i++)
        dirty += !pli_is_clean(pli_s(list.items[i]));
    if (!dirty)
        return;
    const char **copy = pli_alloc_array(arena, list.count, sizeof *copy);
    for (size_t i = 0; copy && i < list.count; i++)
        copy[i] = clean_text(arena, list.items[i]);
    if (pli_arena_failed(arena)) {
        pli_unmark(head, field);
        return;
    }
    list.items = copy;
    memcpy(at, &list, sizeof list);
}

/* Records are const for readers; until the result is frozen they are the builder's. */
static void clean_record(pli_arena *arena, const plim_record *record, const void *r)
{
    union {
        const void *in;
        char *bytes;
        plim_head *head;
    } at = {.in = r};
    for (unsigned i = 0; i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        char *place = at.bytes + field->offset;
        const void *inner;
        plim_items list;
        if (!plim_known(at.head, i))
            continue;
        switch (field->type) {
        case PLIM_TYPE_STR:
            clean_str(arena, at.head, i, place);
            break;
        case PLIM_TYPE_STRS:
            clean_strs(arena, at.head, i, place);
            break;
        case PLIM_TYPE_RECORD:
            memcpy(&inner, place, sizeof inner);
            if (inner)
                clean_record(arena, field->record, inner);
            break;
        case PLIM_TYPE_RECORDS:
            memcpy(&list, place, sizeof list);
            for (size_t k = 0; k < list.count; k++)
                clean_record(arena, field->record, list.items[k]);
            break;
        default:
            break;
        }
    }
}

void pli_inventory_clean(pli_inventory *inv)
{
    clean_record(inv->arena, &plim_record_machine, inv->machine);
}
