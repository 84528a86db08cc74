/* The table of tensor types against what others say of them. */
#include "unit/test.h"

#include <stdio.h>
#include <string.h>
#include <yyjson.h>

#include "model/model.h"

/* Bytes of rows worked out from the published bits per weight (and, for ik_llama.cpp's, the scale
 * in front of each row). */
static void rows(void **state)
{
    static const struct {
        const char *name;
        uint64_t elements, bytes;
    } want[] = {
        {"F32", 3, 12},          {"bf16", 3, 6},        {"q4_0", 4096, 4096 * 9 / 16},
        {"Q8_0", 64, 68},        {"Q8_1", 32, 36},      {"Q2_K", 256, 84},
        {"Q6_K", 512, 420},      {"IQ1_S", 256, 50},    {"MXFP4", 32, 17},
        {"IQ4_KS", 1024, 548},   {"IQ2_KS", 256, 72},   {"IQ4_KSS", 256, 132},
        {"IQ2_KT", 256, 72},     {"IQ6_K", 256, 212},   {"Q4_0_R8", 32, 18},
        {"IQ4_KS_R4", 256, 140}, {"F8_E4M3", 5, 5},     {"F4", 6, 3},
        {"F6_E2M3", 8, 6},       {"Q8_KV", 64, 64 + 8},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(want); i++) {
        const pli_quant *q = pli_quant_by_name(pli_s(want[i].name));
        uint64_t bytes = 0;
        assert_non_null(q);
        assert_true(pli_quant_row_bytes(q, want[i].elements, &bytes));
        assert_int_equal(bytes, want[i].bytes);
        assert_ptr_equal(pli_quant_at(pli_quant_index(q)), q);
    }
}

static void what_has_no_size(void **state)
{
    uint64_t bytes;
    (void)state;
    const pli_quant *q = pli_quant_by_name(pli_s("Q4_K"));
    assert_false(pli_quant_row_bytes(q, 255, &bytes));
    assert_false(pli_quant_row_bytes(pli_quant_by_name(pli_s("F64")), UINT64_MAX / 4, &bytes));
    assert_false(pli_quant_row_bytes(pli_quant_of_ggml(36), 256, &bytes)); /* I2_S */
    assert_null(pli_quant_of_ggml(43));
    assert_null(pli_quant_of_ggml(UINT32_MAX)); /* the number of those that have none */
    assert_null(pli_quant_by_name(pli_s("Q4")));
    assert_null(pli_quant_by_name(pli_s("")));
    assert_null(pli_quant_by_name(pli_s("UNKNOWN")));
    assert_string_equal(pli_quant_at(pli_quant_index(NULL))->name, "UNKNOWN");
    assert_null(pli_quant_at(pli_quant_index(NULL) + 1));
}

static void numbers_stand_once(void **state)
{
    const pli_quant *q;
    (void)state;
    for (uint32_t i = 0; (q = pli_quant_at(i)) != NULL; i++)
        if (q->ggml_id != UINT32_MAX)
            assert_ptr_equal(pli_quant_of_ggml(q->ggml_id), q);
}

/* The table of the gguf package, whose Q8_1 alone is wrong (40 bytes; the C struct has 36). */
static void as_the_gguf_package(void **state)
{
    size_t i, max;
    yyjson_val *name, *type;
    (void)state;
    yyjson_doc *doc =
        yyjson_read_file(SOURCE_DIR "/../shared/truth/formats/gguf_types.json", 0, NULL, NULL);
    if (!doc) {
        (void)printf("skipped: no ../shared/truth/formats/gguf_types.json\n");
        skip();
    }
    yyjson_val *types = yyjson_obj_get(yyjson_doc_get_root(doc), "types");
    assert_true(yyjson_obj_size(types) > 30);
    yyjson_obj_foreach(types, i, max, name, type)
    {
        const pli_quant *q = pli_quant_by_name(pli_s(yyjson_get_str(name)));
        assert_non_null(q);
        assert_int_equal(q->ggml_id, yyjson_get_uint(yyjson_obj_get(type, "id")));
        assert_int_equal(q->block_elements, yyjson_get_uint(yyjson_obj_get(type, "block")));
        if (!yyjson_equals_str(name, "Q8_1"))
            assert_int_equal(q->block_bytes, yyjson_get_uint(yyjson_obj_get(type, "bytes")));
    }
    yyjson_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(what_has_no_size),
        cmocka_unit_test(numbers_stand_once),
        cmocka_unit_test(as_the_gguf_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
