/* The header of a safetensors file: 8 bytes of length, a JSON object of tensors, then their
 * data without holes. */
#include "safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json.h"
#include "../base/limits.h"
#include "../base/num.h"
#include "../base/reader.h"
#include "../base/status.h"

#define PREFIX 8u /* bytes of the header's length */

/* A header while it is read: the text that the document's strings point into tells their
 * offsets. */
struct header {
    const plim_reader *reader;
    pli_arena *arena;
    plim_error *error;
    char *text;
    size_t length;
    yyjson_doc *doc;
    pli_safetensors *out;
    uint32_t file;
};

/* A tensor with the place of its data, for the check that there are no holes. */
struct span {
    pli_tensor *tensor;
    uint64_t begin, end;
};

static uint64_t offset_of(const struct header *h, yyjson_val *key)
{
    return PREFIX + (uint64_t)(yyjson_get_str(key) - h->text);
}

static plim_status fail_at(const struct header *h, yyjson_val *key, const char *what)
{
    return pli_fail(h->error, PLIM_PARSE, h->reader->name, offset_of(h, key), "%.100s: %s",
                    yyjson_get_str(key), what);
}

static plim_status fail_memory(const struct header *h)
{
    return pli_fail(h->error, PLIM_NOMEM, h->reader->name, PLIM_NO_OFFSET, "out of memory");
}

/* ---- one tensor ---- */

/* The three fields, each exactly once; unknown ones are passed over. */
static const char *find_fields(yyjson_val *object, yyjson_val **dtype, yyjson_val **shape,
                               yyjson_val **offsets)
{
    size_t i, max;
    yyjson_val *key, *value;
    *dtype = *shape = *offsets = NULL;
    yyjson_obj_foreach(object, i, max, key, value)
    {
        yyjson_val **field = yyjson_equals_str(key, "dtype")          ? dtype
                             : yyjson_equals_str(key, "shape")        ? shape
                             : yyjson_equals_str(key, "data_offsets") ? offsets
                                                                      : NULL;
        if (field && *field)
            return "a field stands in it twice";
        if (field)
            *field = value;
    }
    return *dtype && *shape && *offsets ? NULL : "dtype, shape or data_offsets is missing";
}

static const char *take_type(yyjson_val *dtype, pli_tensor *t)
{
    if (!yyjson_is_str(dtype))
        return "dtype is no string";
    const pli_quant *q = pli_quant_by_name((pli_str){yyjson_get_str(dtype), yyjson_get_len(dtype)});
    if (!q || q->dtype == PLI_DTYPE_NO || !yyjson_equals_str(dtype, q->name))
        return "an unknown dtype";
    t->type = pli_quant_index(q);
    t->type_name = q->name;
    t->file_type = q->ggml_id;
    return NULL;
}

static const char *take_shape(pli_arena *arena, yyjson_val *shape, pli_tensor *t)
{
    size_t i, max;
    yyjson_val *item;
    if (!yyjson_is_arr(shape))
        return "shape is no array";
    size_t dims = yyjson_arr_size(shape), room = dims < PLI_MIN_SHAPE ? PLI_MIN_SHAPE : dims;
    uint64_t *list = pli_alloc_array(arena, room, sizeof *list);
    if (!list)
        return "out of memory";
    for (size_t k = dims; k < room; k++)
        list[k] = 1;
    yyjson_arr_foreach(shape, i, max, item)
    {
        if (!yyjson_is_uint(item))
            return "a dimension is no whole number";
        list[i] = yyjson_get_uint(item);
    }
    t->dims = (uint32_t)dims;
    t->shape = list;
    return NULL;
}

static const char *take_offsets(yyjson_val *offsets, pli_tensor *t, uint64_t *end)
{
    yyjson_val *first = yyjson_arr_get_first(offsets), *second = yyjson_arr_get(offsets, 1);
    if (yyjson_arr_size(offsets) != 2 || !yyjson_is_uint(first) || !yyjson_is_uint(second))
        return "data_offsets are not two whole numbers";
    t->offset = yyjson_get_uint(first);
    *end = yyjson_get_uint(second);
    return NULL;
}

/* A name of the file in the arena; a NUL, which C cannot hold, as '?'. */
static const char *take_name(pli_arena *arena, yyjson_val *key)
{
    size_t n = yyjson_get_len(key);
    char *name = pli_strndup(arena, (pli_str){yyjson_get_str(key), n});
    for (size_t i = 0; name && i < n; i++)
        if (name[i] == '\0')
            name[i] = '?';
    return name;
}

static plim_status read_tensor(struct header *h, yyjson_val *key, yyjson_val *object, pli_tensor *t,
                               uint64_t *end)
{
    yyjson_val *dtype, *shape, *offsets;
    if (!yyjson_is_obj(object))
        return fail_at(h, key, "no object");
    const char *wrong = find_fields(object, &dtype, &shape, &offsets);
    if (!wrong)
        wrong = take_type(dtype, t);
    if (!wrong)
        wrong = take_shape(h->arena, shape, t);
    if (!wrong)
        wrong = take_offsets(offsets, t, end);
    t->name = take_name(h->arena, key);
    t->at = offset_of(h, key);
    t->file = h->file;
    if (pli_arena_failed(h->arena))
        return fail_memory(h);
    return wrong ? fail_at(h, key, wrong) : PLIM_OK;
}

/* ---- __metadata__ ---- */

static int by_key(const void *a, const void *b)
{
    const pli_value *x = a, *y = b;
    int order = pli_compare(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Of equal keys the last one counts, as in the reference's map. */
static void keep_last(pli_safetensors *out)
{
    size_t kept = 0;
    qsort(out->values, out->value_count, sizeof *out->values, by_key);
    for (size_t i = 0; i < out->value_count; i++) {
        if (i + 1 < out->value_count && pli_same(out->values[i].key, out->values[i + 1].key))
            continue;
        out->values[kept++] = out->values[i];
    }
    out->value_count = kept;
}

static pli_str copy_text(pli_arena *arena, yyjson_val *text)
{
    pli_str s = {yyjson_get_str(text), yyjson_get_len(text)};
    s.p = pli_strndup(arena, s);
    return s.p ? s : (pli_str){NULL, 0};
}

static plim_status read_metadata(struct header *h, yyjson_val *name, yyjson_val *object)
{
    size_t i, max;
    yyjson_val *key, *text;
    if (yyjson_is_null(object))
        return PLIM_OK;
    if (!yyjson_is_obj(object))
        return fail_at(h, name, "no object");
    pli_value *values = pli_alloc_array(h->arena, yyjson_obj_size(object), sizeof *values);
    if (!values)
        return fail_memory(h);
    yyjson_obj_foreach(object, i, max, key, text)
    {
        if (!yyjson_is_str(text))
            return fail_at(h, key, "a value of __metadata__ that is no string");
        values[i] = (pli_value){
            .key = copy_text(h->arena, key), .type = PLI_VALUE_STRING, .at = offset_of(h, key)};
        values[i].as.text = copy_text(h->arena, text);
        values[i].count = yyjson_get_len(text);
    }
    h->out->values = values;
    h->out->value_count = yyjson_obj_size(object);
    if (pli_arena_failed(h->arena))
        return fail_memory(h);
    keep_last(h->out);
    return PLIM_OK;
}

/* ---- all of them ---- */

static int by_span_name(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = strcmp(x->tensor->name, y->tensor->name);
    return order ? order : (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static int by_span(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = (x->begin > y->begin) - (x->begin < y->begin);
    return order ? order : (x->end > y->end) - (x->end < y->end);
}

/* Of a name that stands twice the last entry counts, as in the reference's map. */
static size_t drop_repeated(struct span *spans, size_t count)
{
    size_t kept = 0;
    qsort(spans, count, sizeof *spans, by_span_name);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || strcmp(spans[i].tensor->name, spans[i + 1].tensor->name) != 0)
            spans[kept++] = spans[i];
    return kept;
}

/* Elements and bytes by shape and dtype, which the data's size must agree with. Judged only of
 * what counts in the end: the reference does not look at an entry that a later one of its name
 * replaces. */
static const char *measure(pli_tensor *t, uint64_t end)
{
    const pli_quant *q = pli_quant_at(t->type);
    uint64_t bits;
    t->elements = 1;
    for (uint32_t i = 0; i < t->dims; i++)
        if (!pli_mul(t->elements, t->shape[i], &t->elements))
            return "the product of its shape overflows";
    /* the reference counts bits, so that is what overflows */
    if (!pli_mul(t->elements, 8 * q->block_bytes / q->block_elements, &bits))
        return "the size of its data overflows";
    if (t->elements % q->block_elements != 0)
        return "its elements are no whole bytes";
    t->bytes = t->elements / q->block_elements * q->block_bytes;
    t->bytes_known = true;
    return end - t->offset == t->bytes ? NULL : "its shape and dtype need other data_offsets";
}

/* The data covers the rest of the file: from its start, each tensor where the one before ends,
 * to the end. */
static plim_status check_spans(const struct header *h, struct span *spans, size_t count)
{
    uint64_t end = 0, data = h->reader->size - PREFIX - h->length;
    qsort(spans, count, sizeof *spans, by_span);
    for (size_t i = 0; i < count; i++) {
        pli_tensor *t = spans[i].tensor;
        if (spans[i].begin != end || spans[i].end < end)
            return pli_fail(h->error, PLIM_PARSE, h->reader->name, t->at,
                            "%.100s: data from %" PRIu64 " to %" PRIu64
                            ", but the data before ends at %" PRIu64,
                            t->name, spans[i].begin, spans[i].end, end);
        const char *wrong = measure(t, spans[i].end);
        if (wrong)
            return pli_fail(h->error, PLIM_PARSE, h->reader->name, t->at, "%.100s: %s", t->name,
                            wrong);
        end = spans[i].end;
    }
    if (end != data)
        return pli_fail(h->error, PLIM_PARSE, h->reader->name, PREFIX + h->length,
                        "%" PRIu64 " bytes of data, but the tensors take %" PRIu64, data, end);
    return PLIM_OK;
}

/* Tensors of the header's order without the repeated ones. */
static plim_status keep_tensors(struct header *h, pli_tensor *tensors, struct span *spans,
                                size_t count)
{
    size_t kept = drop_repeated(spans, count);
    plim_status status = check_spans(h, spans, kept);
    if (status != PLIM_OK)
        return status;
    h->out->tensors = tensors;
    h->out->tensor_count = count;
    if (kept == count)
        return PLIM_OK;
    pli_tensor *unique = pli_alloc_array(h->arena, kept, sizeof *unique);
    if (!unique)
        return fail_memory(h);
    for (size_t i = 0; i < kept; i++)
        unique[i] = *spans[i].tensor;
    h->out->tensors = unique;
    h->out->tensor_count = kept;
    return PLIM_OK;
}

static plim_status read_entries(struct header *h, yyjson_val *root, pli_tensor *tensors,
                                struct span *spans, size_t *count)
{
    size_t i, max;
    yyjson_val *key, *value;
    bool metadata = false;
    *count = 0;
    yyjson_obj_foreach(root, i, max, key, value)
    {
        plim_status status;
        if (!yyjson_equals_str(key, "__metadata__")) {
            pli_tensor *t = &tensors[*count];
            status = read_tensor(h, key, value, t, &spans[*count].end);
            spans[*count].begin = t->offset;
            spans[(*count)++].tensor = t;
        } else {
            status = metadata ? fail_at(h, key, "a field stands in it twice")
                              : read_metadata(h, key, value);
            metadata = true;
        }
        if (status != PLIM_OK)
            return status;
    }
    return PLIM_OK;
}

static plim_status read_object(struct header *h)
{
    yyjson_val *root = yyjson_doc_get_root(h->doc);
    if (!yyjson_is_obj(root))
        return pli_fail(h->error, PLIM_PARSE, h->reader->name, PREFIX,
                        "the header is no JSON object");
    size_t size = yyjson_obj_size(root), count;
    pli_tensor *tensors = pli_alloc_array(h->arena, size, sizeof *tensors);
    struct span *spans = pli_alloc_array(h->arena, size, sizeof *spans);
    if (!tensors || !spans)
        return fail_memory(h);
    plim_status status = read_entries(h, root, tensors, spans, &count);
    return status == PLIM_OK ? keep_tensors(h, tensors, spans, count) : status;
}

/* The header's length, checked against the limit and the file. */
static plim_status read_length(struct header *h)
{
    const plim_reader *r = h->reader;
    unsigned char prefix[PREFIX];
    if (r->size < PREFIX)
        return pli_fail(h->error, PLIM_PARSE, r->name, 0,
                        "%" PRIu64 " bytes are too few for a header", r->size);
    plim_status status = pli_reader_exact(r, 0, prefix, sizeof prefix, h->error);
    if (status != PLIM_OK)
        return status;
    uint64_t length = pli_load(prefix, sizeof prefix, false);
    if (length > PLI_MAX_SAFETENSORS_HEADER)
        return pli_fail(h->error, PLIM_LIMIT, r->name, 0,
                        "a header of %" PRIu64 " bytes; at most %u are allowed", length,
                        PLI_MAX_SAFETENSORS_HEADER);
    if (length > r->size - PREFIX)
        return pli_fail(h->error, PLIM_PARSE, r->name, 0,
                        "a header of %" PRIu64 " bytes in a file of %" PRIu64, length, r->size);
    h->length = (size_t)length;
    return PLIM_OK;
}

/* Is the first byte that is no blank a brace? Asked before anything of the header's size is
 * allocated. */
static bool begins_object(const plim_reader *reader, uint64_t length)
{
    char head[64];
    size_t want = length < sizeof head ? (size_t)length : sizeof head, got = 0;
    if (reader->read(reader->user, PREFIX, head, want, &got) != PLIM_OK)
        return false;
    for (size_t i = 0; i < got; i++)
        if (head[i] != ' ' && head[i] != '\t' && head[i] != '\n' && head[i] != '\r')
            return head[i] == '{';
    return got == sizeof head;
}

static plim_status read_text(struct header *h)
{
    if (!begins_object(h->reader, h->length))
        return pli_fail(h->error, PLIM_PARSE, h->reader->name, PREFIX,
                        "the header is no JSON object");
    h->text = pli_hook_resize(pli_arena_allocator(h->arena), NULL, 0, h->length + PLI_JSON_PADDING);
    if (!h->text)
        return fail_memory(h);
    plim_status status = pli_reader_exact(h->reader, PREFIX, h->text, h->length, h->error);
    if (status != PLIM_OK)
        return status;
    return pli_json_read_in_place(pli_arena_allocator(h->arena), h->text, h->length,
                                  PLI_MAX_SAFETENSORS_DEPTH, h->reader->name, PREFIX, h->error,
                                  &h->doc);
}

bool pli_safetensors_is(const plim_reader *reader)
{
    struct header h = {.reader = reader};
    return read_length(&h) == PLIM_OK && begins_object(reader, h.length);
}

plim_status pli_safetensors_read(const plim_reader *reader, pli_arena *arena, uint32_t file,
                                 plim_error *error, pli_safetensors *out)
{
    struct header h = {.reader = reader, .arena = arena, .error = error, .out = out, .file = file};
    memset(out, 0, sizeof *out);
    out->file_bytes = reader->size;
    plim_status status = read_length(&h);
    if (status == PLIM_OK)
        status = read_text(&h);
    if (status == PLIM_OK)
        status = read_object(&h);
    yyjson_doc_free(h.doc);
    if (h.text)
        pli_hook_resize(pli_arena_allocator(arena), h.text, h.length + PLI_JSON_PADDING, 0);
    return status;
}
