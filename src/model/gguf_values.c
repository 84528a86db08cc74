/* Keys and values of a GGUF file. Long arrays (vocabularies) are skipped in place: numbers by
 * arithmetic, strings by walking their lengths inside the window. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "gguf.h"

#define MAX_ARRAY ((uint64_t)1 << 30) /* the reference reader's limit of items */
#define MAX_KEY 65535u                /* the specification's */

/* Bytes of a value by type; 0: not of a fixed size. */
static const unsigned char value_sizes[] = {
    [PLI_VALUE_U8] = 1,  [PLI_VALUE_I8] = 1,  [PLI_VALUE_U16] = 2, [PLI_VALUE_I16] = 2,
    [PLI_VALUE_U32] = 4, [PLI_VALUE_I32] = 4, [PLI_VALUE_F32] = 4, [PLI_VALUE_BOOL] = 1,
    [PLI_VALUE_U64] = 8, [PLI_VALUE_I64] = 8, [PLI_VALUE_F64] = 8,
};

static bool read_type(pli_cursor *c, pli_value_type *out)
{
    uint64_t at = pli_cursor_offset(c);
    uint64_t type = pli_cursor_number(c, 4);
    if (c->status == PLIM_OK && type > PLI_VALUE_F64)
        pli_cursor_fail(c, PLIM_PARSE, at, "value type %" PRIu64 "; 0 to 12 are known", type);
    *out = c->status == PLIM_OK ? (pli_value_type)type : PLI_VALUE_U8;
    return c->status == PLIM_OK;
}

/* The file's bits as the bits of pli_value's union: integers sign-extended, floats as double. */
static uint64_t number_bits(pli_value_type type, uint64_t raw)
{
    uint32_t raw32 = (uint32_t)raw;
    union {
        uint64_t u;
        double f;
    } wide;
    float narrow;
    switch (type) {
    case PLI_VALUE_I8:
        return raw & 0x80 ? raw | ~UINT64_C(0xff) : raw;
    case PLI_VALUE_I16:
        return raw & 0x8000 ? raw | ~UINT64_C(0xffff) : raw;
    case PLI_VALUE_I32:
        return raw & 0x80000000 ? raw | ~UINT64_C(0xffffffff) : raw;
    case PLI_VALUE_F32:
        memcpy(&narrow, &raw32, sizeof narrow);
        wide.f = (double)narrow;
        return wide.u;
    case PLI_VALUE_BOOL:
        return raw != 0;
    default:
        return raw;
    }
}

/* Passes whole strings of a window, up to `count`; returns how many. The loop is what a
 * vocabulary of 128 Ki tokens costs: each step waits for the length before it, so form and
 * order are constants of the caller and fold into one load and one addition. */
static inline uint64_t pass_strings(pli_cursor *c, uint64_t count, size_t width, bool big_endian)
{
    const unsigned char *p = c->window + c->pos;
    size_t left = c->have - c->pos;
    uint64_t done = 0;
    while (done < count && left >= width) {
        uint64_t n = width == 4 ? pli_load32(p, big_endian) : pli_load64(p, big_endian);
        if (n > left - width)
            break;
        p += width + n;
        left -= width + (size_t)n;
        done++;
    }
    c->pos = (size_t)(p - c->window);
    return done;
}

static uint64_t pass_window(pli_cursor *c, uint64_t count, size_t width)
{
    if (width == 8)
        return c->big_endian ? pass_strings(c, count, 8, true) : pass_strings(c, count, 8, false);
    return pass_strings(c, count, 4, c->big_endian);
}

/* Passes `count` strings without copying them. */
static void skip_strings(pli_cursor *c, const pli_gguf *g, uint64_t count)
{
    size_t width = pli_gguf_count_size(g);
    while (count > 0 && c->status == PLIM_OK) {
        count -= pass_window(c, count, width);
        if (count == 0)
            break;
        /* One string across the window's end, then on with a new window. */
        uint64_t at = pli_cursor_offset(c);
        uint64_t n = pli_cursor_number(c, width);
        if (pli_cursor_room(c, n, at, "a string of an array"))
            pli_cursor_skip(c, n);
        count--;
    }
}

static void skip_items(pli_cursor *c, const pli_gguf *g, pli_value_type type, uint64_t count,
                       unsigned depth);

/* Arrays in arrays: the reference reader refuses them, other writers make them. Passed, not
 * kept. */
static void skip_arrays(pli_cursor *c, const pli_gguf *g, uint64_t count, unsigned depth)
{
    for (; count > 0 && c->status == PLIM_OK; count--) {
        uint64_t at = pli_cursor_offset(c);
        pli_value_type type;
        if (!read_type(c, &type))
            return;
        uint64_t n = pli_cursor_number(c, pli_gguf_count_size(g));
        if (type == PLI_VALUE_ARRAY && depth + 1 >= PLI_MAX_GGUF_NESTING)
            pli_cursor_fail(c, PLIM_LIMIT, at, "arrays nested deeper than %u",
                            PLI_MAX_GGUF_NESTING);
        else
            skip_items(c, g, type, n, depth + 1);
    }
}

static void skip_items(pli_cursor *c, const pli_gguf *g, pli_value_type type, uint64_t count,
                       unsigned depth)
{
    uint64_t at = pli_cursor_offset(c);
    uint64_t least = value_sizes[type] ? value_sizes[type] : pli_gguf_count_size(g);
    if (!pli_cursor_room(c, pli_mul_sat(count, least), at, "an array"))
        return;
    if (type == PLI_VALUE_STRING)
        skip_strings(c, g, count);
    else if (type == PLI_VALUE_ARRAY)
        skip_arrays(c, g, count, depth);
    else
        pli_cursor_skip(c, count * least);
}

static void keep_numbers(pli_cursor *c, pli_arena *arena, pli_value *v)
{
    uint64_t *items = pli_alloc_array(arena, (size_t)v->count, sizeof *items);
    for (uint64_t i = 0; items && i < v->count; i++)
        items[i] = number_bits(v->item_type, pli_cursor_number(c, value_sizes[v->item_type]));
    v->items = items;
}

static void keep_texts(pli_cursor *c, pli_arena *arena, const pli_gguf *g, pli_value *v)
{
    pli_str *texts = pli_alloc_array(arena, (size_t)v->count, sizeof *texts);
    for (uint64_t i = 0; texts && i < v->count; i++)
        texts[i] = pli_gguf_string(c, arena, g, PLI_TEXT_KEPT, false, "a string of an array");
    v->texts = texts;
}

static void read_array(pli_cursor *c, pli_arena *arena, const pli_gguf *g, pli_value *v)
{
    if (!read_type(c, &v->item_type))
        return;
    uint64_t at = pli_cursor_offset(c);
    v->count = pli_cursor_number(c, pli_gguf_count_size(g));
    uint64_t least = value_sizes[v->item_type] ? value_sizes[v->item_type] : pli_gguf_count_size(g);
    if (!pli_cursor_room(c, pli_mul_sat(v->count, least), at, "an array"))
        return;
    if (v->count > MAX_ARRAY)
        pli_cursor_fail(c, PLIM_LIMIT, at, "an array of %" PRIu64 " items", v->count);
    else if (value_sizes[v->item_type] && v->count <= PLI_VALUE_KEPT)
        keep_numbers(c, arena, v);
    else if (v->item_type == PLI_VALUE_STRING && v->count <= PLI_TEXTS_KEPT)
        keep_texts(c, arena, g, v);
    else
        skip_items(c, g, v->item_type, v->count, 0);
}

static void read_value(pli_cursor *c, pli_arena *arena, const pli_gguf *g, pli_value *v)
{
    v->at = pli_cursor_offset(c);
    v->key = pli_gguf_string(c, arena, g, MAX_KEY, true, "a key");
    if (c->status == PLIM_OK && v->key.n == 0)
        pli_cursor_fail(c, PLIM_PARSE, v->at, "a key without a name");
    if (!read_type(c, &v->type))
        return;
    if (v->type == PLI_VALUE_STRING) {
        v->as.text = pli_gguf_string(c, arena, g, PLI_TEXT_KEPT, false, "a string");
        v->count = v->as.text.n;
    } else if (v->type == PLI_VALUE_ARRAY) {
        read_array(c, arena, g, v);
    } else {
        v->as.u = number_bits(v->type, pli_cursor_number(c, value_sizes[v->type]));
    }
}

static int by_key(const void *a, const void *b)
{
    const pli_value *x = a, *y = b;
    int order = pli_compare(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void refuse_duplicates(pli_cursor *c, const pli_gguf *g)
{
    for (size_t i = 1; i < g->value_count; i++) {
        char key[128];
        if (!pli_same(g->values[i - 1].key, g->values[i].key))
            continue;
        (void)pli_clean(g->values[i].key, key, sizeof key);
        pli_cursor_fail(c, PLIM_PARSE, g->values[i].at, "the key %s stands in the file twice", key);
        return;
    }
}

/* The alignment rules the tensor table, so it is judged here, where its place is known. */
static void take_alignment(pli_cursor *c, pli_gguf *g)
{
    uint64_t n;
    const pli_value *v = pli_values_find(g->values, g->value_count, pli_s("general.alignment"));
    if (!v)
        return;
    if (!pli_value_u64(v, &n))
        pli_cursor_fail(c, PLIM_PARSE, v->at, "general.alignment is no whole number");
    else if (n == 0 || (n & (n - 1)) != 0)
        pli_cursor_fail(c, PLIM_PARSE, v->at, "general.alignment is %" PRIu64 ", no power of two",
                        n);
    else
        g->alignment = n;
}

void pli_gguf_read_values(pli_cursor *c, pli_arena *arena, pli_gguf *g, uint64_t count)
{
    for (uint64_t i = 0; i < count && c->status == PLIM_OK; i++) {
        g->values = pli_grow_array(arena, g->values, g->value_count, sizeof *g->values);
        if (!g->values) {
            pli_cursor_fail(c, PLIM_NOMEM, PLIM_NO_OFFSET, "out of memory");
            return;
        }
        read_value(c, arena, g, &g->values[g->value_count]);
        g->value_count++;
    }
    if (c->status != PLIM_OK || pli_arena_failed(arena) || g->value_count == 0)
        return;
    qsort(g->values, g->value_count, sizeof *g->values, by_key);
    refuse_duplicates(c, g);
    take_alignment(c, g);
}
