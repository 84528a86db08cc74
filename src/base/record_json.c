/* Records as JSON: a loop over the rows. */
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
