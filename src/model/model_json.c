/* A model as a plimsoll.model/1 document: the record, and on request its tensors and its keys. */
#include <math.h>

#include "../base/json.h"
#include "../base/limits.h"
#include "model.h"

/* What a document in the making needs: strings that had to be repaired live in the arena. */
struct maker {
    yyjson_mut_doc *doc;
    pli_arena *arena;
};

static yyjson_mut_val *text_value(struct maker *m, pli_str text)
{
    if (!pli_utf8_valid(text)) {
        char *repaired = pli_alloc_array(m->arena, text.n, 3);
        if (!repaired)
            return NULL;
        text = (pli_str){repaired, pli_utf8_repair(text, repaired)};
    }
    return yyjson_mut_strn(m->doc, text.p ? text.p : "", text.n);
}

/* JSON has no numbers that are not finite. */
static yyjson_mut_val *real_value(struct maker *m, double v)
{
    if (isnan(v))
        return yyjson_mut_str(m->doc, "nan");
    if (isinf(v))
        return yyjson_mut_str(m->doc, v > 0 ? "inf" : "-inf");
    return yyjson_mut_real(m->doc, v);
}

static yyjson_mut_val *number_value(struct maker *m, pli_value_type type, uint64_t bits)
{
    union {
        uint64_t u;
        int64_t i;
        double f;
    } v = {.u = bits};
    switch (type) {
    case PLI_VALUE_F32:
        return real_value(m, pli_shortest(v.f));
    case PLI_VALUE_F64:
        return real_value(m, v.f);
    case PLI_VALUE_BOOL:
        return yyjson_mut_bool(m->doc, v.u != 0);
    case PLI_VALUE_I8:
    case PLI_VALUE_I16:
    case PLI_VALUE_I32:
    case PLI_VALUE_I64:
        return yyjson_mut_sint(m->doc, v.i);
    default:
        return yyjson_mut_uint(m->doc, v.u);
    }
}

/* {"type", "count"} of what was not kept. */
static yyjson_mut_val *summary(struct maker *m, pli_value_type type, uint64_t count)
{
    yyjson_mut_val *object = yyjson_mut_obj(m->doc);
    bool ok = yyjson_mut_obj_add_str(m->doc, object, "type", pli_value_type_name(type)) &&
              yyjson_mut_obj_add_uint(m->doc, object, "count", count);
    return ok ? object : NULL;
}

static yyjson_mut_val *array_value(struct maker *m, const pli_value *v)
{
    if (!v->items && !v->texts)
        return summary(m, v->item_type, v->count);
    yyjson_mut_val *array = yyjson_mut_arr(m->doc);
    for (uint64_t i = 0; i < v->count; i++) {
        yyjson_mut_val *item =
            v->items ? number_value(m, v->item_type, v->items[i]) : text_value(m, v->texts[i]);
        if (!yyjson_mut_arr_append(array, item))
            return NULL;
    }
    return array;
}

static yyjson_mut_val *metadata(struct maker *m, const pli_model *model)
{
    yyjson_mut_val *object = yyjson_mut_obj(m->doc);
    for (size_t i = 0; i < model->value_count; i++) {
        const pli_value *v = &model->values[i];
        yyjson_mut_val *value;
        if (v->type == PLI_VALUE_ARRAY)
            value = array_value(m, v);
        else if (v->type != PLI_VALUE_STRING)
            value = number_value(m, v->type, v->as.u);
        else if (!v->as.text.p && v->count)
            value = summary(m, v->type, v->count);
        else
            value = text_value(m, v->as.text);
        if (!yyjson_mut_obj_add(object, text_value(m, v->key), value))
            return NULL;
    }
    return object;
}

static yyjson_mut_val *tensors(struct maker *m, const pli_model *model)
{
    yyjson_mut_val *array = yyjson_mut_arr(m->doc);
    for (size_t i = 0; i < model->items.count; i++)
        if (!yyjson_mut_arr_append(
                array, pli_record_to_json(m->doc, &plim_record_tensor, model->items.items[i], 0)))
            return NULL;
    return array;
}

static bool build(struct maker *m, const pli_model *model, unsigned flags)
{
    yyjson_mut_val *root = pli_record_to_json(m->doc, &plim_record_model, &model->pub, flags);
    if (!root)
        return false;
    yyjson_mut_doc_set_root(m->doc, root);
    if (flags & PLIM_MODEL_TENSORS) {
        yyjson_mut_val *list = tensors(m, model), *key = yyjson_mut_str(m->doc, "tensors");
        /* in the place of the count */
        if (!list || !key || !yyjson_mut_obj_replace(root, key, list))
            return false;
    }
    if (flags & PLIM_MODEL_METADATA)
        return yyjson_mut_obj_add_val(m->doc, root, "metadata", metadata(m, model));
    return true;
}

plim_status plim_model_to_json(const plim_model *pub, unsigned flags, char **text, size_t *length)
{
    if (!pub || !text)
        return PLIM_INVALID;
    *text = NULL;
    const pli_model *model = pli_model_of(pub);
    yyjson_alc alc;
    plim_status status = PLIM_NOMEM;
    struct maker m = {pli_json_new(pli_arena_allocator(model->arena), &alc),
                      pli_arena_new(pli_arena_allocator(model->arena), PLI_MAX_ARENA)};
    if (m.doc && m.arena && build(&m, model, flags) && !pli_arena_failed(m.arena))
        status = pli_json_write(m.doc, (flags & PLIM_JSON_PRETTY) != 0, text, length);
    yyjson_mut_doc_free(m.doc);
    pli_arena_free(m.arena);
    return status;
}
