#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

const char *pli_value_type_name(pli_value_type type)
{
    static const char *const names[] = {"u8",   "i8",  "u16", "i16", "u32", "i32", "f32",
                                        "bool", "str", "arr", "u64", "i64", "f64"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "?";
}

double pli_shortest(double f32)
{
    float narrow = (float)f32;
    char text[40];
    for (int digits = 1; digits <= 9 && isfinite(f32); digits++) {
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, f32);
        if (strtof(text, NULL) == narrow)
            return strtod(text, NULL);
    }
    return f32;
}

const pli_value *pli_values_find(const pli_value *values, size_t count, pli_str key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pli_compare(values[middle].key, key);
        if (order == 0)
            return &values[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Bits of an integer type as a number that is not negative. */
static bool bits_u64(pli_value_type type, uint64_t bits, uint64_t *out)
{
    switch (type) {
    case PLI_VALUE_I8:
    case PLI_VALUE_I16:
    case PLI_VALUE_I32:
    case PLI_VALUE_I64:
        if (bits > INT64_MAX)
            return false;
        break;
    case PLI_VALUE_F32:
    case PLI_VALUE_F64:
    case PLI_VALUE_STRING:
    case PLI_VALUE_ARRAY:
        return false;
    default:
        break;
    }
    *out = bits;
    return true;
}

bool pli_value_u64(const pli_value *value, uint64_t *out)
{
    return value && bits_u64(value->type, value->as.u, out);
}

/* "%s.key" with the architecture in front; false when it does not fit. */
static bool full_key(const pli_model *model, const char *key, char *out, size_t size)
{
    pli_str arch = {"", 0};
    if (key[0] != '%' || key[1] != 's')
        return snprintf(out, size, "%s", key) < (int)size;
    const pli_value *v =
        pli_values_find(model->values, model->value_count, pli_s("general.architecture"));
    if (v && v->type == PLI_VALUE_STRING && v->as.text.p)
        arch = v->as.text;
    if (arch.n >= size || memchr(arch.p, '\0', arch.n))
        return false;
    int n = snprintf(out, size, "%.*s%s", (int)arch.n, arch.p, key + 2);
    return n >= 0 && (size_t)n < size;
}

const pli_value *pli_model_value(const pli_model *model, const char *key)
{
    char full[256];
    if (!full_key(model, key, full, sizeof full))
        return NULL;
    return pli_values_find(model->values, model->value_count, pli_s(full));
}

bool pli_model_u64(const pli_model *model, const char *key, uint64_t *out)
{
    return pli_value_u64(pli_model_value(model, key), out);
}

bool pli_model_f64(const pli_model *model, const char *key, double *out)
{
    const pli_value *v = pli_model_value(model, key);
    uint64_t n;
    if (v && (v->type == PLI_VALUE_F32 || v->type == PLI_VALUE_F64))
        *out = v->as.f;
    else if (pli_value_u64(v, &n))
        *out = (double)n;
    else
        return false;
    return true;
}

bool pli_model_str(const pli_model *model, const char *key, pli_str *out)
{
    const pli_value *v = pli_model_value(model, key);
    if (!v || v->type != PLI_VALUE_STRING || !v->as.text.p)
        return false;
    *out = v->as.text;
    return true;
}

bool pli_model_layer_u64(const pli_model *model, const char *key, uint64_t layer, uint64_t *out)
{
    const pli_value *v = pli_model_value(model, key);
    if (!v || v->type != PLI_VALUE_ARRAY)
        return pli_value_u64(v, out);
    return v->items && layer < v->count && bits_u64(v->item_type, v->items[layer], out);
}

const pli_tensor *pli_model_tensor(const pli_model *model, const char *name)
{
    size_t low = 0, high = model->by_name ? model->tensor_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(model->by_name[middle]->name, name);
        if (order == 0)
            return model->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
