/* Bump allocator: one per result, freed at once. An allocation that fails sets a sticky flag, so
 * that builders check once at their end. Memory comes zeroed and aligned for any type. Not thread
 * safe. */
#ifndef PLI_ARENA_H
#define PLI_ARENA_H

#include <plimsoll/base.h>
#include <stdarg.h>

#include "platform.h"
#include "str.h"

typedef struct pli_arena pli_arena;

/* cap: bytes in all (PLI_MAX_ARENA). NULL when out of memory. The allocator is copied. */
pli_arena *pli_arena_new(const plim_allocator *allocator, uint64_t cap);
void pli_arena_free(pli_arena *arena); /* NULL is allowed */
const plim_allocator *pli_arena_allocator(const pli_arena *arena);
bool pli_arena_failed(const pli_arena *arena); /* did any allocation fail? */
/* Sets that flag: memory for the same result ran out elsewhere. */
void pli_arena_fail(pli_arena *arena);
uint64_t pli_arena_used(const pli_arena *arena);

void *pli_alloc(pli_arena *arena, size_t size); /* never NULL for size 0 unless failed */
void *pli_alloc_array(pli_arena *arena, size_t count, size_t size);
/* Grown copy of an array of `count` items when count is a power of two that fills it (or 0); else
 * the array itself. */
void *pli_grow_array(pli_arena *arena, void *items, size_t count, size_t size);
char *pli_strdup(pli_arena *arena, const char *text); /* NULL stays NULL */
char *pli_strndup(pli_arena *arena, pli_str text);
char *pli_printf(pli_arena *arena, const char *format, ...) PLI_PRINTF(2, 3);
char *pli_vprintf(pli_arena *arena, const char *format, va_list args) PLI_PRINTF(2, 0);

/* The raw hook, for the few things outside an arena. */
void *pli_hook_resize(const plim_allocator *allocator, void *ptr, size_t old_size, size_t new_size);

#endif
