#include "json.h"

#include <string.h>

#include "limits.h"
#include "status.h"

/* yyjson frees without a size; the hook wants it, so it is kept in front of the block. */
#define PREFIX 16u

static void *json_malloc(void *ctx, size_t size)
{
    char *p = size > SIZE_MAX - PREFIX ? NULL : pli_hook_resize(ctx, NULL, 0, size + PREFIX);
    if (!p)
        return NULL;
    memcpy(p, &size, sizeof size);
    return p + PREFIX;
}

static void *json_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    char *p = ptr ? (char *)ptr - PREFIX : NULL;
    (void)old_size;
    if (!p)
        return json_malloc(ctx, size);
    size_t had;
    memcpy(&had, p, sizeof had);
    p = size > SIZE_MAX - PREFIX ? NULL : pli_hook_resize(ctx, p, had + PREFIX, size + PREFIX);
    if (!p)
        return NULL;
    memcpy(p, &size, sizeof size);
    return p + PREFIX;
}

static void json_free(void *ctx, void *ptr)
{
    if (!ptr)
        return;
    char *p = (char *)ptr - PREFIX;
    size_t had;
    memcpy(&had, p, sizeof had);
    pli_hook_resize(ctx, p, had + PREFIX, 0);
}

yyjson_alc pli_json_allocator(const plim_allocator *allocator)
{
    union {
        const plim_allocator *in;
        void *out;
    } context = {.in = allocator};
    return (yyjson_alc){json_malloc, json_realloc, json_free, context.out};
}

yyjson_mut_doc *pli_json_new(const plim_allocator *allocator, yyjson_alc *alc)
{
    *alc = pli_json_allocator(allocator);
    return yyjson_mut_doc_new(alc);
}

/* Offset of the byte that opens a level too deep, or PLIM_NO_OFFSET. Checked first: yyjson itself
 * does not limit depth, and whoever walks the tree recurses. */
static uint64_t too_deep(const char *text, size_t length, unsigned max)
{
    unsigned depth = 0;
    bool string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                string = false;
        } else if (c == '"') {
            string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > max)
                return i;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    return PLIM_NO_OFFSET;
}

plim_status pli_json_read_in_place(const plim_allocator *allocator, char *text, size_t length,
                                   unsigned depth, const char *subject, uint64_t base,
                                   plim_error *error, yyjson_doc **out)
{
    yyjson_read_err why;
    yyjson_alc alc = pli_json_allocator(allocator);
    uint64_t deep = too_deep(text, length, depth);
    *out = NULL;
    if (deep != PLIM_NO_OFFSET)
        return pli_fail(error, PLIM_LIMIT, subject, base + deep,
                        "the JSON is nested deeper than %u", depth);
    memset(text + length, 0, PLI_JSON_PADDING);
    *out = yyjson_read_opts(text, length, YYJSON_READ_INSITU, &alc, &why);
    if (*out)
        return PLIM_OK;
    if (why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return pli_fail(error, PLIM_NOMEM, subject, PLIM_NO_OFFSET, "out of memory");
    return pli_fail(error, PLIM_PARSE, subject, base + why.pos, "not JSON: %s", why.msg);
}

plim_status pli_json_read(const plim_allocator *allocator, const char *text, size_t length,
                          size_t max, const char *subject, plim_error *error, yyjson_doc **out)
{
    *out = NULL;
    if (length > max)
        return pli_fail(error, PLIM_LIMIT, subject, max, "the JSON text is larger than %zu bytes",
                        max);
    uint64_t deep = too_deep(text, length, PLI_MAX_JSON_DEPTH);
    if (deep != PLIM_NO_OFFSET)
        return pli_fail(error, PLIM_LIMIT, subject, deep, "the JSON is nested deeper than %u",
                        PLI_MAX_JSON_DEPTH);
    yyjson_alc alc = pli_json_allocator(allocator);
    yyjson_read_err why;
    /* yyjson_read_opts takes char * */
    char *copy = pli_hook_resize(allocator, NULL, 0, length + 1);
    if (!copy)
        return pli_fail(error, PLIM_NOMEM, subject, PLIM_NO_OFFSET, "out of memory");
    memcpy(copy, text, length);
    *out = yyjson_read_opts(copy, length, YYJSON_READ_NOFLAG, &alc, &why);
    pli_hook_resize(allocator, copy, length + 1, 0);
    if (*out)
        return PLIM_OK;
    if (why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return pli_fail(error, PLIM_NOMEM, subject, PLIM_NO_OFFSET, "out of memory");
    return pli_fail(error, PLIM_PARSE, subject, why.pos, "not JSON: %s", why.msg);
}

plim_status pli_json_write(yyjson_mut_doc *doc, bool pretty, char **text, size_t *length)
{
    yyjson_write_err why;
    yyjson_alc alc = pli_json_allocator(NULL);
    size_t n;
    *text = NULL;
    char *written = yyjson_mut_write_opts(
        doc, pretty ? YYJSON_WRITE_PRETTY_TWO_SPACES : YYJSON_WRITE_NOFLAG, &alc, &n, &why);
    if (!written)
        return why.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION ? PLIM_NOMEM : PLIM_INTERNAL;
    /* Copied out of yyjson's block, so that plim_text_free() need not know of its prefix. */
    char *copy = pli_hook_resize(NULL, NULL, 0, n + 1);
    if (copy) {
        memcpy(copy, written, n + 1);
        if (length)
            *length = n;
        *text = copy;
    }
    json_free(NULL, written);
    return copy ? PLIM_OK : PLIM_NOMEM;
}
