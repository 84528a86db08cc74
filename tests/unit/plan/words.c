/* The small languages: patterns of -ot, specifications of --on, engines' versions, the command
 * line that comes out. */
#include "models.h"

#include "plan/pattern.h"
#include "plan/setup.h"

static bool found(const char *pattern, const char *name)
{
    const char *why = NULL;
    pli_pattern *p = NULL;
    pli_arena *arena = pli_arena_new(NULL, 1 << 20);
    plim_status status = pli_pattern_new(arena, pli_s(pattern), &why, &p);
    if (status != PLIM_OK)
        print_error("%s: %s\n", pattern, why);
    assert_int_equal(status, PLIM_OK);
    bool yes = pli_pattern_found(p, name);
    pli_arena_free(arena);
    return yes;
}

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool found;
    } rows[] = {
        {"exps", "blk.0.ffn_up_exps.weight", true},
        {"^exps", "blk.0.ffn_up_exps.weight", false},
        {"\\.ffn_(up|down|gate)_(ch|)exps", "blk.7.ffn_gate_exps.weight", true},
        {"\\.ffn_(up|down|gate)_(ch|)exps", "blk.7.ffn_gate_chexps.weight", true},
        {"\\.ffn_(?:up|down)_exps", "blk.7.ffn_gate_exps.weight", false},
        {"blk\\.(1[0-9]|2[0-4])\\.ffn", "blk.14.ffn_up.weight", true},
        {"blk\\.(1[0-9]|2[0-4])\\.ffn", "blk.25.ffn_up.weight", false},
        {"blk\\.\\d+\\.attn", "blk.25.attn_q.weight", true},
        {"blk\\.\\d{3}\\.attn", "blk.25.attn_q.weight", false},
        {"blk[.]\\w+[\\.]attn", "blk.25.attn_q.weight", true},
        {"[\\w]+_[^\\d\\s]weight", "attn_qweight", true},
        {"attn_q.*?weight$", "blk.25.attn_q.weight", true},
        {"\\S\\D", "12", false},
        {"[\\]^-]", "a-b", true},
        {".", "", false},
        {"(^|x)token_embd", "token_embd.weight", true},
        {"\\bembd\\b", "token.embd.weight", true},
        {"\\bembd\\b", "token_embd.weight", false},
        {"token\\Bs", "tokens", true},
        {"^(ab?c){2,3}$", "abcacabc", true},
        {"^(ab?c){2,3}$", "abcacabcac", false},
        {"^(ab?c){2}$", "abc", false},
        {"^a{0,2}$", "aa", true},
        {"^a{0,2}$", "aaa", false},
        {"^a{0}b$", "b", true},
        {"^a{2,}$", "a", false},
        {"^a{2,}$", "aaaaa", true},
        {"^(a|b|cd)*e$", "abcdcdbe", true},
        {"^(a|b|cd)+?e$", "e", false},
        {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
        {"^[a-cx-]+$", "ab-xc", true},
        {"", "anything", true},
    };
    static const char *const refused[] = {"(?=x)", "(?!x)", "(a)\\1",  "[a",
                                          "\\",    "(",     "a{2,1}",  "*a",
                                          "a{1",   "a)",    "a{9999}", "((a{1000}){1000}){1000}",
                                          "[b-a]", "[\\b]"};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (found(rows[i].pattern, rows[i].name) != rows[i].found)
            print_error("%s\n", rows[i].pattern);
        assert_int_equal(found(rows[i].pattern, rows[i].name), rows[i].found);
    }
    for (size_t i = 0; i < COUNT(refused); i++) {
        const char *why = NULL;
        pli_pattern *p;
        pli_arena *arena = pli_arena_new(NULL, 1 << 20);
        if (pli_pattern_new(arena, pli_s(refused[i]), &why, &p) != PLIM_INVALID)
            print_error("%s\n", refused[i]);
        assert_int_equal(pli_pattern_new(arena, pli_s(refused[i]), &why, &p), PLIM_INVALID);
        assert_non_null(why);
        pli_arena_free(arena);
    }
}

static plim_machine *machine_of(const char *spec)
{
    plim_machine *m = NULL;
    plim_error e = PLIM_ERROR_INIT;
    plim_status status = plim_machine_from_spec(NULL, spec, &e, &m);
    if (status != PLIM_OK)
        print_error("%s: %s\n", spec, e.what);
    assert_int_equal(status, PLIM_OK);
    return m;
}

static void test_specifications(void **state)
{
    (void)state;
    plim_machine *m = machine_of("cuda:24576MiB, cuda:12GiB*2 ,cpu:22.5GiB");
    assert_int_equal(m->devices.count, 3);
    const plim_device *first = m->devices.items[0], *last = m->devices.items[2];
    assert_int_equal(first->memory_free_bytes, UINT64_C(24) << 30);
    assert_int_equal(last->memory_total_bytes, UINT64_C(12) << 30);
    assert_string_equal(last->family, "cuda");
    assert_int_equal(last->index, 2);
    assert_int_equal(m->memory->usable_bytes, (UINT64_C(45) << 30) / 2);
    plim_machine_free(m);

    m = machine_of("8x NVIDIA H100 SXM");
    assert_int_equal(m->devices.count, 8);
    first = m->devices.items[7];
    assert_string_equal(first->name, "H100 SXM");
    assert_string_equal(first->compute_capability, "9.0");
    assert_false(PLIM_KNOWN(memory, m->memory, usable_bytes)); /* without limit */
    plim_machine_free(m);

    m = machine_of("M4 Max 64GB");
    first = m->devices.items[0];
    assert_string_equal(first->family, "metal");
    assert_true(first->integrated);
    assert_int_equal(first->memory_total_bytes, UINT64_C(64) << 30);
    assert_int_equal(m->memory->total_bytes, UINT64_C(64) << 30);
    plim_machine_free(m);

    m = machine_of("geforce rtx-4060 ti 16gb");
    assert_int_equal(m->devices.count, 1);
    plim_machine_free(m);
}

/* Chips as people write them: names and how many, then the bytes of each as the driver reports. */
static void test_chips(void **state)
{
    static const struct {
        const char *spec, *first;
        size_t count;
        uint64_t mib;
    } rows[] = {
        {"2 x RTX 4090", "RTX 4090", 2, 24564},
        {"rtx4090 x2", "RTX 4090", 2, 24564},
        {"RTX 4090 *2", "RTX 4090", 2, 24564},
        {"4090", "RTX 4090", 1, 24564},
        {"RTX 4090 24GB", "RTX 4090", 1, 24564},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop", 1, 16376},
        {"RTX 4090 + RTX 3090", "RTX 4090", 2, 24564},
        {"RTX 4090, 2x RTX 3090 + 64GB RAM", "RTX 4090", 3, 24564},
        {"8x H100", "H100 SXM", 8, 81559},
        {"NVIDIA H100 80GB HBM3", "H100 SXM", 1, 81559},
        {"NVIDIA A100-SXM4-80GB", "A100 80GB", 1, 81920},
        {"A100 40GB", "A100 40GB", 1, 40960},
        {"Tesla V100-SXM2-32GB", "V100 32GB", 1, 32768},
        {"AMD Instinct MI300X", "MI300X", 1, 196592},
        {"Radeon RX 7900 XTX", "RX 7900 XTX", 1, 24560},
        {"Strix Halo 128GB", "Ryzen AI Max+ 395", 1, 131072},
        {"AMD Ryzen AI Max+ 395 128GB", "Ryzen AI Max+ 395", 1, 131072},
        {"DGX Spark", "GB10", 1, 122880},
        {"DGX Spark 128GB", "GB10", 1, 122880},
        {"Mac Studio M3 Ultra 512GB", "M3 Ultra", 1, 524288},
        {"B580", "Arc B580", 1, 12288},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_machine *m = machine_of(rows[i].spec);
        const plim_device *d = m->devices.items[0];
        if (strcmp(d->name, rows[i].first) != 0)
            print_error("%s\n", rows[i].spec);
        assert_string_equal(d->name, rows[i].first);
        assert_int_equal(m->devices.count, rows[i].count);
        assert_int_equal(d->memory_total_bytes, rows[i].mib << 20);
        plim_machine_free(m);
    }
    plim_machine *m = machine_of("RTX 4090, 2x RTX 3090 + 64GB RAM");
    assert_int_equal(m->memory->total_bytes, UINT64_C(64) << 30);
    assert_string_equal(((const plim_device *)m->devices.items[2])->name, "RTX 3090");
    plim_machine_free(m);
}

/* An unknown chip is answered with names that are near. */
static void test_near_chips(void **state)
{
    static const char *const rows[][2] = {
        {"RTX 4900", "RTX 4090"}, {"RTX 5070 Tii", "RTX 5070 Ti"}, {"2x H10 SXM", "H100 SXM"},
        {"M4 Mx 64GB", "M4 Max"}, {"RX 7900 XTZ", "RX 7900 XTX"},  {"Gaudi3x", "Gaudi 3"},
        {"MI300", "MI300X"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_machine *m = NULL;
        plim_error e = PLIM_ERROR_INIT;
        assert_int_equal(plim_machine_from_spec(NULL, rows[i][0], &e, &m), PLIM_PARSE);
        if (!strstr(e.what, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], e.what);
    }
}

static void test_bad_specifications(void **state)
{
    static const struct {
        const char *spec;
        uint64_t offset;
    } rows[] = {
        {"", 0},
        {"cuda:24Gi!", 5},
        {"cuda:24GiB*0", 0},
        {"cuda:24GiB,,cpu", 11},
        {"tpux:1GiB", 0},
        {"cpu:1GiB,cpu", 9},
        {"cuda:0GiB", 5},
        {"cuda:24GiB*x", 11},
        {"2x RTX 9999", 3},
        {"M4 Max", 0},
        {"cuda:1GiB*5000", 0},
        {"cuda:-1GiB", 5},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_machine *m = NULL;
        plim_error e = PLIM_ERROR_INIT;
        assert_int_equal(plim_machine_from_spec(NULL, rows[i].spec, &e, &m), PLIM_PARSE);
        assert_null(m);
        if (e.offset != rows[i].offset)
            print_error("%s\n", rows[i].spec);
        assert_int_equal(e.offset, rows[i].offset);
    }
}

static void test_engines(void **state)
{
    static const struct {
        const char *engine, *generation;
    } rows[] = {
        {NULL, "0.7.0"},
        {"llama.cpp", "0.7.0"},
        {"llama.cpp@b7847", "b7847"},
        {"llama.cpp@b7847-nout", "b7847-nout"},
        {"llama.cpp@8000", "b7847"},
        {"llama.cpp@b7100", "b7000"},
        {"llama.cpp@b99999", "0.7.0"},
        {"llama.cpp@0.7.0", "0.7.0"},
        {"llama.cpp@0.7.0-fit", "0.7.0-fit"},
        {"llama.cpp@0.1.2", "b9400"},
        {"llama.cpp@0.6", "0.5.0"},
        {"llama.cpp@1.0.0", "0.7.0"},
        {"llama.cpp@b5399", "b3000"},
        {"llama.cpp@b2999", NULL},
        {"ik_llama.cpp", "ik_llama.cpp"},
        {"llama.cpp@ik_llama.cpp", NULL},
        {"llama.cpp@", NULL},
        {"vllm", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pli_generation *g = pli_generation_find(rows[i].engine);
        if (!rows[i].generation) {
            assert_null(g);
            continue;
        }
        assert_non_null(g);
        assert_string_equal(g->name, rows[i].generation);
    }
}

static void test_command(void **state)
{
    const char *const overrides[] = {"blk\\.0=CPU", NULL};
    const double split[] = {3, 1};
    plim_fit_options o = fit_options(8192, 2);
    (void)state;
    o.kv_type_k = o.kv_type_v = "q8_0";
    o.tensor_split = split;
    o.tensor_split_count = 2;
    o.overrides = overrides;
    o.flash_attention = PLIM_ON;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:64GiB*2", &o);
    assert_string_equal(
        fit->command, "llama-server -m made.gguf -c 8192 -np 2 -ngl 33 -ts 3,1 -ctk q8_0 -ctv q8_0 "
                      "-fa on -ot 'blk\\.0=CPU'");
    plim_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_specifications),
        cmocka_unit_test(test_chips),
        cmocka_unit_test(test_near_chips),
        cmocka_unit_test(test_bad_specifications),
        cmocka_unit_test(test_engines),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
