#include "gguf.h"

#include <inttypes.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"

#define DEFAULT_ALIGNMENT 32u

plim_status pli_gguf_is(const plim_reader *reader, plim_error *error, bool *is)
{
    char magic[4];
    size_t got = 0;
    plim_status status = reader->read(reader->user, 0, magic, sizeof magic, &got);
    if (status != PLIM_OK)
        return pli_fail(error, status, reader->name, 0, "%s", plim_status_text(status));
    *is = got == sizeof magic && memcmp(magic, "GGUF", sizeof magic) == 0;
    return PLIM_OK;
}

size_t pli_gguf_count_size(const pli_gguf *g)
{
    return g->version == 1 ? 4 : 8;
}

pli_str pli_gguf_string(pli_cursor *c, pli_arena *arena, const pli_gguf *g, size_t max, bool refuse,
                        const char *what)
{
    uint64_t at = pli_cursor_offset(c);
    uint64_t n = pli_cursor_number(c, pli_gguf_count_size(g));
    pli_str none = {NULL, 0};
    if (!pli_cursor_room(c, n, at, what))
        return none;
    if (n > PLI_MAX_GGUF_STRING || (n > max && refuse)) {
        pli_cursor_fail(c, PLIM_LIMIT, at, "%s is %" PRIu64 " bytes long", what, n);
        return none;
    }
    if (n > max) {
        pli_cursor_skip(c, n);
        return (pli_str){NULL, (size_t)n};
    }
    char *text = pli_alloc_array(arena, (size_t)n + 1, 1);
    if (!text)
        pli_cursor_fail(c, PLIM_NOMEM, PLIM_NO_OFFSET, "out of memory");
    else if (pli_cursor_copy(c, text, (size_t)n))
        return (pli_str){text, (size_t)n};
    return none;
}

/* Magic and version, which tells the byte order: no version has its upper half set. */
static void read_version(pli_cursor *c, pli_gguf *g)
{
    const unsigned char *p = pli_cursor_bytes(c, 8);
    if (!p)
        return;
    if (memcmp(p, "GGUF", 4) != 0) {
        pli_cursor_fail(c, PLIM_PARSE, 0, "not a GGUF file: no magic");
        return;
    }
    uint64_t version = pli_load(p + 4, 4, false);
    if ((version & 0xffff) == 0) {
        c->big_endian = true;
        version = pli_load(p + 4, 4, true);
    }
    if (version < 1 || version > 3)
        pli_cursor_fail(c, PLIM_VERSION, 4, "GGUF version %" PRIu64 "; 1 to 3 are known", version);
    g->version = (uint32_t)version;
    g->big_endian = c->big_endian;
}

static uint64_t read_count(pli_cursor *c, const pli_gguf *g, uint64_t max, const char *what)
{
    uint64_t at = pli_cursor_offset(c);
    uint64_t n = pli_cursor_number(c, pli_gguf_count_size(g));
    if (c->status == PLIM_OK && n > max)
        pli_cursor_fail(c, PLIM_LIMIT, at, "%" PRIu64 " %s; at most %" PRIu64 " are read", n, what,
                        max);
    return n;
}

static void read_header(pli_cursor *c, pli_arena *arena, pli_gguf *g, uint32_t file)
{
    read_version(c, g);
    uint64_t tensors = read_count(c, g, PLI_MAX_GGUF_TENSORS, "tensors");
    uint64_t values = read_count(c, g, PLI_MAX_GGUF_KEYS, "keys");
    g->alignment = DEFAULT_ALIGNMENT;
    c->part = "the keys and values";
    pli_gguf_read_values(c, arena, g, values);
    c->part = "the tensor table";
    pli_gguf_read_tensors(c, arena, g, tensors, file);
}

plim_status pli_gguf_read(const plim_reader *reader, pli_arena *arena, uint32_t file,
                          plim_error *error, pli_gguf *out)
{
    pli_cursor c;
    memset(out, 0, sizeof *out);
    out->file_bytes = reader->size;
    if (pli_cursor_open(&c, reader, pli_arena_allocator(arena), PLI_MAX_GGUF_HEADER, error) ==
        PLIM_OK)
        read_header(&c, arena, out, file);
    if (c.status == PLIM_OK && pli_arena_failed(arena))
        pli_cursor_fail(&c, PLIM_NOMEM, PLIM_NO_OFFSET, "out of memory");
    pli_cursor_close(&c);
    return c.status;
}
