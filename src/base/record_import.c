/* JSON into records. Every key of an object is looked up among the rows, so that what is there
 * twice or of another type is told by its path. */
#include <stdio.h>
#include <string.h>

#include "limits.h"
#include "record.h"
#include "str.h"

struct import {
    pli_arena *arena;
    pli_misfit *misfit;
};

static plim_status refuse(struct import *in, plim_status status, const char *what)
{
    *in->misfit = (pli_misfit){"", what};
    return status;
}

/* Puts a step in front of the path to what was refused. */
static plim_status within(struct import *in, plim_status status, const char *step, size_t n)
{
    const char *rest = in->misfit->path;
    if (status != PLIM_OK && status != PLIM_NOMEM)
        in->misfit->path = pli_printf(in->arena, "%.*s%s%s", (int)n, step,
                                      rest && *rest && *rest != '[' ? "." : "", rest ? rest : "");
    return status;
}

static plim_status within_item(struct import *in, plim_status status, size_t i)
{
    char step[32];
    (void)snprintf(step, sizeof step, "[%zu]", i);
    return within(in, status, step, strlen(step));
}

/* ---- values ---------------------------------------------------------------------------------- */

static plim_status read_text(struct import *in, yyjson_val *value, const char **out)
{
    if (!yyjson_is_str(value))
        return refuse(in, PLIM_PARSE, "is no text");
    /* What a document says is shown on a terminal like what a driver says. */
    pli_str text = {yyjson_get_str(value), yyjson_get_len(value)};
    char *copy = pli_alloc_array(in->arena, text.n + 1, 1);
    if (copy)
        (void)pli_clean(text, copy, text.n + 1);
    *out = copy;
    return copy ? PLIM_OK : PLIM_NOMEM;
}

static plim_status read_u64(struct import *in, yyjson_val *value, uint64_t *out)
{
    if (!yyjson_is_uint(value))
        return refuse(in, PLIM_PARSE, "is no whole number of 64 bits without a sign");
    *out = yyjson_get_uint(value);
    return PLIM_OK;
}

static plim_status read_i64(struct import *in, yyjson_val *value, int64_t *out)
{
    if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX))
        return refuse(in, PLIM_PARSE, "is no whole number of 64 bits");
    *out = yyjson_get_sint(value);
    return PLIM_OK;
}

static plim_status read_scalar(struct import *in, plim_type type, yyjson_val *value, char *at)
{
    union {
        char *bytes;
        const char **text;
        uint64_t *u;
        int64_t *i;
        double *f;
        bool *b;
    } to = {.bytes = at};
    switch (type) {
    case PLIM_TYPE_STR:
        return read_text(in, value, to.text);
    case PLIM_TYPE_U64:
        return read_u64(in, value, to.u);
    case PLIM_TYPE_I64:
        return read_i64(in, value, to.i);
    case PLIM_TYPE_F64:
        if (!yyjson_is_num(value))
            return refuse(in, PLIM_PARSE, "is no number");
        *to.f = yyjson_get_num(value);
        return PLIM_OK;
    default:
        if (!yyjson_is_bool(value))
            return refuse(in, PLIM_PARSE, "is neither true nor false");
        *to.b = yyjson_get_bool(value);
        return PLIM_OK;
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static plim_status check_list(struct import *in, yyjson_val *value, size_t max)
{
    if (!yyjson_is_arr(value))
        return refuse(in, PLIM_PARSE, "is no list");
    if (yyjson_arr_size(value) > max)
        return refuse(in, PLIM_LIMIT, "is too long a list");
    return PLIM_OK;
}

static plim_status read_strs(struct import *in, yyjson_val *value, char *at)
{
    plim_status status = check_list(in, value, PLI_MAX_LIST);
    size_t i, max;
    yyjson_val *item;
    if (status != PLIM_OK)
        return status;
    const char **items = pli_alloc_array(in->arena, yyjson_arr_size(value), sizeof *items);
    if (!items)
        return PLIM_NOMEM;
    yyjson_arr_foreach(value, i, max, item)
    {
        status = read_text(in, item, &items[i]);
        if (status != PLIM_OK)
            return within_item(in, status, i);
    }
    memcpy(at, &(plim_strs){items, yyjson_arr_size(value)}, sizeof(plim_strs));
    return PLIM_OK;
}

static plim_status read_u64s(struct import *in, yyjson_val *value, char *at)
{
    plim_status status = check_list(in, value, PLI_MAX_LIST);
    size_t i, max;
    yyjson_val *item;
    if (status != PLIM_OK)
        return status;
    uint64_t *items = pli_alloc_array(in->arena, yyjson_arr_size(value), sizeof *items);
    if (!items)
        return PLIM_NOMEM;
    yyjson_arr_foreach(value, i, max, item)
    {
        status = read_u64(in, item, &items[i]);
        if (status != PLIM_OK)
            return within_item(in, status, i);
    }
    memcpy(at, &(plim_u64s){items, yyjson_arr_size(value)}, sizeof(plim_u64s));
    return PLIM_OK;
}

static plim_status read_counts(struct import *in, yyjson_val *value, char *at)
{
    size_t i, max;
    yyjson_val *key, *item;
    if (!yyjson_is_obj(value))
        return refuse(in, PLIM_PARSE, "is no object");
    if (yyjson_obj_size(value) > PLI_MAX_LIST)
        return refuse(in, PLIM_LIMIT, "has too many keys");
    plim_count *items = pli_alloc_array(in->arena, yyjson_obj_size(value), sizeof *items);
    if (!items)
        return PLIM_NOMEM;
    yyjson_obj_foreach(value, i, max, key, item)
    {
        plim_status status = read_text(in, key, &items[i].name);
        if (status == PLIM_OK)
            status = read_u64(in, item, &items[i].value);
        if (status != PLIM_OK)
            return within(in, status, yyjson_get_str(key), yyjson_get_len(key));
    }
    memcpy(at, &(plim_counts){items, yyjson_obj_size(value)}, sizeof(plim_counts));
    return PLIM_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static plim_status read_record(struct import *in, const plim_record *record, yyjson_val *object,
                               void *r);

static plim_status read_records(struct import *in, const plim_field *field, yyjson_val *value,
                                char *at)
{
    plim_items list = {NULL, 0};
    plim_status status = check_list(in, value, PLI_MAX_LIST);
    size_t i, max;
    yyjson_val *item;
    if (status != PLIM_OK)
        return status;
    yyjson_arr_foreach(value, i, max, item)
    {
        void *inner = pli_record_new(in->arena, field->record);
        if (!inner || !pli_items_add(in->arena, &list, inner))
            return PLIM_NOMEM;
        status = read_record(in, field->record, item, inner);
        if (status != PLIM_OK)
            return within_item(in, status, i);
    }
    memcpy(at, &list, sizeof list);
    return PLIM_OK;
}

static plim_status read_one(struct import *in, const plim_field *field, yyjson_val *value, char *at)
{
    void *inner = pli_record_new(in->arena, field->record);
    if (!inner)
        return PLIM_NOMEM;
    memcpy(at, &inner, sizeof inner);
    return read_record(in, field->record, value, inner);
}

static plim_status read_field(struct import *in, const plim_field *field, yyjson_val *value,
                              char *at)
{
    switch (field->type) {
    case PLIM_TYPE_RECORD:
        return read_one(in, field, value, at);
    case PLIM_TYPE_RECORDS:
        return read_records(in, field, value, at);
    case PLIM_TYPE_COUNTS:
        return read_counts(in, value, at);
    case PLIM_TYPE_STRS:
        return read_strs(in, value, at);
    case PLIM_TYPE_U64S:
        return read_u64s(in, value, at);
    default:
        return read_scalar(in, field->type, value, at);
    }
}

/* A record being read; seen: fields that the document has named. */
struct target {
    const plim_record *record;
    void *r;
    uint64_t seen[2];
};

/* How the key of an object at a prefix ("memory.", n bytes) stands to a field: it is the field, it
 * begins the path to it, or neither. */
typedef enum { APART, LEADS, IS } relation;

static relation relate(const char *field, const char *prefix, size_t n, pli_str key)
{
    if (strncmp(field, prefix, n) != 0 || strncmp(field + n, key.p, key.n) != 0)
        return APART;
    char after = field[n + key.n];
    return after == '\0' ? IS : after == '.' ? LEADS : APART;
}

static plim_status read_members(struct import *in, struct target *target, yyjson_val *object,
                                const char *prefix, size_t n);

static plim_status read_leaf(struct import *in, struct target *target, unsigned i,
                             yyjson_val *value)
{
    const plim_field *field = &target->record->fields[i];
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (target->seen[i / 64] & bit)
        return refuse(in, PLIM_PARSE, "is there twice");
    target->seen[i / 64] |= bit;
    if (yyjson_is_null(value))
        return PLIM_OK;
    plim_status status = read_field(in, field, value, (char *)target->r + field->offset);
    if (status == PLIM_OK)
        pli_mark(target->r, i, NULL);
    return status;
}

static plim_status read_member(struct import *in, struct target *target, pli_str key,
                               yyjson_val *value, const char *prefix, size_t n)
{
    const plim_record *record = target->record;
    if (memchr(key.p, '.', key.n) || memchr(key.p, '\0', key.n))
        return PLIM_OK; /* no key of ours, though its path might look like one */
    for (unsigned i = 0; i < record->field_count; i++) {
        const char *path = record->fields[i].key;
        relation is = relate(path, prefix, n, key);
        if (is == IS)
            return read_leaf(in, target, i, value);
        if (is == LEADS && yyjson_is_null(value))
            return PLIM_OK;
        if (is == LEADS)
            return read_members(in, target, value, path, n + key.n + 1);
    }
    return PLIM_OK;
}

static plim_status read_members(struct import *in, struct target *target, yyjson_val *object,
                                const char *prefix, size_t n)
{
    size_t i, max;
    yyjson_val *name, *value;
    if (!yyjson_is_obj(object))
        return refuse(in, PLIM_PARSE, "is no object");
    yyjson_obj_foreach(object, i, max, name, value)
    {
        pli_str key = {yyjson_get_str(name), yyjson_get_len(name)};
        plim_status status = read_member(in, target, key, value, prefix, n);
        if (status != PLIM_OK)
            return within(in, status, key.p, key.n);
    }
    return PLIM_OK;
}

/* "sources": {"memory.total_bytes": "nvml"}; those of unknown fields say nothing. */
static plim_status read_sources(struct import *in, struct target *target, yyjson_val *sources)
{
    size_t i, max;
    yyjson_val *name, *value;
    if (!yyjson_is_obj(sources))
        return refuse(in, PLIM_PARSE, "is no object");
    yyjson_obj_foreach(sources, i, max, name, value)
    {
        const char *text;
        plim_status status = read_text(in, value, &text);
        if (status != PLIM_OK)
            return within(in, status, yyjson_get_str(name), yyjson_get_len(name));
        const plim_field *field = plim_record_find(target->record, yyjson_get_str(name));
        unsigned number = field ? (unsigned)(field - target->record->fields) : 0;
        if (field && plim_known(target->r, number))
            pli_mark(target->r, number, text);
    }
    return PLIM_OK;
}

static plim_status read_record(struct import *in, const plim_record *record, yyjson_val *object,
                               void *r)
{
    struct target target = {record, r, {0, 0}};
    plim_status status = read_members(in, &target, object, "", 0);
    yyjson_val *sources = status == PLIM_OK ? yyjson_obj_get(object, "sources") : NULL;
    if (sources)
        status = within(in, read_sources(in, &target, sources), "sources", strlen("sources"));
    return status;
}

plim_status pli_record_from_json(pli_arena *arena, const plim_record *record, yyjson_val *object,
                                 void *r, pli_misfit *misfit)
{
    struct import in = {arena, misfit};
    *misfit = (pli_misfit){"", ""};
    plim_status status = read_record(&in, record, object, r);
    return pli_arena_failed(arena) ? PLIM_NOMEM : status;
}
