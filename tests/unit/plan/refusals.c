/* Flags that the engine refuses, headers that lie, and memory that runs out. */
#include "models.h"

static void refuses(const sketch *s, const plim_fit_options *o, plim_status wanted,
                    const char *flag)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_status status;
    plim_fit *fit = fit_status(s, "cuda:64GiB*2", o, &status, &e);
    if (status != wanted)
        print_error("%s\n", flag);
    assert_int_equal(status, wanted);
    assert_null(fit);
    if (flag)
        assert_string_equal(e.subject, flag);
    assert_true(e.what[0] != '\0');
}

static void test_flags(void **state)
{
    static const double negative[] = {1, -1};
    static const char *const no_equals[] = {"exps", NULL},
                             *const no_buffer[] = {"exps=CUDA7", NULL},
                             *const no_regex[] = {"(exps=CPU", NULL};
    static const sketch odd = {
        .arch = "stablelm", .layers = 2, .embedding = 2560, .heads = 32, .vocabulary = 32};
    (void)state;
#define REFUSES(model, flag, member, value)                                                        \
    do {                                                                                           \
        plim_fit_options o = fit_options(4096, 1);                                                 \
        o.member = value;                                                                          \
        refuses(model, &o, PLIM_INVALID, flag);                                                    \
    } while (0)
    REFUSES(&llama3_8b, "-ctk", kv_type_k, "q3_K");
    REFUSES(&llama3_8b, "-ctv", kv_type_v, "Q8_0 ");
    REFUSES(&odd, "-ctk", kv_type_k, "q8_0"); /* heads of 80 */
    REFUSES(&llama3_8b, "-sm", split_mode, "rows");
    REFUSES(&llama3_8b, "-mg", main_gpu, 2);
    REFUSES(&llama3_8b, "-np", sequences, 257);
    REFUSES(&llama3_8b, "-c", context, UINT64_MAX);
    REFUSES(&llama3_8b, "-c", context, UINT64_C(1) << 33);
    REFUSES(&llama3_8b, "-ot", overrides, no_equals);
    REFUSES(&llama3_8b, "-ot", overrides, no_buffer);
    REFUSES(&llama3_8b, "-ot", overrides, no_regex);
    REFUSES(&llama3_8b, "--engine", engine, "ollama");
    REFUSES(&llama3_8b, "--engine", engine, "llama.cpp@b100");
    REFUSES(&llama3_8b, "--line", line_warning, 1.5);
#undef REFUSES
    plim_fit_options o = fit_options(4096, 1);
    o.kv_type_v = "q8_0";
    o.flash_attention = PLIM_OFF;
    refuses(&llama3_8b, &o, PLIM_INVALID, "-ctv");
    o = fit_options(4096, 1);
    o.tensor_split = negative;
    o.tensor_split_count = 2;
    refuses(&llama3_8b, &o, PLIM_INVALID, "-ts");
}

/* Products that leave 64 bits are an error, not a small model. */
static void test_headers(void **state)
{
    static const sketch heads = {.arch = "llama",
                                 .layers = 100000,
                                 .embedding = 4096,
                                 .heads = 4000000000u,
                                 .heads_kv = 4000000000u,
                                 .head = 4000000000u,
                                 .vocabulary = 32};
    static const sketch layers = {
        .arch = "llama", .layers = 4000000000u, .embedding = 4096, .heads = 32, .vocabulary = 32};
    static const sketch state_size = {.arch = "mamba2",
                                      .layers = 64,
                                      .embedding = 2560,
                                      .vocabulary = 32,
                                      .more = {{"ssm.conv_kernel", 4000000000u},
                                               {"ssm.inner_size", 4000000000u},
                                               {"ssm.state_size", 4000000000u},
                                               {"ssm.group_count", 4000000000u}}};
    plim_fit_options o = fit_options(131072, 1);
    (void)state;
    refuses(&heads, &o, PLIM_LIMIT, NULL);
    refuses(&layers, &o, PLIM_LIMIT, NULL);
    refuses(&state_size, &o, PLIM_LIMIT, NULL);
}

/* Whatever the figures, there is an answer or an error, and no crash. */
static void test_odd_headers(void **state)
{
    static const uint32_t values[] = {0, 1, 7, 255, 65536, 4000000000u};
    (void)state;
    for (size_t i = 0; i < 6 * 6 * 6; i++) {
        static const char *const archs[] = {"llama", "gemma3",  "qwen3moe",
                                            "jamba", "glm4moe", "gpt-oss"};
        sketch s = llama3_8b;
        s.arch = archs[i % 6];
        s.layers = 3;
        s.heads = values[i % 6];
        s.heads_kv = values[i / 6 % 6];
        s.tensors = false;
        s.more[0].key = "expert_count";
        s.more[0].value = values[i / 36];
        s.more[1].key = "expert_used_count";
        s.more[1].value = values[i / 6 % 6];
        s.more[2].key = "attention.sliding_window";
        s.more[2].value = values[i % 6];
        s.more[3].key = "expert_feed_forward_length";
        s.more[3].value = values[i / 36];
        plim_fit_options o = fit_options(i % 2 ? 4096 : 0, 1 + i % 3);
        plim_error e = PLIM_ERROR_INIT;
        plim_status status;
        plim_fit_free(fit_status(&s, "cuda:8GiB*2", &o, &status, &e));
        assert_true(status == PLIM_OK || status == PLIM_LIMIT || status == PLIM_INVALID);
    }
}

/* An architecture that nobody knows is an estimate, and says so. */
static void test_unknown_architecture(void **state)
{
    sketch s = llama3_8b;
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    s.arch = "novel";
    s.tensors = false;
    plim_fit *fit = fit_on(&s, "cuda:64GiB", &o);
    assert_true(PLIM_KNOWN(fit, fit, missing));
    assert_string_equal(place(fit, 0)->compute_kind, "estimate");
    plim_fit_free(fit);
}

struct counter {
    size_t calls, fail_at, held;
};

static void *count(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct counter *c = user;
    if (new_size && ++c->calls == c->fail_at)
        return NULL;
    c->held += new_size;
    c->held -= old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

/* The nth allocation fails: an error, nothing leaks, nothing crashes. */
static void test_memory(void **state)
{
    static const char *const overrides[] = {"blk\\.[0-3]\\.ffn=CPU", NULL};
    plim_model *model = sketch_open(&llama3_8b);
    (void)state;
    for (size_t n = 1;; n++) {
        struct counter c = {0, n, 0};
        plim_config config = PLIM_CONFIG_INIT;
        plimsoll *context = NULL;
        plim_machine *machine = NULL;
        plim_fit *fit = NULL;
        plim_error e = PLIM_ERROR_INIT;
        plim_fit_options o = fit_options(0, 1);
        o.overrides = overrides;
        config.allocator = (plim_allocator){count, &c};
        plim_status status = plim_open(&config, &context);
        if (!status)
            status = plim_machine_from_spec(context, "2x RTX 4090, cpu:64GiB", &e, &machine);
        if (!status)
            status = plim_fit_model(context, machine, model, &o, &e, &fit);
        assert_true(status == PLIM_OK || status == PLIM_NOMEM);
        assert_true((fit != NULL) == (status == PLIM_OK));
        plim_fit_free(fit);
        plim_machine_free(machine);
        plim_close(context);
        assert_int_equal(c.held, 0);
        if (c.calls < n)
            break;
    }
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags),       cmocka_unit_test(test_headers),
        cmocka_unit_test(test_odd_headers), cmocka_unit_test(test_unknown_architecture),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
