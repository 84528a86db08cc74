/* Arena and buffer: caps hold, failures stick, nothing is lost. */
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

/* Counts what is allocated; refuses from the nth request on. */
struct meter {
    size_t live, requests, refuse_from;
};

static void *metered(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct meter *m = user;
    if (new_size == 0) {
        m->live -= ptr ? old_size : 0;
        free(ptr);
        return NULL;
    }
    if (++m->requests >= m->refuse_from)
        return NULL;
    m->live += new_size - (ptr ? old_size : 0);
    return realloc(ptr, new_size);
}

static void gives_everything_back(void **state)
{
    struct meter m = {0, 0, SIZE_MAX};
    plim_allocator hook = {metered, &m};
    (void)state;
    pli_arena *a = pli_arena_new(&hook, 1 << 24);
    for (size_t i = 0; i < 1000; i++) {
        unsigned char *p = pli_alloc(a, i * 7);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < i * 7; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xa5, i * 7);
    }
    assert_true(m.live > 1000 * 999 / 2 * 7);
    pli_arena_free(a);
    assert_int_equal(m.live, 0);
}

static void failure_sticks(void **state)
{
    struct meter m = {0, 0, 3};
    plim_allocator hook = {metered, &m};
    (void)state;
    pli_arena *a = pli_arena_new(&hook, 1 << 24);
    assert_non_null(pli_alloc(a, 16));
    assert_null(pli_alloc(a, 1 << 20));
    assert_true(pli_arena_failed(a));
    assert_null(pli_alloc(a, 16)); /* although there is room */
    pli_arena_free(a);
    assert_int_equal(m.live, 0);
}

static void caps_hold(void **state)
{
    (void)state;
    pli_arena *a = pli_arena_new(NULL, 4096);
    assert_non_null(pli_alloc(a, 4000));
    assert_null(pli_alloc(a, 4000));
    pli_arena_free(a);
    a = pli_arena_new(NULL, 1 << 20);
    assert_null(pli_alloc_array(a, SIZE_MAX / 2, 3));
    assert_true(pli_arena_failed(a));
    pli_arena_free(a);
}

static void arrays_grow(void **state)
{
    (void)state;
    pli_arena *a = pli_arena_new(NULL, 1 << 20);
    int *items = NULL;
    for (int i = 0; i < 1000; i++) {
        items = pli_grow_array(a, items, (size_t)i, sizeof *items);
        assert_non_null(items);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_string_equal(pli_printf(a, "%s-%d", "x", 7), "x-7");
    pli_arena_free(a);
}

static void buffers(void **state)
{
    pli_buf b;
    (void)state;
    pli_buf_init(&b, NULL, 10);
    assert_int_equal(pli_buf_addz(&b, "12345"), PLIM_OK);
    assert_int_equal(pli_buf_printf(&b, "%d", 67890), PLIM_OK);
    assert_int_equal(pli_buf_addz(&b, "x"), PLIM_LIMIT);
    assert_int_equal(b.failed, PLIM_LIMIT);
    assert_string_equal(b.p, "1234567890"); /* what was there stays */
    pli_buf_reset(&b);
    assert_int_equal(b.failed, PLIM_OK);
    assert_int_equal(pli_buf_str(&b).n, 0);
    pli_buf_free(&b);
    assert_int_equal(pli_buf_str(&b).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_everything_back),
        cmocka_unit_test(failure_sticks),
        cmocka_unit_test(caps_hold),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
