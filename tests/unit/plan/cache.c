/* Keys, values and state against published figures (facts/fit.md, section d, names who published
 * them). */
#include "models.h"

/* Bytes a token, f16. */
static const struct {
    const char *name;
    sketch model;
    uint64_t bytes;
} tokens[] = {
    {"Llama-2-7B", {.arch = "llama", .layers = 32, .embedding = 4096, .heads = 32}, 524288},
    {"Llama-3-8B",
     {.arch = "llama", .layers = 32, .embedding = 4096, .heads = 32, .heads_kv = 8},
     131072},
    {"Llama-3-70B",
     {.arch = "llama", .layers = 80, .embedding = 8192, .heads = 64, .heads_kv = 8},
     327680},
    {"Qwen2.5-7B",
     {.arch = "qwen2", .layers = 28, .embedding = 3584, .heads = 28, .heads_kv = 4},
     57344},
    {"Qwen3-8B",
     {.arch = "qwen3", .layers = 36, .embedding = 4096, .heads = 32, .heads_kv = 8, .head = 128},
     147456},
    {"Qwen3-32B",
     {.arch = "qwen3", .layers = 64, .embedding = 5120, .heads = 64, .heads_kv = 8, .head = 128},
     262144},
    {"Qwen3-30B-A3B",
     {.arch = "qwen3moe", .layers = 48, .embedding = 2048, .heads = 32, .heads_kv = 4, .head = 128},
     98304},
    {"Mistral-Small-24B",
     {.arch = "llama", .layers = 40, .embedding = 5120, .heads = 32, .heads_kv = 8, .head = 128},
     163840},
    {"MiniMax-M2",
     {.arch = "minimax-m2",
      .layers = 62,
      .embedding = 3072,
      .heads = 48,
      .heads_kv = 8,
      .head = 128},
     253952},
    {"DeepSeek-V3",
     {.arch = "deepseek2",
      .layers = 61,
      .embedding = 7168,
      .heads = 128,
      .heads_kv = 1,
      .more = {{"attention.key_length", 576},
               {"attention.value_length", 512},
               {"attention.key_length_mla", 192},
               {"attention.value_length_mla", 128}}},
     70272},
    {"Qwen3.6-27B",
     {.arch = "qwen35",
      .layers = 64,
      .embedding = 5120,
      .heads = 24,
      .heads_kv = 4,
      .head = 256,
      .more = {{"full_attention_interval", 4}}},
     65536},
};

static void test_bytes_per_token(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tokens); i++) {
        sketch s = tokens[i].model;
        s.vocabulary = 32;
        plim_fit_options o = fit_options(4096, 1);
        plim_fit *fit = fit_on(&s, "cuda:1TiB", &o);
        if (fit->memory->kv_cache_bytes != tokens[i].bytes * 4096)
            print_error("%s\n", tokens[i].name);
        assert_int_equal(fit->memory->kv_cache_bytes, tokens[i].bytes * 4096);
        assert_int_equal(place(fit, 0)->kv_cache_bytes, tokens[i].bytes * 4096);
        plim_fit_free(fit);
    }
}

/* gemma-3-270m at 1,024 tokens: three slots pad to 512 each, four to 256 (unsloth PR #7530). */
static void test_slots(void **state)
{
    static const sketch gemma = {.arch = "gemma3",
                                 .layers = 18,
                                 .embedding = 640,
                                 .heads = 4,
                                 .heads_kv = 1,
                                 .head = 256,
                                 .vocabulary = 32,
                                 .more = {{"attention.sliding_window", 512}}};
    static const struct {
        uint64_t slots, context, kib;
    } rows[] = {{3, 1536, 27 * 1024}, {4, 1024, 18 * 1024}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_fit_options o = fit_options(1024, rows[i].slots);
        plim_fit *fit = fit_on(&gemma, "cuda:8GiB", &o);
        assert_int_equal(fit->settings->context, rows[i].context);
        assert_int_equal(fit->memory->kv_cache_bytes, rows[i].kib * 1024);
        plim_fit_free(fit);
    }
}

/* Of eight layers with a period of four six slide: 1,024 + 512 tokens instead of all. */
static void test_window(void **state)
{
    static const sketch s = {.arch = "cohere2",
                             .layers = 8,
                             .embedding = 1024,
                             .heads = 8,
                             .heads_kv = 2,
                             .head = 128,
                             .vocabulary = 32,
                             .more = {{"attention.sliding_window", 1024}}};
    const uint64_t row = 2 * 2 * 128 * 2;
    (void)state;
    plim_fit_options o = fit_options(16384, 1);
    plim_fit *fit = fit_on(&s, "cuda:8GiB", &o);
    assert_int_equal(fit->memory->kv_cache_bytes, row * (2 * 16384 + 6 * 1536));
    plim_fit_free(fit);
    o.swa_full = true;
    fit = fit_on(&s, "cuda:8GiB", &o);
    assert_int_equal(fit->memory->kv_cache_bytes, row * 8 * 16384);
    plim_fit_free(fit);
    /* One cache for four conversations keeps a window for each. */
    o = fit_options(16384, 4);
    o.kv_unified = PLIM_ON;
    fit = fit_on(&s, "cuda:8GiB", &o);
    assert_int_equal(fit->memory->kv_cache_bytes, row * (2 * 16384 + 6 * (4 * 1024 + 512)));
    plim_fit_free(fit);
}

/* Mamba-2.8B: 23.75 MiB a sequence, whatever the context. */
static void test_state(void **state)
{
    static const sketch mamba = {.arch = "mamba",
                                 .layers = 64,
                                 .embedding = 2560,
                                 .vocabulary = 32,
                                 .more = {{"ssm.conv_kernel", 4},
                                          {"ssm.inner_size", 5120},
                                          {"ssm.state_size", 16},
                                          {"ssm.time_step_rank", 160}}};
    (void)state;
    for (uint64_t slots = 1; slots <= 2; slots++) {
        plim_fit_options o = fit_options(4096, slots);
        plim_fit *fit = fit_on(&mamba, "cuda:8GiB", &o);
        assert_int_equal(fit->memory->recurrent_state_bytes, slots * (23 * 1024 + 768) * 1024);
        assert_int_equal(fit->memory->kv_cache_bytes, 0);
        plim_fit_free(fit);
    }
}

/* q8_0 keeps 34 bytes for 32 elements. On CUDA rows of 1,024 elements need no padding; of 288
 * they are padded to 512, once a tensor. */
static void test_types(void **state)
{
    static const sketch narrow = {.arch = "llama",
                                  .layers = 2,
                                  .embedding = 288,
                                  .heads = 9,
                                  .heads_kv = 9,
                                  .vocabulary = 32};
    (void)state;
    plim_fit_options o = fit_options(4096, 1);
    o.kv_type_k = o.kv_type_v = "q8_0";
    plim_fit *fit = fit_on(&llama3_8b, "cuda:64GiB", &o);
    assert_int_equal(fit->memory->kv_cache_bytes, UINT64_C(4096) * 131072 / 2 * 34 / 32);
    plim_fit_free(fit);
    fit = fit_on(&narrow, "cuda:8GiB", &o);
    uint64_t tensor = 4096 * 288 / 32 * 34, padded = (tensor + 224 / 32 * 34 + 127) / 128 * 128;
    assert_int_equal(fit->memory->kv_cache_bytes, 4 * padded);
    plim_fit_free(fit);
    fit = fit_on(&narrow, "cpu", &o);
    assert_int_equal(fit->memory->kv_cache_bytes, 4 * tensor);
    plim_fit_free(fit);
}

/* Buffers of an 8B at 512 tokens a batch, as llama.cpp b7847 allocates them on one GPU: the
 * figure falls in between. */
static void test_compute(void **state)
{
    static const struct {
        uint64_t context, kib;
    } rows[] = {{4096, 264704}, {16384, 313856 + 16}, {32768, 264704}, {131072, 425984 + 24}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_fit_options o = fit_options(rows[i].context, 1);
        plim_fit *fit = fit_on(&llama3_8b, "cuda:64GiB", &o);
        assert_string_equal(place(fit, 0)->compute_kind, "exact");
        /* published to a tenth of a MiB */
        assert_in_range(place(fit, 0)->compute_bytes, (rows[i].kib - 64) << 10,
                        (rows[i].kib + 64) << 10);
        plim_fit_free(fit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_per_token), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_window),          cmocka_unit_test(test_state),
        cmocka_unit_test(test_types),           cmocka_unit_test(test_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
