/* Detection on every recorded machine of tests/machines, with each of its allocations refused in
 * turn: it ends with NOMEM, or with a result, and gives all memory back. */
#include <plimsoll/plimsoll.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

struct counter {
    size_t calls, refuse; /* refuse: number of the first request that fails, 0 for none */
    size_t bytes;
};

static void *counted(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct counter *c = user;
    if (new_size && ++c->calls >= c->refuse && c->refuse)
        return NULL;
    if (!new_size) {
        c->bytes -= old_size;
        free(ptr);
        return NULL;
    }
    void *moved = realloc(ptr, new_size);
    assert_non_null(moved);
    if (!ptr)
        old_size = 0;
    if (new_size > old_size)
        c->bytes += new_size - old_size;
    else
        c->bytes -= old_size - new_size;
    return moved;
}

static plim_status detect_with(struct counter *c, const char *text, size_t length)
{
    plim_config config = PLIM_CONFIG_INIT;
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_machine *machine = NULL;
    plimsoll *context = NULL;
    config.allocator = (plim_allocator){counted, c};
    options.machine_text = text;
    options.machine_text_length = length;
    plim_status status = plim_open(&config, &context);
    if (status == PLIM_OK)
        status = plim_machine_detect(context, &options, NULL, NULL, &machine);
    assert_true((status == PLIM_OK) == (machine != NULL));
    plim_machine_free(machine);
    plim_close(context);
    assert_int_equal(c->bytes, 0);
    return status;
}

static void try_all(const char *text, size_t length)
{
    struct counter all = {0};
    assert_int_equal(detect_with(&all, text, length), PLIM_OK);
    assert_true(all.calls > 10);
    for (size_t n = 1; n <= all.calls; n++) {
        struct counter c = {.refuse = n};
        plim_status status = detect_with(&c, text, length);
        assert_true(status == PLIM_NOMEM || status == PLIM_OK);
    }
}

static char *load(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *length = fread(text, 1, 1 << 20, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void every_allocation_may_fail(void **state)
{
    char path[1024];
    size_t machines = 0, length;
    DIR *dir = opendir(TESTS_DIR "/machines");
    assert_non_null(dir);
    (void)state;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".machine") != 0)
            continue;
        snprintf(path, sizeof path, TESTS_DIR "/machines/%s", entry->d_name);
        char *text = load(path, &length);
        try_all(text, length);
        free(text);
        machines++;
    }
    closedir(dir);
    assert_true(machines >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
