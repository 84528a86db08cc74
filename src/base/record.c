#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "limits.h"
#include "num.h"

void *pli_record_new(pli_arena *arena, const plim_record *record)
{
    plim_head *head = pli_alloc(arena, record->size);
    const char **source = pli_alloc_array(arena, record->field_count, sizeof *source);
    if (!head || !source)
        return NULL;
    head->source = source;
    return head;
}

static void set_source(plim_head *head, unsigned field, const char *source)
{
    /* The table was made by pli_record_new() and is const for readers only. */
    union {
        const char *const *in;
        const char **out;
    } table = {.in = head->source};
    if (table.out)
        table.out[field] = source;
}

void pli_mark(plim_head *head, unsigned field, const char *source)
{
    head->known[field / 64] |= UINT64_C(1) << (field % 64);
    set_source(head, field, source);
}

void pli_unmark(plim_head *head, unsigned field)
{
    head->known[field / 64] &= ~(UINT64_C(1) << (field % 64));
    set_source(head, field, NULL);
}

bool pli_items_add(pli_arena *arena, plim_items *list, const void *item)
{
    union {
        const void *const *in;
        const void **out;
    } items = {.in = list->items};
    items.out = pli_grow_array(arena, items.out, list->count, sizeof *items.out);
    if (!items.out || !item)
        return false;
    items.out[list->count] = item;
    list->items = items.out;
    list->count++;
    return true;
}

bool pli_strs_add(pli_arena *arena, plim_strs *list, const char *text)
{
    union {
        const char *const *in;
        const char **out;
    } items = {.in = list->items};
    items.out = pli_grow_array(arena, items.out, list->count, sizeof *items.out);
    if (!items.out || !text)
        return false;
    items.out[list->count] = text;
    list->items = items.out;
    list->count++;
    return true;
}

static size_t type_size(plim_type type)
{
    static const size_t sizes[] = {
        [PLIM_TYPE_STR] = sizeof(const char *),    [PLIM_TYPE_U64] = sizeof(uint64_t),
        [PLIM_TYPE_I64] = sizeof(int64_t),         [PLIM_TYPE_F64] = sizeof(double),
        [PLIM_TYPE_BOOL] = sizeof(bool),           [PLIM_TYPE_STRS] = sizeof(plim_strs),
        [PLIM_TYPE_U64S] = sizeof(plim_u64s),      [PLIM_TYPE_COUNTS] = sizeof(plim_counts),
        [PLIM_TYPE_RECORD] = sizeof(const void *), [PLIM_TYPE_RECORDS] = sizeof(plim_items),
    };
    return sizes[type];
}

void pli_record_fill(const plim_record *record, void *to, const void *from)
{
    plim_head *head = to;
    const plim_head *other = from;
    for (unsigned i = 0; i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        if (!plim_known(other, i) || plim_known(head, i))
            continue;
        memcpy((char *)to + field->offset, (const char *)from + field->offset,
               type_size(field->type));
        pli_mark(head, i, other->source ? other->source[i] : NULL);
    }
}

const plim_field *plim_record_find(const plim_record *record, const char *key)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].key, key) == 0)
            return &record->fields[i];
    return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

bool plim_bytes_parse(const char *text, uint64_t *bytes)
{
    return text && pli_parse_size(pli_s(text), bytes);
}

const char *plim_bytes_text(uint64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned u = 0;
    double v = (double)bytes;
    while (v >= 1024 && u < 6) {
        v /= 1024;
        u++;
    }
    (void)snprintf(buf, size, u == 0 ? "%.0f %s" : v < 10 ? "%.2f %s" : "%.1f %s", v, units[u]);
    return buf;
}

static const char *unit_text(plim_unit unit)
{
    static const char *const texts[] = {"",   "",     "",     "",    " %", " C",
                                        " W", " MHz", " kHz", " us", ""};
    return (size_t)unit < sizeof texts / sizeof *texts ? texts[unit] : "";
}

static void u64_text(const plim_field *field, uint64_t v, char *buf, size_t size)
{
    char bytes[32];
    if (field->unit == PLIM_UNIT_BYTES)
        (void)plim_bytes_text(v, buf, size);
    else if (field->unit == PLIM_UNIT_BYTES_PER_S)
        (void)snprintf(buf, size, "%s/s", plim_bytes_text(v, bytes, sizeof bytes));
    else
        (void)snprintf(buf, size, "%" PRIu64 "%s", v, unit_text(field->unit));
}

/* One more item of a list, behind a blank. What does not fit is cut; false then. */
static bool add_text(char *buf, size_t size, size_t *at, const char *name, const char *between,
                     const char *value)
{
    int n = snprintf(buf + *at, size - *at, "%s%s%s%s", *at ? " " : "", name, between, value);
    if (n < 0 || (size_t)n >= size - *at)
        return false;
    *at += (size_t)n;
    return true;
}

static void list_text(const plim_field *field, const char *at, char *buf, size_t size)
{
    plim_strs strs = {NULL, 0};
    plim_u64s numbers = {NULL, 0};
    plim_counts counts = {NULL, 0};
    char text[64];
    size_t n = 0;
    bool room = true;
    if (field->type == PLIM_TYPE_STRS)
        memcpy(&strs, at, sizeof strs);
    else if (field->type == PLIM_TYPE_U64S)
        memcpy(&numbers, at, sizeof numbers);
    else
        memcpy(&counts, at, sizeof counts);
    buf[0] = '\0';
    for (size_t i = 0; i < strs.count && room; i++)
        room = add_text(buf, size, &n, strs.items[i], "", "");
    for (size_t i = 0; i < numbers.count && room; i++) {
        u64_text(field, numbers.items[i], text, sizeof text);
        room = add_text(buf, size, &n, text, "", "");
    }
    for (size_t i = 0; i < counts.count && room; i++) {
        u64_text(field, counts.items[i].value, text, sizeof text);
        room = add_text(buf, size, &n, counts.items[i].name, "=", text);
    }
}

bool plim_field_text(const plim_field *field, const void *record, char *buf, size_t size)
{
    const char *at = (const char *)record + field->offset;
    switch (field->type) {
    case PLIM_TYPE_STR: {
        const char *text;
        memcpy(&text, at, sizeof text);
        (void)snprintf(buf, size, "%s", text ? text : "-");
        return text != NULL;
    }
    case PLIM_TYPE_U64: {
        uint64_t v;
        memcpy(&v, at, sizeof v);
        u64_text(field, v, buf, size);
        return true;
    }
    case PLIM_TYPE_I64: {
        int64_t v;
        memcpy(&v, at, sizeof v);
        (void)snprintf(buf, size, "%" PRId64 "%s", v, unit_text(field->unit));
        return true;
    }
    case PLIM_TYPE_F64: {
        double v;
        memcpy(&v, at, sizeof v);
        (void)snprintf(buf, size, "%.4g%s", v, unit_text(field->unit));
        return true;
    }
    case PLIM_TYPE_BOOL: {
        bool v;
        memcpy(&v, at, sizeof v);
        (void)snprintf(buf, size, "%s", v ? "yes" : "no");
        return true;
    }
    case PLIM_TYPE_STRS:
    case PLIM_TYPE_U64S:
    case PLIM_TYPE_COUNTS:
        list_text(field, at, buf, size);
        return buf[0] != '\0';
    case PLIM_TYPE_RECORD:
    case PLIM_TYPE_RECORDS:
        break;
    }
    (void)snprintf(buf, size, "-");
    return false;
}
