/* Records as JSON, out and in: loops over the rows. */
#include <string.h>

#include "limits.h"
#include "record.h"

/* ---- JSON out -------------------------------------------------------------------------------- */

/* Object that holds the last part of a dotted key, made where missing; *last is that part. */
static yyjson_mut_val *holder(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                              const char **last)
{
    for (const char *dot; object && (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        size_t n = (size_t)(dot - key);
        yyjson_mut_val *inner = yyjson_mut_obj_getn(object, key, n);
        if (!inner) {
            inner = yyjson_mut_obj(doc);
            if (!yyjson_mut_obj_add(object, yyjson_mut_strn(doc, key, n), inner))
                return NULL;
        }
        object = inner;
    }
    *last = key;
    return object;
}

static yyjson_mut_val *items_to_json(yyjson_mut_doc *doc, const plim_field *field, const char *at,
                                     unsigned flags)
{
    plim_items list;
    memcpy(&list, at, sizeof list);
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    for (size_t i = 0; i < list.count; i++)
        if (!yyjson_mut_arr_append(array,
                                   pli_record_to_json(doc, field->record, list.items[i], flags)))
            return NULL;
    return array;
}

static yyjson_mut_val *counts_to_json(yyjson_mut_doc *doc, const char *at)
{
    plim_counts map;
    memcpy(&map, at, sizeof map);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    for (size_t i = 0; i < map.count; i++)
        if (!yyjson_mut_obj_add(object, yyjson_mut_str(doc, map.items[i].name),
                                yyjson_mut_uint(doc, map.items[i].value)))
            return NULL;
    return object;
}

static yyjson_mut_val *list_to_json(yyjson_mut_doc *doc, const plim_field *field, const char *at)
{
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    plim_strs strs = {NULL, 0};
    plim_u64s nums = {NULL, 0};
    if (field->type == PLIM_TYPE_STRS)
        memcpy(&strs, at, sizeof strs);
    else
        memcpy(&nums, at, sizeof nums);
    for (size_t i = 0; i < strs.count; i++)
        if (!yyjson_mut_arr_append(array, yyjson_mut_str(doc, strs.items[i])))
            return NULL;
    for (size_t i = 0; i < nums.count; i++)
        if (!yyjson_mut_arr_append(array, yyjson_mut_uint(doc, nums.items[i])))
            return NULL;
    return array;
}

static yyjson_mut_val *scalar_to_json(yyjson_mut_doc *doc, plim_type type, const char *at)
{
    union {
        const char *text;
        uint64_t u;
        int64_t i;
        double f;
        bool b;
    } v;
    switch (type) {
    case PLIM_TYPE_STR:
        memcpy(&v.text, at, sizeof v.text);
        return yyjson_mut_str(doc, v.text);
    case PLIM_TYPE_I64:
        memcpy(&v.i, at, sizeof v.i);
        return yyjson_mut_sint(doc, v.i);
    case PLIM_TYPE_F64:
        memcpy(&v.f, at, sizeof v.f);
        return yyjson_mut_real(doc, v.f);
    case PLIM_TYPE_BOOL:
        memcpy(&v.b, at, sizeof v.b);
        return yyjson_mut_bool(doc, v.b);
    default:
        memcpy(&v.u, at, sizeof v.u);
        return yyjson_mut_uint(doc, v.u);
    }
}

static yyjson_mut_val *field_to_json(yyjson_mut_doc *doc, const plim_field *field, const char *at,
                                     unsigned flags)
{
    const void *inner;
    switch (field->type) {
    case PLIM_TYPE_RECORD:
        memcpy(&inner, at, sizeof inner);
        return inner ? pli_record_to_json(doc, field->record, inner, flags) : yyjson_mut_null(doc);
    case PLIM_TYPE_RECORDS:
        return items_to_json(doc, field, at, flags);
    case PLIM_TYPE_COUNTS:
        return counts_to_json(doc, at);
    case PLIM_TYPE_STRS:
    case PLIM_TYPE_U64S:
        return list_to_json(doc, field, at);
    default:
        return scalar_to_json(doc, field->type, at);
    }
}

/* Devices come from many sources, so theirs are always told. */
static bool tells_sources(const plim_record *record, unsigned flags)
{
    return (flags & PLIM_JSON_SOURCES) != 0 || strcmp(record->name, "device") == 0;
}

static bool add_sources(yyjson_mut_doc *doc, const plim_record *record, const plim_head *head,
                        yyjson_mut_val *object)
{
    yyjson_mut_val *sources = yyjson_mut_obj(doc);
    for (unsigned i = 0; head->source && i < record->field_count; i++)
        if (plim_known(head, i) && head->source[i] &&
            !yyjson_mut_obj_add(sources, yyjson_mut_str(doc, record->fields[i].key),
                                yyjson_mut_str(doc, head->source[i])))
            return false;
    return yyjson_mut_obj_size(sources) == 0 ||
           yyjson_mut_obj_add_val(doc, object, "sources", sources);
}

yyjson_mut_val *pli_record_to_json(yyjson_mut_doc *doc, const plim_record *record, const void *r,
                                   unsigned flags)
{
    const plim_head *head = r;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    for (unsigned i = 0; object && i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        const char *last = field->key;
        if (!plim_known(head, i))
            continue;
        yyjson_mut_val *in = holder(doc, object, field->key, &last);
        yyjson_mut_val *value = field_to_json(doc, field, (const char *)r + field->offset, flags);
        if (!in || !value || !yyjson_mut_obj_add(in, yyjson_mut_str(doc, last), value))
            return NULL;
    }
    if (object && tells_sources(record, flags) && !add_sources(doc, record, head, object))
        return NULL;
    return object;
}

plim_status plim_record_to_json(const plim_record *record, const void *r, unsigned flags,
                                char **text, size_t *length)
{
    yyjson_alc alc;
    *text = NULL;
    yyjson_mut_doc *doc = pli_json_new(NULL, &alc);
    if (!doc)
        return PLIM_NOMEM;
    yyjson_mut_val *root = pli_record_to_json(doc, record, r, flags);
    plim_status status = PLIM_NOMEM;
    if (root) {
        yyjson_mut_doc_set_root(doc, root);
        status = pli_json_write(doc, (flags & PLIM_JSON_PRETTY) != 0, text, length);
    }
    yyjson_mut_doc_free(doc);
    return status;
}

/* ---- JSON in --------------------------------------------------------------------------------- */

static yyjson_val *lookup(yyjson_val *object, const char *key)
{
    for (const char *dot; object && (dot = strchr(key, '.')) != NULL; key = dot + 1)
        object = yyjson_obj_getn(object, key, (size_t)(dot - key));
    return object ? yyjson_obj_get(object, key) : NULL;
}

static bool is_known_number(yyjson_val *value)
{
    return yyjson_is_int(value) && !(yyjson_is_sint(value) && yyjson_get_sint(value) < 0);
}

static plim_status list_from_json(pli_arena *arena, const plim_field *field, yyjson_val *value,
                                  char *at)
{
    if (!yyjson_is_arr(value))
        return PLIM_PARSE;
    size_t count = yyjson_arr_size(value), i, max;
    bool is_text = field->type == PLIM_TYPE_STRS;
    const char **strs = pli_alloc_array(arena, count, sizeof *strs);
    uint64_t *nums = pli_alloc_array(arena, count, sizeof *nums);
    if (!strs || !nums)
        return PLIM_NOMEM;
    yyjson_val *item;
    yyjson_arr_foreach(value, i, max, item)
    {
        if (is_text ? !yyjson_is_str(item) : !is_known_number(item))
            return PLIM_PARSE;
        strs[i] = is_text ? pli_strdup(arena, yyjson_get_str(item)) : NULL;
        nums[i] = yyjson_get_uint(item);
    }
    if (is_text)
        memcpy(at, &(plim_strs){strs, count}, sizeof(plim_strs));
    else
        memcpy(at, &(plim_u64s){nums, count}, sizeof(plim_u64s));
    return PLIM_OK;
}

static plim_status counts_from_json(pli_arena *arena, yyjson_val *value, char *at)
{
    if (!yyjson_is_obj(value))
        return PLIM_PARSE;
    plim_count *items = pli_alloc_array(arena, yyjson_obj_size(value), sizeof *items);
    size_t i, max;
    yyjson_val *key, *v;
    if (!items)
        return PLIM_NOMEM;
    yyjson_obj_foreach(value, i, max, key, v)
    {
        if (!is_known_number(v))
            return PLIM_PARSE;
        items[i] = (plim_count){pli_strdup(arena, yyjson_get_str(key)), yyjson_get_uint(v)};
    }
    memcpy(at, &(plim_counts){items, yyjson_obj_size(value)}, sizeof(plim_counts));
    return PLIM_OK;
}

static plim_status scalar_from_json(pli_arena *arena, plim_type type, yyjson_val *value, char *at)
{
    const char *text;
    switch (type) {
    case PLIM_TYPE_STR:
        if (!yyjson_is_str(value))
            return PLIM_PARSE;
        text = pli_strndup(arena, (pli_str){yyjson_get_str(value), yyjson_get_len(value)});
        memcpy(at, &text, sizeof text);
        return PLIM_OK;
    case PLIM_TYPE_U64:
        if (!is_known_number(value))
            return PLIM_PARSE;
        memcpy(at, &(uint64_t){yyjson_get_uint(value)}, sizeof(uint64_t));
        return PLIM_OK;
    case PLIM_TYPE_I64:
        if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX))
            return PLIM_PARSE;
        memcpy(at, &(int64_t){yyjson_get_sint(value)}, sizeof(int64_t));
        return PLIM_OK;
    case PLIM_TYPE_F64:
        if (!yyjson_is_num(value))
            return PLIM_PARSE;
        memcpy(at, &(double){yyjson_get_num(value)}, sizeof(double));
        return PLIM_OK;
    default:
        if (!yyjson_is_bool(value))
            return PLIM_PARSE;
        memcpy(at, &(bool){yyjson_get_bool(value)}, sizeof(bool));
        return PLIM_OK;
    }
}

static plim_status records_from_json(pli_arena *arena, const plim_field *field, yyjson_val *value,
                                     char *at, const char **path)
{
    plim_items list = {NULL, 0};
    size_t i, max;
    yyjson_val *item;
    if (!yyjson_is_arr(value))
        return PLIM_PARSE;
    yyjson_arr_foreach(value, i, max, item)
    {
        void *inner = pli_record_new(arena, field->record);
        if (!inner || !pli_items_add(arena, &list, inner))
            return PLIM_NOMEM;
        plim_status status = pli_record_from_json(arena, field->record, item, inner, path);
        if (status != PLIM_OK) {
            *path = pli_printf(arena, "[%zu]%s%s", i, *path ? "." : "", *path ? *path : "");
            return status;
        }
    }
    memcpy(at, &list, sizeof list);
    return PLIM_OK;
}

static plim_status record_from_json(pli_arena *arena, const plim_field *field, yyjson_val *value,
                                    char *at, const char **path)
{
    void *inner = pli_record_new(arena, field->record);
    if (!inner)
        return PLIM_NOMEM;
    memcpy(at, &inner, sizeof inner);
    return pli_record_from_json(arena, field->record, value, inner, path);
}

static plim_status field_from_json(pli_arena *arena, const plim_field *field, yyjson_val *value,
                                   char *at, const char **path)
{
    switch (field->type) {
    case PLIM_TYPE_RECORD:
        return record_from_json(arena, field, value, at, path);
    case PLIM_TYPE_RECORDS:
        return records_from_json(arena, field, value, at, path);
    case PLIM_TYPE_COUNTS:
        return counts_from_json(arena, value, at);
    case PLIM_TYPE_STRS:
    case PLIM_TYPE_U64S:
        return list_from_json(arena, field, value, at);
    default:
        return scalar_from_json(arena, field->type, value, at);
    }
}

plim_status pli_record_from_json(pli_arena *arena, const plim_record *record, yyjson_val *object,
                                 void *r, const char **path)
{
    plim_head *head = r;
    *path = NULL;
    if (!yyjson_is_obj(object))
        return PLIM_PARSE;
    yyjson_val *sources = yyjson_obj_get(object, "sources");
    for (unsigned i = 0; i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        yyjson_val *value = lookup(object, field->key);
        if (!value || yyjson_is_null(value))
            continue;
        plim_status status = field_from_json(arena, field, value, (char *)r + field->offset, path);
        if (status != PLIM_OK) {
            const char *inner = *path ? *path : "";
            *path = pli_printf(arena, "%s%s%s", field->key, inner[0] && inner[0] != '[' ? "." : "",
                               inner);
            return status;
        }
        yyjson_val *source = yyjson_obj_get(sources, field->key);
        pli_mark(head, i, source ? pli_strdup(arena, yyjson_get_str(source)) : NULL);
    }
    return pli_arena_failed(arena) ? PLIM_NOMEM : PLIM_OK;
}
