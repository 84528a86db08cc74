/* What the record and its JSON tell of a model. */
#include "unit/test.h"

#include <stdio.h>
#include <yyjson.h>

#include "make.h"

static plim_model *must_open(maker *m)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    if (open_named(m, "/models/Made-1B.gguf", NULL, &e, &model) != PLIM_OK)
        fail_msg("%s at %llu", e.what, (unsigned long long)e.offset);
    drop(m);
    return model;
}

/* Mixture of experts: 2 layers, 8 experts of which a token uses 2. */
static void experts(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 4, 8);
    put_string(&m, "general.architecture", "qwen3moe");
    put_u32(&m, "general.file_type", 15);
    put_u32(&m, "qwen3moe.block_count", 2);
    put_u32(&m, "qwen3moe.expert_count", 8);
    put_u32(&m, "qwen3moe.expert_used_count", 2);
    put_u32(&m, "qwen3moe.embedding_length", 64);
    put_u32(&m, "qwen3moe.attention.head_count", 4);
    put_u32(&m, "qwen3moe.attention.key_length", 32);
    put_tensor(&m, "token_embd.weight", 64, 100, 0, 0);
    size_t at = 64 * 100 * 4;
    for (int layer = 0; layer < 2; layer++, at += 64 * 8 * 4) {
        put_text(&m, layer ? "blk.1.ffn_up_exps.weight" : "blk.0.ffn_up_exps.weight");
        put_number(&m, 4, 2);
        put_count(&m, 64);
        put_count(&m, 8);
        put_number(&m, 4, 0);
        put_number(&m, 8, at);
    }
    put_tensor(&m, "blk.0.ffn_gate_inp.weight", 64, 8, 0, at);
    plim_model *model = must_open(&m);
    assert_int_equal(model->parameters, 6400 + 2 * 512 + 512);
    assert_int_equal(model->active_parameters, 6400 + 2 * 128 + 512);
    assert_string_equal(model->quantization, "Q4_K_M"); /* the file's word */
    assert_string_equal(model->name, "Made-1B");
    assert_int_equal(model->vocabulary, 100);
    assert_int_equal(model->heads_count, 4);
    assert_int_equal(model->heads_kv, 4); /* without the key every head has its own */
    assert_int_equal(model->heads_key_length, 32);
    assert_int_equal(model->heads_value_length, 16); /* 64 / 4 */
    assert_false(PLIM_KNOWN(model, model, context_trained));
    assert_false(model->data_present);
    plim_model_free(model);
}

/* What is not known exactly is left out: experts of an unknown form, heads that differ. */
static void silence(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 1, 5);
    put_string(&m, "general.architecture", "x");
    put_u32(&m, "x.block_count", 2);
    put_u32(&m, "x.expert_count", 8);
    put_u32(&m, "x.expert_used_count", 2);
    put_array(&m, "x.attention.head_count_kv", PLI_VALUE_U32, 2);
    put_number(&m, 4, 8);
    put_number(&m, 4, 0);
    put_tensor(&m, "blk.0.ffn_up_exps.weight", 64, 7, 0, 0);
    plim_model *model = must_open(&m);
    assert_int_equal(model->parameters, 448);
    assert_false(PLIM_KNOWN(model, model, active_parameters));
    assert_false(PLIM_KNOWN(model, model, heads_count));
    assert_false(PLIM_KNOWN(model, model, heads_kv));
    assert_int_equal(model->heads_kv_by_layer.count, 2);
    assert_int_equal(model->heads_kv_by_layer.items[1], 0);
    plim_model_free(model);

    put_header(&m, 0, 1); /* a scalar of the wrong type */
    put_string(&m, "general.architecture", "x");
    model = must_open(&m);
    assert_false(PLIM_KNOWN(model, model, layers));
    assert_false(PLIM_KNOWN(model, model, parameters));
    plim_model_free(model);
}

static uint64_t kind(const plim_model *model, const char *name)
{
    for (size_t i = 0; i < model->layers_by_kind.count; i++)
        if (strcmp(model->layers_by_kind.items[i].name, name) == 0)
            return model->layers_by_kind.items[i].value;
    return 0;
}

/* Published: Gemma 3 4B has five global layers of 34; Nemotron Nano 9B v2 has layers of three
 * kinds. */
static void layers_by_kind(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 3);
    put_string(&m, "general.architecture", "gemma3");
    put_u32(&m, "gemma3.block_count", 34);
    put_u32(&m, "gemma3.attention.sliding_window", 1024);
    plim_model *model = must_open(&m);
    assert_int_equal(kind(model, "full_attention"), 5);
    assert_int_equal(kind(model, "sliding_attention"), 29);
    assert_int_equal(model->layers_by_kind.count, 2);
    plim_model_free(model);

    put_header(&m, 0, 4);
    put_string(&m, "general.architecture", "nemotron_h");
    put_u32(&m, "nemotron_h.block_count", 4);
    put_array(&m, "nemotron_h.attention.head_count_kv", PLI_VALUE_U32, 4);
    for (int i = 0; i < 4; i++)
        put_number(&m, 4, i == 3 ? 8 : 0);
    put_array(&m, "nemotron_h.feed_forward_length", PLI_VALUE_U32, 4);
    for (int i = 0; i < 4; i++)
        put_number(&m, 4, i == 1 ? 15680 : 0);
    model = must_open(&m);
    assert_int_equal(kind(model, "recurrent"), 2);
    assert_int_equal(kind(model, "feed_forward"), 1);
    assert_int_equal(kind(model, "full_attention"), 1);
    plim_model_free(model);
}

static void kinds_that_are_not_sure(void **state)
{
    static const struct {
        const char *arch, *key;
    } unsure[] = {
        {"never-seen", "x"},                   /* no row */
        {"gemma3", "x"},                       /* how far it slides is the file's to say */
        {"jamba", "x"},                        /* heads by layer are */
        {"mimo2", "attention.sliding_window"}, /* which layers slide */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(unsure); i++) {
        char key[64];
        maker m = {0};
        put_header(&m, 0, 3);
        put_string(&m, "general.architecture", unsure[i].arch);
        (void)snprintf(key, sizeof key, "%s.block_count", unsure[i].arch);
        put_u32(&m, key, 4);
        (void)snprintf(key, sizeof key, "%s.%s", unsure[i].arch, unsure[i].key);
        put_u32(&m, key, 1);
        plim_model *model = must_open(&m);
        assert_int_equal(model->layers, 4);
        assert_false(PLIM_KNOWN(model, model, layers_by_kind));
        plim_model_free(model);
    }
}

static void put_flags(maker *m, const char *key, const char *bits)
{
    put_array(m, key, PLI_VALUE_BOOL, strlen(bits));
    for (; *bits; bits++)
        put_number(m, 1, *bits == '1');
}

/* Published: GLM-5.2 has 78 sparse layers and one that predicts, GLM-4.5-Air 46 and one; Qwen3.5
 * 27B attends in every fourth layer, Llama 4 in chunks but for every fourth; DeepSeek-V3 caches
 * latent rows. */
static void layers_of_later_kinds(void **state)
{
    static const struct {
        const char *arch, *key, *kind, *other;
        uint32_t layers, value, count, others;
    } rows[] = {
        {"glm-dsa", "nextn_predict_layers", "prediction", "sparse_attention", 79, 1, 1, 78},
        {"glm4moe", "nextn_predict_layers", "prediction", "full_attention", 47, 1, 1, 46},
        {"qwen35", "full_attention_interval", "full_attention", "recurrent", 64, 4, 16, 48},
        {"llama4", "expert_count", "chunked_attention", "full_attention", 48, 16, 36, 12},
        {"deepseek2", "attention.kv_lora_rank", "latent_attention", "x", 61, 512, 61, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char key[64];
        maker m = {0};
        put_header(&m, 0, 4);
        put_string(&m, "general.architecture", rows[i].arch);
        (void)snprintf(key, sizeof key, "%s.block_count", rows[i].arch);
        put_u32(&m, key, rows[i].layers);
        (void)snprintf(key, sizeof key, "%s.%s", rows[i].arch, rows[i].key);
        put_u32(&m, key, rows[i].value);
        (void)snprintf(key, sizeof key, "%s.attention.indexer.top_k", rows[i].arch);
        put_u32(&m, key, 2048);
        plim_model *model = must_open(&m);
        assert_int_equal(kind(model, rows[i].kind), rows[i].count);
        assert_int_equal(kind(model, rows[i].other), rows[i].others);
        plim_model_free(model);
    }
    maker m = {0};
    put_header(&m, 0, 5);
    put_string(&m, "general.architecture", "gemma4");
    put_u32(&m, "gemma4.block_count", 10);
    put_u32(&m, "gemma4.attention.sliding_window", 512);
    put_u32(&m, "gemma4.attention.shared_kv_layers", 4);
    put_flags(&m, "gemma4.attention.sliding_window_pattern", "1111011110");
    plim_model *model = must_open(&m);
    assert_int_equal(kind(model, "sliding_attention"), 5);
    assert_int_equal(kind(model, "full_attention"), 1);
    assert_int_equal(kind(model, "shared_kv"), 4);
    plim_model_free(model);
}

/* The file's context is what the stretching made of it: Qwen2.5 at 128K says both. */
static void stretched(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 0, 5);
    put_string(&m, "general.architecture", "qwen2");
    put_u32(&m, "qwen2.context_length", 131072);
    put_string(&m, "qwen2.rope.scaling.type", "yarn");
    put_key(&m, "qwen2.rope.scaling.factor", PLI_VALUE_F32);
    put_number(&m, 4, 0x40800000); /* 4 */
    put_u32(&m, "qwen2.rope.scaling.original_context_length", 32768);
    plim_model *model = must_open(&m);
    assert_int_equal(model->context_trained, 131072);
    assert_int_equal(model->rope_scaling_original, 32768);
    assert_string_equal(model->rope_scaling_type, "yarn");
    assert_true(model->rope_scaling_factor == 4);
    plim_model_free(model);
}

/* What predicts further tokens is a parameter, and no part of what a token uses. */
static void parameters_that_predict(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 3, 5);
    put_string(&m, "general.architecture", "glm4moe");
    put_u32(&m, "glm4moe.block_count", 2);
    put_u32(&m, "glm4moe.nextn_predict_layers", 1);
    put_u32(&m, "glm4moe.expert_count", 8);
    put_u32(&m, "glm4moe.expert_used_count", 2);
    put_tensor(&m, "token_embd.weight", 64, 100, 0, 0);
    put_tensor(&m, "blk.0.ffn_up_exps.weight", 64, 8, 0, 64 * 100 * 4);
    put_tensor(&m, "blk.1.ffn_up_exps.weight", 64, 8, 0, 64 * 108 * 4);
    plim_model *model = must_open(&m);
    assert_int_equal(model->parameters, 6400 + 512 + 512);
    assert_int_equal(model->active_parameters, 6400 + 128);
    plim_model_free(model);
}

static yyjson_doc *document(const plim_model *model, unsigned flags)
{
    char *text;
    size_t n;
    assert_int_equal(plim_model_to_json(model, flags, &text, &n), PLIM_OK);
    yyjson_doc *doc = yyjson_read(text, n, 0);
    assert_non_null(doc);
    plim_text_free(text);
    return doc;
}

static void json(void **state)
{
    maker m = {0};
    (void)state;
    put_header(&m, 1, 9);
    put_key(&m, "u64", PLI_VALUE_U64);
    put_number(&m, 8, UINT64_MAX);
    put_key(&m, "i64", PLI_VALUE_I64);
    put_number(&m, 8, UINT64_C(1) << 63);
    put_key(&m, "f32", PLI_VALUE_F32);
    put_number(&m, 4, 0x3dcccccd); /* 0.1f */
    put_key(&m, "inf", PLI_VALUE_F32);
    put_number(&m, 4, 0xff800000);
    put_key(&m, "nan", PLI_VALUE_F64);
    put_number(&m, 8, UINT64_C(0x7ff8) << 48);
    put_key(&m, "yes", PLI_VALUE_BOOL);
    put_number(&m, 1, 1);
    put_string(&m, "bad\xff utf8", "a\x80z\xed\xa0\x80\x1b");
    put_array(&m, "long", PLI_VALUE_U8, PLI_VALUE_KEPT + 1);
    put_data(&m, 1, PLI_VALUE_KEPT + 1);
    put_array(&m, "short", PLI_VALUE_I8, 2);
    put_number(&m, 2, 0x80ff);
    put_tensor(&m, "weird\x1b[31m", 32, 2, 8, 0);
    plim_model *model = must_open(&m);
    yyjson_doc *doc = document(model, PLIM_MODEL_TENSORS | PLIM_MODEL_METADATA);
    yyjson_val *root = yyjson_doc_get_root(doc), *meta = yyjson_obj_get(root, "metadata");
    assert_true(yyjson_get_uint(yyjson_obj_get(meta, "u64")) == UINT64_MAX);
    assert_true(yyjson_get_sint(yyjson_obj_get(meta, "i64")) == INT64_MIN);
    assert_true(yyjson_get_real(yyjson_obj_get(meta, "f32")) == 0.1);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(meta, "inf")), "-inf");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(meta, "nan")), "nan");
    assert_true(yyjson_get_bool(yyjson_obj_get(meta, "yes")));
    assert_string_equal(yyjson_get_str(yyjson_obj_get(meta, "bad\xef\xbf\xbd utf8")),
                        "a\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x1b");
    yyjson_val *item = yyjson_obj_get(meta, "long");
    assert_int_equal(yyjson_get_uint(yyjson_obj_get(item, "count")), PLI_VALUE_KEPT + 1);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "type")), "u8");
    item = yyjson_obj_get(meta, "short");
    assert_int_equal(yyjson_get_sint(yyjson_arr_get(item, 0)), -1);
    assert_int_equal(yyjson_get_sint(yyjson_arr_get(item, 1)), -128);
    item = yyjson_arr_get_first(yyjson_obj_get(root, "tensors"));
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "name")), "weird?[31m");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(item, "type")), "Q8_0");
    assert_int_equal(yyjson_get_uint(yyjson_obj_get(item, "bytes")), 68);
    assert_int_equal(yyjson_get_uint(yyjson_arr_get(yyjson_obj_get(item, "shape"), 0)), 32);
    yyjson_doc_free(doc);

    doc = document(model, PLIM_JSON_PRETTY);
    root = yyjson_doc_get_root(doc);
    assert_int_equal(yyjson_get_uint(yyjson_obj_get(root, "tensors")), 1);
    assert_null(yyjson_obj_get(root, "metadata"));
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "schema")), "plimsoll.model/1");
    yyjson_doc_free(doc);
    plim_model_free(model);
}

static void text(void **state)
{
    static const struct {
        const char *key, *value;
    } want[] = {{"a", "-5"},
                {"b", "0.1"},
                {"c", "true"},
                {"d", "[1, 2]"},
                {"e", "5000 u8"},
                {"f", "[x, y?]"},
                {"g", "escape ?["},
                {"h", "aaaaaaaaaaaa..."},
                {"i", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9..."}};
    maker m = {0};
    char key[8], value[16];
    size_t i;
    (void)state;
    put_header(&m, 0, COUNT(want));
    put_key(&m, "a", PLI_VALUE_I8);
    put_number(&m, 1, 0xfb);
    put_key(&m, "b", PLI_VALUE_F32);
    put_number(&m, 4, 0x3dcccccd);
    put_key(&m, "c", PLI_VALUE_BOOL);
    put_number(&m, 1, 1);
    put_array(&m, "d", PLI_VALUE_U8, 2);
    put_bytes(&m, "\1\2", 2);
    put_array(&m, "e", PLI_VALUE_U8, 5000);
    put_data(&m, 1, 5000);
    put_array(&m, "f", PLI_VALUE_STRING, 2);
    put_text(&m, "x");
    put_text(&m, "y\n");
    put_string(&m, "g", "escape \x1b[");
    put_string(&m, "h", "aaaaaaaaaaaaaaaa");
    put_string(&m, "i", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
    plim_model *model = must_open(&m);
    for (i = 0; plim_model_metadata_text(model, i, key, sizeof key, value, sizeof value); i++) {
        assert_string_equal(key, want[i].key);
        assert_string_equal(value, want[i].value);
    }
    assert_int_equal(i, COUNT(want));
    plim_model_free(model);
}

static void arguments(void **state)
{
    plim_model *model;
    plimsoll *context;
    (void)state;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    assert_int_equal(plim_model_open(context, NULL, NULL, &model), PLIM_INVALID);
    assert_int_equal(plim_model_open(NULL, "x", NULL, &model), PLIM_INVALID);
    assert_int_equal(plim_model_open(context, "x", NULL, NULL), PLIM_INVALID);
    assert_int_equal(plim_model_open(context, "/nonexistent", NULL, &model), PLIM_NOT_FOUND);
    assert_null(model);
    assert_int_equal(plim_model_open_reader(context, &(plim_reader){0}, NULL, &model),
                     PLIM_INVALID);
    plim_model_free(NULL);
    plim_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts),
        cmocka_unit_test(layers_by_kind),
        cmocka_unit_test(kinds_that_are_not_sure),
        cmocka_unit_test(layers_of_later_kinds),
        cmocka_unit_test(stretched),
        cmocka_unit_test(parameters_that_predict),
        cmocka_unit_test(silence),
        cmocka_unit_test(json),
        cmocka_unit_test(text),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
