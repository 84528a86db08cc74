/* Keys and values of a model as text for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

/* A number by its type, appended at buf + at; returns the new length (which snprintf may have
 * cut). */
static size_t add_number(char *buf, size_t size, size_t at, pli_value_type type, uint64_t bits)
{
    union {
        uint64_t u;
        int64_t i;
        double f;
    } v = {.u = bits};
    int n;
    if (at >= size)
        return at;
    if (type == PLI_VALUE_F32 || type == PLI_VALUE_F64)
        n = snprintf(buf + at, size - at, "%.9g", type == PLI_VALUE_F32 ? pli_shortest(v.f) : v.f);
    else if (type == PLI_VALUE_BOOL)
        n = snprintf(buf + at, size - at, "%s", v.u ? "true" : "false");
    else if (type == PLI_VALUE_I8 || type == PLI_VALUE_I16 || type == PLI_VALUE_I32 ||
             type == PLI_VALUE_I64)
        n = snprintf(buf + at, size - at, "%" PRId64, v.i);
    else
        n = snprintf(buf + at, size - at, "%" PRIu64, v.u);
    return n < 0 ? at : at + (size_t)n;
}

/* Text without control characters; what does not fit ends with "...". */
static size_t add_text(char *buf, size_t size, size_t at, pli_str text)
{
    if (at >= size)
        return at;
    size_t n = pli_clean(text, buf + at, size - at);
    return n < text.n ? size : at + n;
}

static size_t add_array(char *buf, size_t size, const pli_value *v)
{
    size_t at = 0;
    if (!v->items && !v->texts) {
        int n = snprintf(buf, size, "%" PRIu64 " %s", v->count, pli_value_type_name(v->item_type));
        return n < 0 ? 0 : (size_t)n;
    }
    at = add_text(buf, size, at, pli_s("["));
    for (uint64_t i = 0; i < v->count && at < size; i++) {
        at = add_text(buf, size, at, pli_s(i ? ", " : ""));
        at = v->items ? add_number(buf, size, at, v->item_type, v->items[i])
                      : add_text(buf, size, at, v->texts[i]);
    }
    return add_text(buf, size, at, pli_s("]"));
}

/* The last place not behind `at` where a character begins. */
static size_t cut_at(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static void value_text(const pli_value *v, char *buf, size_t size)
{
    size_t n = 0;
    if (v->type == PLI_VALUE_ARRAY)
        n = add_array(buf, size, v);
    else if (v->type != PLI_VALUE_STRING)
        n = add_number(buf, size, 0, v->type, v->as.u);
    else if (v->as.text.p || v->count == 0)
        n = add_text(buf, size, 0, v->as.text);
    else
        (void)snprintf(buf, size, "%" PRIu64 " bytes of text", v->count);
    size_t length = strlen(buf);
    if (n >= size && length >= 3)
        memcpy(buf + cut_at(buf, length - 3), "...", 4);
}

bool plim_model_metadata_text(const plim_model *model, size_t i, char *key, size_t key_size,
                              char *value, size_t value_size)
{
    const pli_model *m = pli_model_of(model);
    if (i >= m->value_count || key_size == 0 || value_size == 0)
        return false;
    (void)pli_clean(m->values[i].key, key, key_size);
    value[0] = '\0';
    value_text(&m->values[i], value, value_size);
    return true;
}
