#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

#define CHUNK_MIN 4096u
#define CHUNK_MAX (1u << 20)
#define ALIGN 16u

struct chunk {
    struct chunk *next;
    size_t size; /* of the whole chunk, header included */
    size_t used; /* header included */
};

struct pli_arena {
    plim_allocator allocator;
    struct chunk *chunks; /* newest first */
    uint64_t used, cap;
    bool failed;
};

#define HEADER ((sizeof(struct chunk) + ALIGN - 1) / ALIGN * ALIGN)

void *pli_hook_resize(const plim_allocator *allocator, void *ptr, size_t old_size, size_t new_size)
{
    if (allocator && allocator->fn)
        return allocator->fn(allocator->user, ptr, old_size, new_size);
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

pli_arena *pli_arena_new(const plim_allocator *allocator, uint64_t cap)
{
    pli_arena *arena = pli_hook_resize(allocator, NULL, 0, sizeof *arena);
    if (!arena)
        return NULL;
    memset(arena, 0, sizeof *arena);
    if (allocator)
        arena->allocator = *allocator;
    arena->cap = cap;
    return arena;
}

void pli_arena_free(pli_arena *arena)
{
    if (!arena)
        return;
    plim_allocator allocator = arena->allocator;
    for (struct chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        pli_hook_resize(&allocator, c, c->size, 0);
    }
    pli_hook_resize(&allocator, arena, sizeof *arena, 0);
}

const plim_allocator *pli_arena_allocator(const pli_arena *arena)
{
    return &arena->allocator;
}

bool pli_arena_failed(const pli_arena *arena)
{
    return arena->failed;
}

void pli_arena_fail(pli_arena *arena)
{
    arena->failed = true;
}

uint64_t pli_arena_used(const pli_arena *arena)
{
    return arena->used;
}

/* Chunks double from CHUNK_MIN to CHUNK_MAX; a larger request gets a chunk of its own. */
static struct chunk *add_chunk(pli_arena *arena, size_t need)
{
    size_t size = arena->chunks ? arena->chunks->size * 2 : CHUNK_MIN;
    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (need > SIZE_MAX - HEADER)
        return NULL;
    if (size < need + HEADER)
        size = need + HEADER;
    if (arena->used + need > arena->cap)
        return NULL;
    struct chunk *c = pli_hook_resize(&arena->allocator, NULL, 0, size);
    if (!c)
        return NULL;
    c->size = size;
    c->used = HEADER;
    c->next = arena->chunks;
    arena->chunks = c;
    return c;
}

void *pli_alloc(pli_arena *arena, size_t size)
{
    if (arena->failed)
        return NULL;
    if (size > SIZE_MAX - ALIGN) {
        arena->failed = true;
        return NULL;
    }
    size_t need = (size + (size == 0) + ALIGN - 1) / ALIGN * ALIGN;
    struct chunk *c = arena->chunks;
    if (!c || c->size - c->used < need)
        c = add_chunk(arena, need);
    if (!c) {
        arena->failed = true;
        return NULL;
    }
    void *p = (char *)c + c->used;
    c->used += need;
    arena->used += need;
    return memset(p, 0, need);
}

void *pli_alloc_array(pli_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        arena->failed = true;
        return NULL;
    }
    return pli_alloc(arena, count * size);
}

void *pli_grow_array(pli_arena *arena, void *items, size_t count, size_t size)
{
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0))
        return items;
    size_t grown = count < 4 ? 4 : count * 2;
    void *p = pli_alloc_array(arena, grown, size);
    if (p && count)
        memcpy(p, items, count * size);
    return p;
}

char *pli_strndup(pli_arena *arena, pli_str text)
{
    char *p = pli_alloc_array(arena, text.n + 1, 1);
    if (p && text.n)
        memcpy(p, text.p, text.n);
    return p;
}

char *pli_strdup(pli_arena *arena, const char *text)
{
    return text ? pli_strndup(arena, pli_s(text)) : NULL;
}

char *pli_vprintf(pli_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) {
        arena->failed = true;
        return NULL;
    }
    char *p = pli_alloc(arena, (size_t)n + 1);
    if (p)
        (void)vsnprintf(p, (size_t)n + 1, format, args);
    return p;
}

char *pli_printf(pli_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *p = pli_vprintf(arena, format, args);
    va_end(args);
    return p;
}
