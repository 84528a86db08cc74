/* What a path leads to: split files, indexes, directories. The files are made in a directory of
 * their own. */
#include "unit/test.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "make.h"

static char folder[] = "/tmp/plimsoll-model-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, maker *m)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(m->p, 1, m->n, f), m->n);
    assert_int_equal(fclose(f), 0);
    drop(m);
}

static void write_text(const char *name, const char *text)
{
    maker m = {0};
    put_bytes(&m, text, strlen(text));
    write_file(name, &m);
}

static int empty_folder(void **state)
{
    DIR *dir = opendir(folder);
    (void)state;
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        (void)unlink(path_of(e->d_name));
    return dir ? closedir(dir) : 1;
}

/* One of `count` files, with one tensor; the keys say what the test wants them to. */
static void write_part(unsigned i, unsigned count, unsigned said, unsigned said_count,
                       unsigned total)
{
    char name[64], tensor[16];
    maker m = {0};
    put_header(&m, 1, i == 0 ? 4 : 3);
    if (i == 0)
        put_string(&m, "general.architecture", "llama");
    put_key(&m, "split.no", PLI_VALUE_U16);
    put_number(&m, 2, said);
    put_key(&m, "split.count", PLI_VALUE_U16);
    put_number(&m, 2, said_count);
    put_key(&m, "split.tensors.count", PLI_VALUE_I32);
    put_number(&m, 4, total);
    (void)snprintf(tensor, sizeof tensor, "t%u", i);
    put_tensor(&m, tensor, 8, 0, 0, 0);
    put_data(&m, 32, 32);
    (void)snprintf(name, sizeof name, "m-%05u-of-%05u.gguf", i + 1, count);
    write_file(name, &m);
}

static void fails(const char *name, plim_status status, const char *file, const char *what)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    plimsoll *context;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    plim_status got = plim_model_open(context, path_of(name), &e, &model);
    plim_model_free(model);
    plim_close(context);
    if (got != status || !strstr(e.subject, file) || !strstr(e.what, what))
        fail_msg("%s: %s: %s: %s", name, plim_status_name(got), e.subject, e.what);
}

static plim_model *opens(const char *name)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    plimsoll *context;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    if (plim_model_open(context, path_of(name), &e, &model) != PLIM_OK)
        fail_msg("%s: %s: %s", name, e.subject, e.what);
    plim_close(context);
    return model;
}

static void any_part_opens_all(void **state)
{
    static const char *const names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                        "m-00003-of-00003.gguf", ""};
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        write_part(i, 3, i, 3, 3);
    for (size_t i = 0; i < COUNT(names); i++) {
        plim_model *m = opens(names[i]);
        assert_int_equal(m->splits, 3);
        assert_int_equal(m->tensors_count, 3);
        assert_int_equal(m->parameters, 24);
        assert_string_equal(m->name, "m");
        assert_string_equal(m->architecture, "llama");
        assert_int_equal(pli_model_tensor(pli_model_of(m), "t2")->file, 2);
        plim_model_free(m);
    }
}

static void parts_that_do_not_agree(void **state)
{
    (void)state;
    write_part(0, 2, 0, 2, 2);
    fails("m-00001-of-00002.gguf", PLIM_NOT_FOUND, "m-00002-of-00002.gguf",
          "file 2 of a model of 2 files is missing");
    write_part(1, 2, 0, 2, 2);
    fails("", PLIM_PARSE, "m-00002-of-00002.gguf", "its keys call it file 1 of 2");
    write_part(1, 2, 1, 3, 2);
    fails("", PLIM_PARSE, "m-00002-of-00002.gguf", "its keys call it file 2 of 3");
    write_part(1, 2, 1, 2, 2);
    write_part(0, 2, 0, 2, 7);
    fails("", PLIM_PARSE, "m-00001-of-00002.gguf",
          "split.tensors.count does not agree with the 2 tensors");
    assert_int_equal(unlink(path_of("m-00001-of-00002.gguf")), 0);
    fails("m-00002-of-00002.gguf", PLIM_NOT_FOUND, "m-00001-of-00002.gguf",
          "file 1 of a model of 2 files is missing");
    fails("", PLIM_NOT_FOUND, "m-00001-of-00002.gguf", "file 1 of a model of 2");
    char from[512];
    (void)snprintf(from, sizeof from, "%s", path_of("m-00002-of-00002.gguf"));
    assert_int_equal(rename(from, path_of("renamed.gguf")), 0);
    fails("renamed.gguf", PLIM_PARSE, "renamed.gguf", "not named NAME-00001-of-00002.gguf");
}

static void claims_of_splits(void **state)
{
    (void)state;
    write_part(0, 1, 0, 65535, 1);
    fails("m-00001-of-00001.gguf", PLIM_LIMIT, "m-00001", "split.count is 65535");
    write_part(0, 1, 5, 2, 1);
    fails("m-00001-of-00001.gguf", PLIM_PARSE, "m-00001", "split.no is 5 of 2 files");
    write_part(0, 1, 0, 1, 1); /* "split" into one */
    plim_model_free(opens("m-00001-of-00001.gguf"));
}

static void directories(void **state)
{
    maker m = {0};
    (void)state;
    fails("", PLIM_NOT_FOUND, folder, "no model in this directory");
    write_text("README.md", "x");
    fails("", PLIM_NOT_FOUND, folder, "no model in this directory");
    put_header(&m, 0, 0);
    write_file("mmproj-model-f16.gguf", &m);
    plim_model_free(opens(""));
    put_header(&m, 0, 0);
    write_file("a.gguf", &m);
    plim_model *model = opens(""); /* the projector stands beside the model */
    assert_string_equal(model->name, "a");
    plim_model_free(model);
    put_header(&m, 0, 0);
    write_file("b.gguf", &m);
    fails("", PLIM_INVALID, folder, "2 models in this directory (a.gguf, b.gguf)");
    fails("missing", PLIM_NOT_FOUND, "missing", "");
    assert_int_equal(mkfifo(path_of("pipe.gguf"), 0600), 0);
    fails("pipe.gguf", PLIM_INVALID, "pipe.gguf", "not a regular file");
}

#define T(name) "{\"" name "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"

static void write_shard(const char *name, const char *header)
{
    maker m = {0};
    put_safetensors(&m, header, 4);
    write_file(name, &m);
}

static void indexes(void **state)
{
    (void)state;
    write_shard("model-1.safetensors", T("a"));
    write_shard("model-2.safetensors", T("b"));
    fails("", PLIM_INVALID, folder, "2 models in this directory");
    write_text("model.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}");
    plim_model *m = opens("");
    assert_int_equal(m->tensors_count, 2);
    assert_int_equal(m->splits, 2);
    assert_string_equal(m->name, folder + 5);
    plim_model_free(m);
    write_text("model.safetensors.index.json", "{\"weight_map\":{\"b\":\"model-1.safetensors\"}}");
    fails("", PLIM_PARSE, "model.safetensors.index.json",
          "the tensor b is not in model-1.safetensors");
    write_text("model.safetensors.index.json", "{\"weight_map\":{\"a\":\"model-3.safetensors\"}}");
    fails("", PLIM_NOT_FOUND, "model-3.safetensors", "a file that the index names is missing");
    assert_int_equal(unlink(path_of("model.safetensors.index.json")), 0);
    write_shard("other.safetensors", T("c"));
    write_shard("model.safetensors", T("c")); /* beside others it is the model */
    m = opens("");
    assert_string_equal(pli_model_of(m)->tensors[0].name, "c");
    plim_model_free(m);
    write_text("diffusion.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"model-1.safetensors\"}}");
    m = opens("");
    assert_string_equal(pli_model_of(m)->tensors[0].name, "a");
    plim_model_free(m);
    write_text("model.safetensors.index.json", "{}");
    fails("", PLIM_PARSE, "model.safetensors.index.json", "no weight_map");
    write_text("model.safetensors.index.json", "{\"weight_map\":{");
    fails("", PLIM_PARSE, "model.safetensors.index.json", "not JSON");
}

static void parts_without_an_index(void **state)
{
    (void)state;
    write_shard("model-00001-of-00002.safetensors", T("a"));
    write_shard("model-00002-of-00002.safetensors", T("b"));
    fails("", PLIM_NOT_FOUND, folder,
          "the index of the split model model-00001-of-00002.safetensors is missing");
    plim_model_free(opens("model-00001-of-00002.safetensors")); /* one file by its name */
}

static void indexes_that_lead_elsewhere(void **state)
{
    static const char *const names[] = {
        "../x", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", ".h", "C:x", "a\\u0000.safetensors"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "{\"weight_map\":{\"a\":\"%s\"}}", names[i]);
        write_text("model.safetensors.index.json", text);
        fails("", PLIM_PARSE, "index.json", "a: its file is no plain file name");
    }
    write_text("model.safetensors.index.json", "{\"weight_map\":{\"a\":5}}");
    fails("", PLIM_PARSE, "index.json", "a: its file is no plain file name");
}

/* The n-th allocation fails; n counts down. */
static void *fail_nth(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *left = user;
    (void)old_size;
    if (new_size && *left && --*left == 0)
        return NULL;
    if (new_size)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static plim_status open_failing(size_t n)
{
    plim_config config = PLIM_CONFIG_INIT;
    plim_model *model = NULL;
    plimsoll *context = NULL;
    config.allocator = (plim_allocator){fail_nth, &n};
    plim_status status = plim_open(&config, &context);
    if (status == PLIM_OK)
        status = plim_model_open(context, folder, NULL, &model);
    plim_model_free(model);
    plim_close(context);
    return n ? PLIM_OK : status; /* not that many allocations */
}

/* In a directory with an index of two files, and with a split GGUF. */
static void every_allocation_fails(void **state)
{
    (void)state;
    write_shard("model-1.safetensors", T("a"));
    write_shard("model-2.safetensors", T("b"));
    write_text("model.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}");
    for (int kind = 0; kind < 2; kind++) {
        size_t n = 1;
        for (plim_status status; (status = open_failing(n)) != PLIM_OK; n++)
            assert_int_equal(status, PLIM_NOMEM);
        assert_true(n > 5);
        for (unsigned i = 0; kind == 0 && i < 3; i++)
            write_part(i, 3, i, 3, 3);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)empty_folder(state);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(any_part_opens_all, empty_folder),
        cmocka_unit_test_teardown(parts_that_do_not_agree, empty_folder),
        cmocka_unit_test_teardown(claims_of_splits, empty_folder),
        cmocka_unit_test_teardown(directories, empty_folder),
        cmocka_unit_test_teardown(indexes, empty_folder),
        cmocka_unit_test_teardown(parts_without_an_index, empty_folder),
        cmocka_unit_test_teardown(every_allocation_fails, empty_folder),
        cmocka_unit_test_teardown(indexes_that_lead_elsewhere, empty_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
