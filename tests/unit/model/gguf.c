/* GGUF files that are read: versions, byte orders, arrays, types, places of the data. */
#include "unit/test.h"

#include "make.h"

static plim_model *must_open(const maker *m)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    if (open_made(m, &e, &model) != PLIM_OK)
        fail_msg("%s at %llu", e.what, (unsigned long long)e.offset);
    return model;
}

/* A model of every form: two keys, an array of each sort, two tensors. */
static void make_small(maker *m)
{
    put_header(m, 2, 6);
    put_string(m, "general.architecture", "llama");
    put_u32(m, "llama.block_count", 2);
    put_array(m, "llama.attention.head_count_kv", PLI_VALUE_I32, 2);
    put_number(m, 4, 8);
    put_number(m, 4, 4);
    put_array(m, "words", PLI_VALUE_STRING, 2);
    put_text(m, "a");
    put_text(m, "");
    put_key(m, "minus", PLI_VALUE_I16);
    put_number(m, 2, 0xfffe);
    put_key(m, "tenth", PLI_VALUE_F32);
    put_number(m, 4, 0x3dcccccd);
    put_tensor(m, "token_embd.weight", 256, 3, 12, 0); /* Q4_K: 3 rows of 144 bytes */
    put_tensor(m, "b", 5, 0, 0, 448);                  /* 432 padded to 32 */
    put_data(m, 32, 448 + 20);
}

static void check_small(const maker *m, const char *version, bool big)
{
    plim_model *model = must_open(m);
    const pli_model *inner = pli_model_of(model);
    uint64_t n;
    double f;
    assert_string_equal(model->format, "gguf");
    assert_string_equal(model->format_version, version);
    assert_int_equal(PLIM_KNOWN(model, model, byte_order), big);
    assert_string_equal(model->architecture, "llama");
    assert_int_equal(model->layers, 2);
    assert_int_equal(model->parameters, 768 + 5);
    assert_int_equal(model->tensor_bytes, 3 * 144 + 20);
    assert_int_equal(model->tensors_count, 2);
    assert_int_equal(model->file_bytes, m->n);
    assert_true(model->data_present);
    assert_false(PLIM_KNOWN(model, model, missing));
    assert_true(pli_model_layer_u64(inner, "%s.attention.head_count_kv", 1, &n));
    assert_int_equal(n, 4);
    assert_false(pli_model_layer_u64(inner, "%s.attention.head_count_kv", 2, &n));
    assert_false(pli_model_u64(inner, "minus", &n));
    assert_int_equal(pli_model_value(inner, "minus")->as.i, -2);
    assert_true(pli_model_f64(inner, "tenth", &f));
    assert_true(f == (double)0.1f);
    assert_int_equal(pli_model_value(inner, "words")->texts[0].n, 1);
    assert_int_equal(pli_model_tensor(inner, "b")->offset, 448);
    assert_string_equal(pli_model_tensor(inner, "token_embd.weight")->type_name, "Q4_K");
    assert_null(pli_model_tensor(inner, "c"));
    plim_model_free(model);
}

static void versions_and_byte_orders(void **state)
{
    static const char *const texts[] = {"", "1", "2", "3"};
    (void)state;
    for (unsigned version = 1; version <= 3; version++)
        for (int big = 0; big < 2; big++) {
            maker m = {.version = version, .big = big};
            make_small(&m);
            check_small(&m, texts[version], big);
            drop(&m);
        }
}

/* The header is whole, the data is cut or absent: read, and said. */
static void absent_data_is_said(void **state)
{
    maker m = {0};
    make_small(&m);
    size_t whole = m.n;
    (void)state;
    for (size_t cut = 1; cut <= 448 + 20; cut += 97) {
        m.n = whole - cut;
        plim_model *model = must_open(&m);
        assert_false(model->data_present);
        assert_int_equal(model->missing.count, 1);
        assert_non_null(strstr(model->missing.items[0], "tensor data"));
        assert_int_equal(model->tensor_bytes, 3 * 144 + 20);
        plim_model_free(model);
    }
    drop(&m);
}

static void vocabularies_are_skipped_in_place(void **state)
{
    enum { TOKENS = 100000 };
    maker m = {0};
    (void)state;
    put_header(&m, 1, 4);
    put_string(&m, "general.architecture", "x");
    put_array(&m, "tokenizer.ggml.tokens", PLI_VALUE_STRING, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        put_text(&m, i % 1000 ? "token" : "a token of another length");
    put_array(&m, "tokenizer.ggml.scores", PLI_VALUE_F32, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        put_number(&m, 4, 0);
    put_u32(&m, "last", 17);
    put_tensor(&m, "t", 8, 0, 0, 0);
    put_data(&m, 32, 32);
    plim_model *model = must_open(&m);
    const pli_model *inner = pli_model_of(model);
    uint64_t n;
    assert_int_equal(model->vocabulary, TOKENS);
    assert_true(pli_model_u64(inner, "last", &n));
    assert_int_equal(n, 17);
    assert_null(pli_model_value(inner, "tokenizer.ggml.tokens")->texts);
    assert_null(pli_model_value(inner, "tokenizer.ggml.scores")->items);
    assert_true(pli_arena_used(inner->arena) < 16384); /* of a file of 1.8 MB */
    plim_model_free(model);
    drop(&m);
}

/* A string longer than any window, and one longer than what is kept. */
static void long_strings(void **state)
{
    size_t lengths[] = {(128u << 10) - 1, 128u << 10, (128u << 10) + 1, PLI_TEXT_KEPT,
                        PLI_TEXT_KEPT + 1};
    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        maker m = {0};
        put_header(&m, 0, 2);
        put_key(&m, "long", PLI_VALUE_STRING);
        put_count(&m, lengths[i]);
        for (size_t k = 0; k < lengths[i]; k++)
            put_number(&m, 1, 'a' + k % 26);
        put_u32(&m, "next", 5);
        plim_model *model = must_open(&m);
        const pli_value *v = pli_model_value(pli_model_of(model), "long");
        uint64_t n;
        assert_int_equal(v->count, lengths[i]);
        assert_int_equal(v->as.text.p == NULL, lengths[i] > PLI_TEXT_KEPT);
        if (v->as.text.p)
            assert_int_equal(v->as.text.p[lengths[i] - 1], 'a' + (lengths[i] - 1) % 26);
        assert_true(pli_model_u64(pli_model_of(model), "next", &n) && n == 5);
        plim_model_free(model);
        drop(&m);
    }
}

static void unknown_types_are_named(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 4, 0);
    put_tensor(&m, "known", 32, 0, 0, 0);       /* F32: 128 bytes */
    put_tensor(&m, "strange", 32, 4, 999, 128); /* of unknown size */
    put_tensor(&m, "after", 32, 0, 1, 4096);    /* so its place is not judged */
    put_tensor(&m, "private", 256, 2, 144, 4160);
    put_data(&m, 32, 4160 + 2 * 140);
    plim_model *model = must_open(&m);
    const pli_model *inner = pli_model_of(model);
    assert_string_equal(pli_model_tensor(inner, "strange")->type_name, "TYPE_999");
    assert_false(pli_model_tensor(inner, "strange")->bytes_known);
    assert_false(PLIM_KNOWN(model, model, tensor_bytes));
    assert_false(PLIM_KNOWN(model, model, quantization));
    assert_int_equal(model->parameters, 32 + 128 + 32 + 512);
    assert_int_equal(pli_model_tensor(inner, "private")->bytes,
                     2 * (4 + 136)); /* a row's scale in front */
    assert_string_equal(model->missing.items[0],
                        "the size of tensors of type TYPE_999 (number 999)");
    assert_string_equal(model->missing.items[1],
                        "an engine that reads type 144 (IQ4_KS): ik_llama.cpp");
    plim_model_free(model);
    drop(&m);
}

/* Writers that split files pad the later parts by more than they say; empty tensors take no
 * room. */
static void padding_is_forgiven(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 4, 0);
    put_tensor(&m, "a", 5, 0, 0, 0);
    put_tensor(&m, "b", 5, 0, 0, 128);
    put_tensor(&m, "empty", 0, 0, 0, 160);
    put_tensor(&m, "c", 5, 0, 0, 160);
    put_data(&m, 32, 180);
    plim_model *model = must_open(&m);
    assert_int_equal(model->tensor_bytes, 60);
    assert_true(model->data_present);
    plim_model_free(model);
    drop(&m);
}

static void alignment_is_the_files(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 2, 1);
    put_u32(&m, "general.alignment", 8);
    put_tensor(&m, "a", 3, 0, 0, 0);
    put_tensor(&m, "b", 3, 0, 0, 16);
    put_data(&m, 8, 28);
    plim_model *model = must_open(&m);
    assert_true(model->data_present);
    plim_model_free(model);
    m.n--;
    model = must_open(&m);
    assert_false(model->data_present);
    plim_model_free(model);
    drop(&m);
}

static void nested_arrays_are_passed(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 2);
    put_array(&m, "nested", PLI_VALUE_ARRAY, 2);
    put_number(&m, 4, PLI_VALUE_U8);
    put_count(&m, 3);
    put_bytes(&m, "abc", 3);
    put_number(&m, 4, PLI_VALUE_STRING);
    put_count(&m, 1);
    put_text(&m, "d");
    put_u32(&m, "next", 5);
    plim_model *model = must_open(&m);
    uint64_t n;
    assert_true(pli_model_u64(pli_model_of(model), "next", &n) && n == 5);
    plim_model_free(model);
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_byte_orders),
        cmocka_unit_test(absent_data_is_said),
        cmocka_unit_test(vocabularies_are_skipped_in_place),
        cmocka_unit_test(long_strings),
        cmocka_unit_test(unknown_types_are_named),
        cmocka_unit_test(padding_is_forgiven),
        cmocka_unit_test(alignment_is_the_files),
        cmocka_unit_test(nested_arrays_are_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
