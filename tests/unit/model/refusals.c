/* GGUF files that are refused: each names the file, the offset of what is wrong, and what it is. */
#include "unit/test.h"

#include "make.h"

static void refused_with(const maker *m, plim_status status, uint64_t offset, const char *what)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    plim_status got = open_made(m, &e, &model);
    plim_model_free(model);
    if (got != status || e.offset != offset || !strstr(e.what, what))
        fail_msg("%s at %llu: %s; wanted %s at %llu: %s", plim_status_name(got),
                 (unsigned long long)e.offset, e.what, plim_status_name(status),
                 (unsigned long long)offset, what);
    assert_string_equal(e.subject, "made.gguf");
    assert_null(model);
}

static void refused(maker *m, uint64_t offset, const char *what)
{
    refused_with(m, PLIM_PARSE, offset, what);
    drop(m);
}

static void headers(void **state)
{
    maker m = {0};
    (void)state;
    refused(&m, 0, "no magic"); /* an empty file */
    put_bytes(&m, "GGU", 3);
    refused(&m, 0, "no magic");
    put_bytes(&m, "GGUF", 4);
    refused(&m, 0, "the file ends inside the header");
    put_bytes(&m, "GGUF", 4);
    put_number(&m, 4, 4);
    refused_with(&m, PLIM_VERSION, 4, "GGUF version 4");
    drop(&m);
    put_bytes(&m, "GGUF", 4);
    put_number(&m, 4, 0);
    refused_with(&m, PLIM_VERSION, 4, "GGUF version 0");
    drop(&m);
    put_header(&m, UINT64_C(1) << 60, 0);
    refused_with(&m, PLIM_LIMIT, 8, "1152921504606846976 tensors");
    drop(&m);
    put_header(&m, 0, UINT64_MAX);
    refused_with(&m, PLIM_LIMIT, 16, "18446744073709551615 keys");
    drop(&m);
    put_header(&m, 1000000, 0);
    refused(&m, 24, "the file ends inside the tensor table");
    put_header(&m, 0, 1000000);
    refused(&m, 24, "the file ends inside the keys and values");
}

static void values(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 1);
    put_count(&m, UINT64_C(1) << 60);
    refused(&m, 24, "a key claims 1152921504606846976 bytes, the file has 0 more");
    put_header(&m, 0, 1);
    put_key(&m, "k", PLI_VALUE_STRING);
    put_count(&m, UINT64_MAX);
    refused(&m, 24 + 8 + 1 + 4, "a string claims 18446744073709551615 bytes");
    put_header(&m, 0, 1);
    put_u32(&m, "", 1);
    refused(&m, 24, "a key without a name");
    put_header(&m, 0, 1);
    put_key(&m, "k", 13);
    refused(&m, 24 + 8 + 1, "value type 13");
    put_header(&m, 0, 1);
    put_array(&m, "k", 14, 1);
    refused(&m, 24 + 8 + 1 + 4, "value type 14");
    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_U64, UINT64_C(1) << 61); /* times 8 overflows */
    refused(&m, 24 + 8 + 1 + 4 + 4, "an array claims 18446744073709551615 bytes");
    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_STRING, UINT64_C(1) << 60);
    refused(&m, 24 + 8 + 1 + 4 + 4, "an array claims");
    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_STRING, 100);
    for (int i = 0; i < 99; i++)
        put_text(&m, "four");
    size_t last = m.n;
    put_count(&m, UINT64_C(1) << 62);
    refused(&m, last, "a string of an array claims 4611686018427387904 bytes");
    put_header(&m, 0, 1);
    put_text(&m, "k");
    refused(&m, 24 + 8 + 1, "the file ends inside the keys and values");
}

static void nested_too_deep(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_ARRAY, 1);
    for (int i = 0; i < 10000; i++) {
        put_number(&m, 4, PLI_VALUE_ARRAY);
        put_count(&m, 1);
    }
    refused_with(&m, PLIM_LIMIT, 24 + 8 + 1 + 4 + 4 + 8 + 3 * 12, "arrays nested deeper than 4");
    drop(&m);
}

static void keys_twice(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 3);
    put_u32(&m, "same", 1);
    put_u32(&m, "other", 1);
    size_t second = m.n;
    put_u32(&m, "same", 1);
    refused(&m, second, "the key same stands in the file twice");
}

static void alignments(void **state)
{
    static const uint32_t bad[] = {0, 3, 24, 0xffffffff};
    maker m = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        put_header(&m, 0, 1);
        put_u32(&m, "general.alignment", bad[i]);
        refused(&m, 24, "no power of two");
    }
    put_header(&m, 0, 1);
    put_string(&m, "general.alignment", "32");
    refused(&m, 24, "general.alignment is no whole number");
}

static void shapes(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 1, 0);
    put_text(&m, "t");
    put_number(&m, 4, 5);
    refused(&m, 24 + 9, "tensor t has 5 dimensions");
    put_header(&m, 1, 0);
    put_tensor(&m, "t", UINT64_C(1) << 62, 2, 0, 0); /* 2^63 elements */
    refused(&m, 24 + 9 + 4 + 8, "the shape of tensor t overflows");
    put_header(&m, 1, 0);
    put_tensor(&m, "t", UINT64_MAX, 1, 0, 0); /* -1 */
    refused(&m, 24 + 9 + 4, "the shape of tensor t overflows");
    put_header(&m, 1, 0);
    put_tensor(&m, "t", UINT64_C(1) << 62, 0, 28, 0); /* F64: times 8 */
    refused(&m, 24 + 9 + 4 + 8, "the size of tensor t overflows");
    put_header(&m, 1, 0);
    put_tensor(&m, "t", 2, UINT64_C(1) << 61, 28, 0);
    refused(&m, 24 + 9 + 4 + 16, "the size of tensor t overflows");
    put_header(&m, 1, 0);
    put_tensor(&m, "t", 100, 2, 12, 0);
    refused(&m, 24 + 9 + 4 + 16, "rows of 100 elements are no whole blocks of Q4_K");
}

static void names(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 1, 0);
    put_tensor(&m, "", 1, 0, 0, 0);
    refused(&m, 24, "empty or holds a NUL");
    put_header(&m, 1, 0);
    put_count(&m, 3);
    put_bytes(&m, "a\0b", 3);
    refused(&m, 24, "empty or holds a NUL");
    put_header(&m, 1, 0);
    put_count(&m, 1025);
    put_data(&m, 1, 1100);
    refused_with(&m, PLIM_LIMIT, 24, "a tensor's name is 1025 bytes long");
    drop(&m);
    put_header(&m, 3, 0);
    put_tensor(&m, "same", 8, 0, 0, 0);
    put_tensor(&m, "other", 8, 0, 0, 32);
    size_t second = m.n;
    put_tensor(&m, "same", 8, 0, 0, 64);
    refused(&m, second, "the tensor same stands in the model twice");
}

static void places(void **state)
{
    size_t entry = 8 + 1 + 4 + 8 + 4; /* from a tensor's name to its offset */
    maker m = {0};
    (void)state;
    put_header(&m, 1, 0);
    put_tensor(&m, "a", 8, 0, 0, 4);
    refused(&m, 24 + entry, "data offset 4 is no multiple of 32");
    put_header(&m, 1, 0);
    put_tensor(&m, "a", 8, 0, 0, UINT64_C(1) << 63);
    refused(&m, 24 + entry, "but the tensor before ends at 0");
    struct {
        uint64_t offset;
        const char *what;
    } second[] = {
        {0, "overlaps"},                                /* the same place */
        {32, "overlaps"},                               /* inside the first */
        {1u << 20, "but the tensor before ends at 64"}, /* a hole */
    };
    for (size_t i = 0; i < COUNT(second); i++) {
        put_header(&m, 2, 0);
        put_tensor(&m, "a", 16, 0, 0, 0);
        size_t at = m.n + entry;
        put_tensor(&m, "b", 16, 0, 0, second[i].offset);
        refused(&m, at, second[i].what);
    }
    put_header(&m, 3, 0); /* the third comes back to the first: a cycle */
    put_tensor(&m, "a", 8, 0, 0, 0);
    put_tensor(&m, "b", 8, 0, 0, 32);
    size_t at = m.n + entry;
    put_tensor(&m, "c", 8, 0, 0, 0);
    refused(&m, at, "overlaps");
}

/* Cut at every byte: never a crash, always an error with an offset inside the file, or data
 * that is missing. */
static void cut_everywhere(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version += 2) {
        maker m = {.version = version, .big = version == 3};
        put_header(&m, 2, 3);
        put_string(&m, "general.architecture", "llama");
        put_array(&m, "n", PLI_VALUE_U16, 3);
        put_number(&m, 2, 1);
        put_number(&m, 4, 2);
        put_array(&m, "s", PLI_VALUE_STRING, 100);
        for (int i = 0; i < 100; i++)
            put_text(&m, "x");
        put_tensor(&m, "a", 8, 0, 0, 0);
        put_tensor(&m, "b", 256, 2, 12, 32);
        size_t header = m.n;
        put_data(&m, 32, 32 + 288);
        for (size_t whole = m.n; m.n > 0; m.n--) {
            plim_error e = PLIM_ERROR_INIT;
            plim_model *model = NULL;
            unsigned char *copy =
                malloc(m.n); /* of this size, so that sanitizers see a byte too far */
            memcpy(copy, m.p, m.n);
            maker cut = {.p = copy, .n = m.n};
            plim_status status = open_made(&cut, &e, &model);
            if (m.n < header) {
                assert_int_equal(status, PLIM_PARSE);
                assert_true(e.offset <= m.n);
            } else {
                assert_int_equal(status, PLIM_OK);
                assert_int_equal(model->data_present, m.n == whole);
            }
            plim_model_free(model);
            free(copy);
        }
        m.n = m.room;
        drop(&m);
    }
}

/* A reader whose input breaks off, or is shorter than it said, at `broken`. */
struct broken_input {
    const maker *m;
    uint64_t at;
    plim_status status;
};

static plim_status broken_read(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    const struct broken_input *b = user;
    uint64_t left = offset < b->at ? b->at - offset : 0;
    *got = n < left ? n : (size_t)left;
    memcpy(buf, b->m->p + (offset < b->m->n ? offset : 0), *got);
    return *got < n ? b->status : PLIM_OK;
}

static void readers_that_fail(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 1);
    put_array(&m, "k", PLI_VALUE_U8, 300000);
    put_data(&m, 1, 300000);
    for (int i = 0; i < 4; i++) {
        struct broken_input input = {&m, i < 2 ? 2 : 60, i % 2 ? PLIM_IO : PLIM_OK};
        plim_reader reader = {sizeof reader, NULL, m.n, &input, broken_read};
        plim_error e = PLIM_ERROR_INIT;
        plim_model *model = NULL;
        plimsoll *context;
        assert_int_equal(plim_open(NULL, &context), PLIM_OK);
        plim_status status = plim_model_open_reader(context, &reader, &e, &model);
        /* the array is skipped in place, so what lies behind its length is never asked for */
        assert_int_equal(status, i % 2 ? PLIM_IO : i < 2 ? PLIM_PARSE : PLIM_OK);
        plim_model_free(model);
        plim_close(context);
    }
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),        cmocka_unit_test(values),
        cmocka_unit_test(keys_twice),     cmocka_unit_test(nested_too_deep),
        cmocka_unit_test(alignments),     cmocka_unit_test(shapes),
        cmocka_unit_test(names),          cmocka_unit_test(places),
        cmocka_unit_test(cut_everywhere), cmocka_unit_test(readers_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
