/* GGUF and safetensors bytes made by hand: every function appends at the end, so that `n`
 * before a call is the offset of what the call adds. */
#ifndef PLI_TEST_MAKE_H
#define PLI_TEST_MAKE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <plimsoll/plimsoll.h>

#include "base/context.h"
#include "base/reader.h"
#include "model/model.h"

typedef struct maker {
    unsigned char *p;
    size_t n, room;
    bool big;         /* endian */
    unsigned version; /* 0: 3 */
} maker;

static inline void put_bytes(maker *m, const void *bytes, size_t n)
{
    if (m->n + n > m->room) {
        m->room = 2 * (m->n + n) + 256;
        m->p = realloc(m->p, m->room);
        assert(m->p);
    }
    if (n)
        memcpy(m->p + m->n, bytes, n);
    m->n += n;
}
static inline void put_number(maker *m, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)(value >> 8 * (m->big ? size - 1 - i : i));
        put_bytes(m, &byte, 1);
    }
}
static inline void put_count(maker *m, uint64_t value)
{
    put_number(m, m->version == 1 ? 4 : 8, value);
}
static inline void put_text(maker *m, const char *text)
{
    put_count(m, strlen(text));
    put_bytes(m, text, strlen(text));
}
static inline void put_header(maker *m, uint64_t tensors, uint64_t keys)
{
    put_bytes(m, "GGUF", 4);
    put_number(m, 4, m->version ? m->version : 3);
    put_count(m, tensors);
    put_count(m, keys);
}
static inline void put_key(maker *m, const char *key, pli_value_type type)
{
    put_text(m, key);
    put_number(m, 4, type);
}
static inline void put_u32(maker *m, const char *key, uint32_t value)
{
    put_key(m, key, PLI_VALUE_U32);
    put_number(m, 4, value);
}
static inline void put_string(maker *m, const char *key, const char *value)
{
    put_key(m, key, PLI_VALUE_STRING);
    put_text(m, value);
}
static inline void put_array(maker *m, const char *key, pli_value_type type, uint64_t count)
{
    put_key(m, key, PLI_VALUE_ARRAY);
    put_number(m, 4, type);
    put_count(m, count);
}
/* A tensor of up to two dimensions (0: none). */
static inline void put_tensor(maker *m, const char *name, uint64_t a, uint64_t b, uint32_t type,
                              uint64_t offset)
{
    put_text(m, name);
    put_number(m, 4, b ? 2 : 1);
    put_count(m, a);
    if (b)
        put_count(m, b);
    put_number(m, 4, type);
    put_number(m, 8, offset);
}
/* Zeros up to a multiple of `alignment`, then n more. */
static inline void put_data(maker *m, size_t alignment, size_t n)
{
    for (n += (alignment - m->n % alignment) % alignment; n > 0; n--)
        put_number(m, 1, 0);
}
/* A safetensors file: header text, then n zeros. */
static inline void put_safetensors(maker *m, const char *header, size_t n)
{
    put_number(m, 8, strlen(header));
    put_bytes(m, header, strlen(header));
    for (; n > 0; n--)
        put_number(m, 1, 0);
}

/* Opens the bytes as a file of that name, with an allocator. */
static inline plim_status open_named(const maker *m, const char *name,
                                     const plim_allocator *allocator, plim_error *e,
                                     plim_model **out)
{
    plim_config config = PLIM_CONFIG_INIT;
    plimsoll *context;
    if (allocator)
        config.allocator = *allocator;
    plim_status status = plim_open(&config, &context);
    if (status != PLIM_OK)
        return status;
    pli_str view = {m->p ? (const char *)m->p : "", m->n};
    plim_reader reader = pli_reader_memory(name, &view);
    status = plim_model_open_reader(context, &reader, e, out);
    plim_close(context);
    return status;
}
static inline plim_status open_made(const maker *m, plim_error *e, plim_model **out)
{
    return open_named(m, "made.gguf", NULL, e, out);
}
static inline void drop(maker *m)
{
    free(m->p);
    *m = (maker){0};
}

#endif
