/* safetensors by the reference library's rules, and what the record tells of them. */
#include "unit/test.h"

#include "make.h"

static plim_status try_open(const char *header, size_t data, plim_error *e, plim_model **out)
{
    maker m = {0};
    put_safetensors(&m, header, data);
    plim_status status = open_named(&m, "made.safetensors", NULL, e, out);
    drop(&m);
    return status;
}

static void refused(const char *header, size_t data, uint64_t offset, const char *what)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    plim_status status = try_open(header, data, &e, &model);
    plim_model_free(model);
    if ((status != PLIM_PARSE && status != PLIM_LIMIT) || e.offset != offset ||
        !strstr(e.what, what))
        fail_msg("%s: %s at %llu: %s", header, plim_status_name(status),
                 (unsigned long long)e.offset, e.what);
}

static plim_model *must_open(const char *header, size_t data)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    if (try_open(header, data, &e, &model) != PLIM_OK)
        fail_msg("%s: %s at %llu", header, e.what, (unsigned long long)e.offset);
    return model;
}

static void fields(void **state)
{
    (void)state;
    refused("[]", 0, 8, "no JSON object");
    refused("{\"a\":1}", 0, 8 + 2, "a: no object");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, 10, "is missing");
    refused("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
            10, "twice");
    refused("{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, 10,
            "unknown dtype");
    refused("{\"a\":{\"dtype\":\"Q4_0\",\"shape\":[32],\"data_offsets\":[0,18]}}", 18, 10,
            "unknown dtype");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, 10,
            "no whole number");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, 10,
            "no whole number");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, 10, "no array");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, 10, "not two");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4.5]}}", 4, 10, "not two");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, 10,
            "data from 4 to 0");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, 10,
            "other data_offsets");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}",
            4, 10, "the product of its shape overflows");
    refused("{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,4]}}", 4,
            10, "the size of its data overflows");
    refused("{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, 10,
            "no whole bytes");
    refused("{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, 10,
            "no whole bytes");
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"
#define B "\"b\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[4,8]}"

static void places(void **state)
{
    (void)state;
    refused("{" A "," B "}", 7, 8 + sizeof("{" A "," B "}") - 1,
            "7 bytes of data, but the tensors take 8");
    refused("{" A "," B "}", 9, 8 + sizeof("{" A "," B "}") - 1, "9 bytes of data");
    refused("{" B "}", 8, 10, "b: data from 4 to 8, but the data before ends at 0");
    refused("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}", 6,
            8 + sizeof("{" A ",") - 1 + 1, "data from 2 to 6, but the data before ends at 4");
    refused("{" A "} x", 4, 8 + sizeof("{" A "} ") - 1, "not JSON");
    refused("{}", 1, 10, "1 bytes of data, but the tensors take 0");
    refused("{\"__metadata__\":{\"k\":1}}", 0, 8 + 18, "no string");
    refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, 8 + 20, "twice");
}

static void lengths(void **state)
{
    static const struct {
        uint64_t length;
        plim_status status;
    } bad[] = {{3, PLIM_PARSE}, {100000001, PLIM_LIMIT}, {UINT64_MAX, PLIM_LIMIT}, {0, PLIM_PARSE}};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        plim_error e = PLIM_ERROR_INIT;
        plim_model *model = NULL;
        maker m = {0};
        put_number(&m, 8, bad[i].length);
        put_bytes(&m, "{}", 2);
        assert_int_equal(open_named(&m, "made.safetensors", NULL, &e, &model), bad[i].status);
        assert_string_equal(e.subject, "made.safetensors");
        for (m.n = 7; m.n < 8; m.n--) /* fewer bytes than the length has */
            assert_int_equal(open_named(&m, "made.safetensors", NULL, &e, &model), PLIM_PARSE);
        m.n = 10;
        drop(&m);
    }
}

static void read_as_the_reference_reads(void **state)
{
    (void)state;
    plim_model *m =
        must_open("  {" A "," B ",\"__metadata__\":{\"z\":\"1\",\"b\":\"2\",\"z\":\"3\"}}   ", 8);
    pli_str text;
    assert_string_equal(m->format, "safetensors");
    assert_int_equal(m->tensors_count, 2);
    assert_int_equal(m->tensor_bytes, 8);
    assert_false(PLIM_KNOWN(model, m, parameters));          /* U8 may hold two weights in a byte */
    assert_true(pli_model_str(pli_model_of(m), "z", &text)); /* of two the last */
    assert_true(pli_eq(text, "3"));
    plim_model_free(m);

    m = must_open("{" B "," A "}", 8); /* not in the order of the data */
    assert_string_equal(pli_model_of(m)->tensors[0].name, "b");
    plim_model_free(m);

    m = must_open("{" A "," A ",\"__metadata__\":null}", 4);
    assert_int_equal(m->tensors_count, 1);
    assert_int_equal(m->parameters, 1);
    plim_model_free(m);

    m = must_open(
        "{\"s\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[0,2],\"more\":[{}]},"
        "\"e\":{\"dtype\":\"F16\",\"shape\":[0,7],\"data_offsets\":[2,2]},"
        "\"n\":{\"dtype\":\"BF16\",\"shape\":[1,1,1,1,1,1,1,1,1,3],\"data_offsets\":[2,8]}}",
        8);
    assert_int_equal(m->parameters, 4);
    assert_int_equal(pli_model_tensor(pli_model_of(m), "n")->dims, 10);
    assert_int_equal(pli_model_tensor(pli_model_of(m), "n")->shape[9], 3);
    assert_string_equal(m->quantization, "BF16");
    plim_model_free(m);

    m = must_open("{}", 0);
    assert_int_equal(m->tensors_count, 0);
    plim_model_free(m);
}

/* An unknown field may nest as deep as the reference's reader goes: 127 levels with the two
 * around it. */
static void depth(void **state)
{
    (void)state;
    for (int levels = 125; levels <= 126; levels++) {
        char text[512] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":";
        size_t n = strlen(text);
        for (int i = 0; i < levels; i++)
            text[n++] = '[';
        for (int i = 0; i < levels; i++)
            text[n++] = ']';
        memcpy(text + n, "}}", 3);
        if (levels == 125)
            plim_model_free(must_open(text, 4));
        else
            refused(text, 4, 8 + n - 126 - 1, "nested deeper than 127");
    }
}

static void found_by_content(void **state)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    maker m = {0};
    (void)state;
    put_safetensors(&m, "{" A "}", 4);
    assert_int_equal(open_named(&m, "noname", NULL, &e, &model), PLIM_OK);
    assert_string_equal(model->name, "noname");
    plim_model_free(model);
    assert_int_equal(open_named(&m, "made.gguf", NULL, &e, &model), PLIM_PARSE);
    assert_non_null(strstr(e.what, "not a GGUF file"));
    drop(&m);
    put_bytes(&m, "hello, world of files", 21);
    assert_int_equal(open_named(&m, "noname", NULL, &e, &model), PLIM_PARSE);
    assert_non_null(strstr(e.what, "neither a GGUF nor a safetensors file"));
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),  cmocka_unit_test(places),
        cmocka_unit_test(lengths), cmocka_unit_test(read_as_the_reference_reads),
        cmocka_unit_test(depth),   cmocka_unit_test(found_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
