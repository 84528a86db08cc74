/* Memory: every allocation may fail, and what a file claims is not allocated. */
#include "unit/test.h"

#include "make.h"

struct counter {
    size_t calls, fail_at; /* 0: none fails */
    size_t held, peak;
};

static void *count(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct counter *c = user;
    if (new_size && ++c->calls == c->fail_at)
        return NULL;
    c->held += new_size;
    c->held -= old_size;
    c->peak = c->held > c->peak ? c->held : c->peak;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static void make_gguf(maker *m)
{
    put_header(m, 40, 5);
    put_string(m, "general.architecture", "llama");
    put_u32(m, "llama.block_count", 4);
    put_array(m, "llama.attention.head_count_kv", PLI_VALUE_U32, 4);
    put_data(m, 1, 16);
    put_array(m, "texts", PLI_VALUE_STRING, 3);
    for (int i = 0; i < 3; i++)
        put_text(m, "text");
    put_array(m, "long", PLI_VALUE_U8, 9000);
    put_data(m, 1, 9000);
    for (unsigned i = 0; i < 40; i++) {
        char name[2] = {(char)('0' + i), '\0'};
        put_tensor(m, name, 32, 2, i % 7 == 0 ? 777 : 0, i * 256);
    }
}

static void make_big_endian(maker *m)
{
    m->big = true;
    make_gguf(m);
}

static void make_safetensors(maker *m)
{
    put_safetensors(m,
                    "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                    "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                    "\"__metadata__\":{\"k\":\"v\",\"k\":\"w\"}}",
                    4);
}

static plim_status read_and_write(const maker *m, const char *name, struct counter *c)
{
    plim_allocator allocator = {count, c};
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    char *text = NULL;
    plim_status status = open_named(m, name, &allocator, &e, &model);
    if (status == PLIM_OK)
        status = plim_model_to_json(model, PLIM_MODEL_TENSORS | PLIM_MODEL_METADATA, &text, NULL);
    plim_text_free(text);
    plim_model_free(model);
    return status;
}

static void every_allocation_fails(void **state)
{
    static const struct {
        const char *name;
        void (*make)(maker *);
    } models[] = {
        {"a.gguf", make_gguf}, {"b.gguf", make_big_endian}, {"c.safetensors", make_safetensors}};
    (void)state;
    for (size_t i = 0; i < COUNT(models); i++) {
        maker m = {0};
        models[i].make(&m);
        struct counter all = {0};
        assert_int_equal(read_and_write(&m, models[i].name, &all), PLIM_OK);
        assert_int_equal(all.held, 0);
        assert_true(all.calls > 5);
        for (size_t n = 1; n <= all.calls; n++) {
            struct counter c = {.fail_at = n};
            assert_int_equal(read_and_write(&m, models[i].name, &c), PLIM_NOMEM);
            assert_int_equal(c.held, 0);
        }
        drop(&m);
    }
}

/* A reader of 2^40 bytes of which all but the first are zeros: a sparse file. */
static plim_status sparse_read(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    const maker *m = user;
    memset(buf, 0, n);
    if (offset < m->n)
        memcpy(buf, m->p + offset, m->n - offset < n ? m->n - (size_t)offset : n);
    *got = n;
    return PLIM_OK;
}

static plim_status open_sparse(maker *m, size_t *peak)
{
    struct counter c = {0};
    plim_config config = PLIM_CONFIG_INIT;
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    plimsoll *context;
    config.allocator = (plim_allocator){count, &c};
    assert_int_equal(plim_open(&config, &context), PLIM_OK);
    plim_reader reader = {sizeof reader, "sparse", UINT64_C(1) << 40, m, sparse_read};
    plim_status status = plim_model_open_reader(context, &reader, &e, &model);
    plim_model_free(model);
    plim_close(context);
    drop(m);
    *peak = c.peak;
    return status;
}

/* The file is as large as it claims, so only caps can stop it. */
static void claims_are_not_allocated(void **state)
{
    maker m = {0};
    size_t peak;
    (void)state;
    put_header(&m, 0, 1);
    put_key(&m, "k", PLI_VALUE_STRING);
    put_count(&m, UINT64_C(1) << 36);
    assert_int_equal(open_sparse(&m, &peak), PLIM_LIMIT);
    assert_true(peak < (1u << 20));

    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_F32, UINT64_C(1) << 29);
    assert_int_equal(open_sparse(&m, &peak), PLIM_LIMIT); /* the header would be 2 GiB */
    assert_true(peak < (1u << 20));

    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_STRING, 1u << 27); /* a gigabyte of empty strings */
    assert_int_equal(open_sparse(&m, &peak), PLIM_LIMIT);
    assert_true(peak < (1u << 20));

    put_header(&m, 1000000, 0);
    assert_int_equal(open_sparse(&m, &peak), PLIM_PARSE); /* a tensor without a name */
    assert_true(peak < (1u << 20));

    put_header(&m, 0, 1000000);
    assert_int_equal(open_sparse(&m, &peak), PLIM_PARSE); /* a million keys without a name */
    assert_true(peak < (1u << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(claims_are_not_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
