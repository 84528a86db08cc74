/* Models whose files are found by name in something of the caller's: an archive, a server. */
#include "unit/test.h"

#include <stdio.h>

#include "make.h"

/* Three files, and how often they were opened and given back. */
struct shelf {
    maker parts[3];
    pli_str views[3];
    unsigned opened, closed, open_now, most_open;
    unsigned refused; /* number of the part that cannot be had, from 1; 0: none */
};

static plim_status take(void *user, const char *name, plim_reader *out, plim_error *error)
{
    struct shelf *shelf = user;
    for (unsigned i = 0; i < 3; i++) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "box://x/m-%05u-of-00003.gguf", i + 1);
        if (strcmp(name, expected) != 0)
            continue;
        if (i + 1 == shelf->refused) {
            error->status = PLIM_PERMISSION;
            (void)snprintf(error->what, sizeof error->what, "locked");
            return PLIM_PERMISSION;
        }
        shelf->opened++;
        shelf->open_now++;
        shelf->most_open = shelf->open_now > shelf->most_open ? shelf->open_now : shelf->most_open;
        shelf->views[i] = (pli_str){(const char *)shelf->parts[i].p, shelf->parts[i].n};
        *out = pli_reader_memory("part", &shelf->views[i]);
        return PLIM_OK;
    }
    return PLIM_NOT_FOUND;
}

static void give_back(void *user, plim_reader *reader)
{
    struct shelf *shelf = user;
    assert_non_null(reader->read);
    shelf->closed++;
    shelf->open_now--;
}

static void fill(struct shelf *shelf)
{
    *shelf = (struct shelf){.refused = 0};
    for (unsigned i = 0; i < 3; i++) {
        maker *m = &shelf->parts[i];
        char name[16];
        put_header(m, i > 0, i == 0 ? 3 : 2);
        if (i == 0)
            put_string(m, "general.architecture", "llama");
        put_key(m, "split.no", PLI_VALUE_U16);
        put_number(m, 2, i);
        put_key(m, "split.count", PLI_VALUE_U16);
        put_number(m, 2, 3);
        (void)snprintf(name, sizeof name, "t%u", i);
        if (i > 0)
            put_tensor(m, name, 32, 2, 0, 0);
    }
}

static void empty(struct shelf *shelf)
{
    for (unsigned i = 0; i < 3; i++)
        drop(&shelf->parts[i]);
}

static plim_status open_it(struct shelf *shelf, const char *name, plim_error *error,
                           plim_model **model)
{
    plimsoll *context = NULL;
    plim_files files = {sizeof files, shelf, take, give_back};
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    plim_status status = plim_model_open_files(context, &files, name, error, model);
    plim_close(context);
    return status;
}

static void all_parts(void **state)
{
    struct shelf shelf;
    plim_model *model = NULL;
    (void)state;
    fill(&shelf);
    for (unsigned i = 1; i <= 3; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "box://x/m-%05u-of-00003.gguf", i);
        assert_int_equal(open_it(&shelf, name, NULL, &model), PLIM_OK);
        assert_int_equal(model->splits, 3);
        assert_int_equal(plim_model_tensors(model).count, 2);
        plim_model_free(model);
    }
    assert_int_equal(shelf.opened, shelf.closed);
    assert_int_equal(shelf.most_open, 2);
    empty(&shelf);
}

static void refusals(void **state)
{
    struct shelf shelf;
    plim_model *model = NULL;
    plim_error error = PLIM_ERROR_INIT;
    (void)state;
    fill(&shelf);
    shelf.refused = 3;
    assert_int_equal(open_it(&shelf, "box://x/m-00001-of-00003.gguf", &error, &model),
                     PLIM_PERMISSION);
    assert_string_equal(error.what, "locked");
    assert_int_equal(shelf.opened, shelf.closed);
    assert_int_equal(open_it(&shelf, "box://x/other.gguf", &error, &model), PLIM_NOT_FOUND);
    assert_null(model);
    empty(&shelf);
}

static void arguments(void **state)
{
    plim_files files = {sizeof files, NULL, take, NULL};
    plim_model *model = NULL;
    plimsoll *context = NULL;
    (void)state;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    assert_int_equal(plim_model_open_files(context, &files, "x", NULL, &model), PLIM_INVALID);
    assert_int_equal(plim_model_open_files(context, NULL, "x", NULL, &model), PLIM_INVALID);
    files.close = give_back;
    assert_int_equal(plim_model_open_files(context, &files, NULL, NULL, &model), PLIM_INVALID);
    assert_int_equal(plim_model_open_files(context, &files, "x", NULL, NULL), PLIM_INVALID);
    files.struct_size--;
    assert_int_equal(plim_model_open_files(context, &files, "x", NULL, &model), PLIM_INVALID);
    plim_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts),
        cmocka_unit_test(refusals),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
