/* The tensor table of a GGUF file: names, shapes, types and where the data stands. Every
 * product and sum is checked; what overlaps, leaves a hole or runs backwards is refused with
 * the offset of its entry. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "gguf.h"

#define GGML_MAX_DIMS 4u
/* Writers that split a file pad the later parts by the first one's alignment without saying so;
 * more than this no writer pads. */
#define MAX_SILENT_ALIGNMENT 65536u

static void read_shape(pli_cursor *c, pli_arena *arena, const pli_gguf *g, pli_tensor *t)
{
    uint64_t at = pli_cursor_offset(c);
    uint64_t dims = pli_cursor_number(c, 4);
    if (c->status == PLIM_OK && dims > GGML_MAX_DIMS)
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "tensor %.100s has %" PRIu64 " dimensions; at most 4 are possible", t->name,
                        dims);
    uint64_t *shape = pli_alloc_array(arena, PLI_MIN_SHAPE, sizeof *shape);
    if (!shape || c->status != PLIM_OK)
        return;
    t->elements = 1;
    for (unsigned i = 0; i < PLI_MIN_SHAPE; i++) {
        at = pli_cursor_offset(c);
        shape[i] = i < dims ? pli_cursor_number(c, pli_gguf_count_size(g)) : 1;
        /* ggml counts with signed 64 bits */
        if (!pli_mul(t->elements, shape[i], &t->elements) || t->elements > INT64_MAX ||
            shape[i] > INT64_MAX) {
            pli_cursor_fail(c, PLIM_PARSE, at, "the shape of tensor %.100s overflows", t->name);
            return;
        }
    }
    t->dims = (uint32_t)dims;
    t->shape = shape;
}

static void read_type(pli_cursor *c, pli_arena *arena, pli_tensor *t)
{
    uint64_t at = pli_cursor_offset(c), row;
    t->file_type = (uint32_t)pli_cursor_number(c, 4);
    if (c->status != PLIM_OK)
        return;
    const pli_quant *q = pli_quant_of_ggml(t->file_type);
    t->type = pli_quant_index(q);
    t->type_name = q ? q->name : pli_printf(arena, "TYPE_%" PRIu32, t->file_type);
    if (!q || q->block_bytes == 0)
        return;
    if (t->shape[0] % q->block_elements != 0) {
        /* Engines with types of their own have rules of their own for rows that end in a block. */
        if (!q->engine)
            pli_cursor_fail(c, PLIM_PARSE, at,
                            "tensor %.100s: rows of %" PRIu64 " elements are no whole blocks of %s",
                            t->name, t->shape[0], q->name);
        return;
    }
    uint64_t rows = t->shape[0] ? t->elements / t->shape[0] : 0;
    if (!pli_quant_row_bytes(q, t->shape[0], &row) || !pli_mul(row, rows, &t->bytes))
        pli_cursor_fail(c, PLIM_PARSE, at, "the size of tensor %.100s overflows", t->name);
    t->bytes_known = c->status == PLIM_OK;
}

/* Is `offset` where the data that ends at `end` is followed, with the file's padding or a
 * larger silent one? */
static bool follows(uint64_t offset, uint64_t end, uint64_t alignment)
{
    for (uint64_t a = alignment; a <= MAX_SILENT_ALIGNMENT || a == alignment; a *= 2) {
        uint64_t next;
        if (pli_round_up(end, a, &next) && next == offset)
            return true;
        if (a > UINT64_MAX / 2)
            break;
    }
    return false;
}

/* The tensor's data must follow the one before it, which ends at g->data_bytes unless its size
 * is not known. */
static void place(pli_cursor *c, pli_gguf *g, pli_tensor *t, bool end_known, uint64_t at)
{
    if (t->offset % g->alignment != 0)
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "tensor %.100s: data offset %" PRIu64 " is no multiple of %" PRIu64,
                        t->name, t->offset, g->alignment);
    else if (t->offset < g->data_bytes)
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "tensor %.100s: data at %" PRIu64
                        " overlaps the tensor before, which ends at %" PRIu64,
                        t->name, t->offset, g->data_bytes);
    else if (end_known && !follows(t->offset, g->data_bytes, g->alignment))
        pli_cursor_fail(c, PLIM_PARSE, at,
                        "tensor %.100s: data at %" PRIu64
                        ", but the tensor before ends at %" PRIu64,
                        t->name, t->offset, g->data_bytes);
    else if (!pli_add(t->offset, t->bytes, &g->data_bytes) || g->data_bytes > INT64_MAX)
        pli_cursor_fail(c, PLIM_PARSE, at, "tensor %.100s: data at %" PRIu64 " is out of range",
                        t->name, t->offset);
}

static void read_tensor(pli_cursor *c, pli_arena *arena, pli_gguf *g, pli_tensor *t,
                        bool *end_known)
{
    t->at = pli_cursor_offset(c);
    pli_str name = pli_gguf_string(c, arena, g, PLI_MAX_TENSOR_NAME, true, "a tensor's name");
    if (c->status != PLIM_OK)
        return;
    t->name = name.p;
    if (name.n == 0 || memchr(name.p, '\0', name.n))
        pli_cursor_fail(c, PLIM_PARSE, t->at, "a tensor's name is empty or holds a NUL");
    read_shape(c, arena, g, t);
    if (!t->shape || c->status != PLIM_OK)
        return;
    read_type(c, arena, t);
    uint64_t at = pli_cursor_offset(c);
    t->offset = pli_cursor_number(c, 8);
    if (c->status == PLIM_OK)
        place(c, g, t, *end_known, at);
    *end_known = t->bytes_known;
}

void pli_gguf_read_tensors(pli_cursor *c, pli_arena *arena, pli_gguf *g, uint64_t count,
                           uint32_t file)
{
    bool end_known = true;
    for (uint64_t i = 0; i < count && c->status == PLIM_OK && !pli_arena_failed(arena); i++) {
        g->tensors = pli_grow_array(arena, g->tensors, g->tensor_count, sizeof *g->tensors);
        if (!g->tensors)
            return;
        pli_tensor *t = &g->tensors[g->tensor_count++];
        t->file = file;
        read_tensor(c, arena, g, t, &end_known);
    }
    if (!pli_round_up(pli_cursor_offset(c), g->alignment, &g->data_start))
        pli_cursor_fail(c, PLIM_PARSE, pli_cursor_offset(c), "the data section is out of range");
}
