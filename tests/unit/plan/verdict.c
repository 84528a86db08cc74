/* The verdict's rule, and what must hold whatever the model: sums, monotony, the same answer
 * twice. */
#include "models.h"

static int rank(const plim_fit *fit)
{
    return strcmp(fit->verdict, "passed") == 0 ? 0 : strcmp(fit->verdict, "warning") == 0 ? 1 : 2;
}

static void test_lines(void **state)
{
    static const struct {
        const char *on, *verdict;
        bool loads;
    } rows[] = {
        /* an 8B in f16 at 8,192 tokens needs 16.1 GiB on its device, with 320 MiB for the driver */
        {"cuda:80GiB", "passed", true},  {"cuda:24GiB", "passed", true},
        {"cuda:21GiB", "warning", true}, {"cuda:18GiB", "failed", true},
        {"cuda:12GiB", "failed", false}, {"cpu:24GiB", "warning", true},
        {"cpu:16GiB", "failed", false},  {"cpu", "passed", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_fit_options o = fit_options(8192, 1);
        plim_fit *fit = fit_on(&llama3_8b, rows[i].on, &o);
        if (strcmp(fit->verdict, rows[i].verdict) != 0)
            print_error("%s: %f\n", rows[i].on, fit->utilization);
        assert_string_equal(fit->verdict, rows[i].verdict);
        assert_int_equal(fit->loads, rows[i].loads);
        plim_fit_free(fit);
    }
}

/* A device that does not tell its memory: nobody knows. */
static void test_unknown(void **state)
{
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda", &o);
    assert_string_equal(fit->verdict, "unknown");
    assert_false(PLIM_KNOWN(fit, fit, utilization));
    assert_true(PLIM_KNOWN(fit, fit, missing));
    assert_true(place(fit, 0)->weights_bytes > 0);
    plim_fit_free(fit);
}

/* Without -c a model trained for more must reach 16,384 tokens in each conversation. */
static void test_short(void **state)
{
    plim_fit_options o = fit_options(0, 16);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:1TiB", &o);
    assert_string_equal(fit->verdict, "failed"); /* 131072 / 16 = 8192 */
    assert_true(fit->utilization < 0.1);
    plim_fit_free(fit);
    o.context = 131072; /* asked for: judged as it is */
    fit = fit_on(&llama3_8b, "cuda:1TiB", &o);
    assert_string_equal(fit->verdict, "passed");
    plim_fit_free(fit);
}

static void check_sums(const plim_fit *fit)
{
    plim_fit_memory sum = {.weights_bytes = 0};
    for (size_t i = 0; i < fit->placement.count; i++) {
        const plim_placement *p = place(fit, i);
        assert_int_equal(p->used_bytes, p->weights_bytes + p->kv_cache_bytes +
                                            p->recurrent_state_bytes + p->compute_bytes +
                                            p->output_bytes + p->overhead_bytes);
        sum.weights_bytes += p->weights_bytes;
        sum.kv_cache_bytes += p->kv_cache_bytes;
        sum.compute_bytes += p->compute_bytes;
        sum.total_bytes += p->used_bytes;
    }
    assert_int_equal(sum.weights_bytes, fit->memory->weights_bytes);
    assert_int_equal(sum.kv_cache_bytes, fit->memory->kv_cache_bytes);
    assert_int_equal(sum.compute_bytes, fit->memory->compute_bytes);
    assert_int_equal(sum.total_bytes, fit->memory->total_bytes);
}

static void test_more_memory_is_never_worse(void **state)
{
    int last = 2;
    uint64_t longest = 0;
    (void)state;
    for (unsigned gib = 8; gib <= 64; gib += 2) {
        char on[32];
        plim_fit_options o = fit_options(0, 1);
        (void)snprintf(on, sizeof on, "cuda:%uGiB", gib);
        plim_fit *fit = fit_on(&llama3_8b, on, &o);
        check_sums(fit);
        assert_true(rank(fit) <= last);
        assert_true(fit->max_context >= longest);
        last = rank(fit);
        longest = fit->max_context;
        plim_fit_free(fit);
    }
    assert_int_equal(last, 0);
    assert_int_equal(longest, llama3_8b.trained);
}

/* The context that is recommended stays under the line, and the next step does not. */
static void test_max_context(void **state)
{
    plim_fit_options o = fit_options(0, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:24GiB", &o);
    uint64_t most = fit->max_context;
    assert_string_equal(fit->verdict, "failed");
    assert_in_range(most, 16384, 65536);
    assert_int_equal(fit->recommended_context, most * 4 / 5);
    plim_fit_free(fit);
    o.context = most;
    fit = fit_on(&llama3_8b, "cuda:24GiB", &o);
    assert_true(fit->utilization <= 0.85);
    plim_fit_free(fit);
    o.context = most + 256;
    fit = fit_on(&llama3_8b, "cuda:24GiB", &o);
    assert_true(fit->utilization > 0.85);
    plim_fit_free(fit);
}

/* The first device's share grows, so do its layers; nothing is lost between the two. */
static void test_split(void **state)
{
    uint64_t last = 0;
    (void)state;
    for (unsigned share = 1; share < 10; share++) {
        const double split[] = {share, 10 - share};
        plim_fit_options o = fit_options(4096, 1);
        o.tensor_split = split;
        o.tensor_split_count = 2;
        plim_fit *fit = fit_on(&llama3_8b, "cuda:64GiB*2", &o);
        check_sums(fit);
        assert_true(place(fit, 0)->layers >= last);
        assert_int_equal(place(fit, 0)->layers + place(fit, 1)->layers, 32);
        last = place(fit, 0)->layers;
        plim_fit_free(fit);
    }
    assert_true(last >= 29);
}

/* With -sm none the engine opens the main device alone: it works as if it were the only one, also
 * for what is lent to it. (llama-fit-params 0.5.0, llama3-8b of ../shared/truth, 8,192 tokens,
 * -ngl 20: 135,792,640 B of compute on GPU1 with -mg 1, and on GPU0 without.) */
static void test_main_gpu(void **state)
{
    (void)state;
    for (int layers = -1; layers < 34; layers += 7) {
        plim_fit_options o = fit_options(8192, 1);
        o.gpu_layers = layers;
        plim_fit *one = fit_on(&llama3_8b, "cuda:24GiB,cpu:64GiB", &o);
        o.split_mode = "none";
        o.main_gpu = 1;
        plim_fit *main = fit_on(&llama3_8b, "cuda:12GiB,cuda:24GiB,cpu:64GiB", &o);
        assert_int_equal(main->placement.count, 2);
        assert_string_equal(place(main, 0)->device, "cuda1");
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(place(main, i)->used_bytes, place(one, i)->used_bytes);
            assert_int_equal(place(main, i)->compute_bytes, place(one, i)->compute_bytes);
        }
        plim_fit_free(one);
        plim_fit_free(main);
    }
}

/* Layers, experts and caches go where the flags say. */
static void test_flags(void **state)
{
    const char *const overrides[] = {"ffn_(up|gate|down)=CPU", NULL};
    plim_fit_options o = fit_options(4096, 1);
    (void)state;
    o.gpu_layers = 5;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:64GiB,cpu:64GiB", &o);
    assert_int_equal(place(fit, 0)->layers, 4); /* and the output */
    assert_int_equal(place(fit, 1)->layers, 28);
    assert_int_equal(place(fit, 0)->kv_cache_bytes * 7, place(fit, 1)->kv_cache_bytes);
    plim_fit_free(fit);
    o = fit_options(4096, 1);
    o.no_kv_offload = true;
    o.overrides = overrides;
    fit = fit_on(&llama3_8b, "cuda:64GiB,cpu:64GiB", &o);
    assert_int_equal(place(fit, 0)->kv_cache_bytes, 0);
    assert_int_equal(place(fit, 1)->weights_bytes,
                     UINT64_C(2) * (4096 * 128256 + UINT64_C(32) * 3 * 4096 * 14336));
    check_sums(fit);
    plim_fit_free(fit);
}

/* Every memory's terms are a tree: the parts of each sum up to it, and the roots to the document's
 * own figures. */
static void check_tree(const plim_fit *fit)
{
    uint64_t roots = 0;
    for (size_t i = 0; i < fit->explain.count; i++) {
        const plim_term *t = fit->explain.items[i];
        uint64_t sum = 0, parts = 0;
        assert_int_equal(t->id, i);
        assert_int_equal(PLIM_KNOWN(term, t, parent), t->depth > 0);
        for (size_t k = 0; k < fit->explain.count; k++) {
            const plim_term *part = fit->explain.items[k];
            if (!PLIM_KNOWN(term, part, parent) || part->parent != i)
                continue;
            assert_int_equal(part->depth, t->depth + 1);
            assert_string_equal(part->device, t->device);
            sum += part->bytes;
            parts++;
        }
        if (parts)
            assert_int_equal(sum, t->bytes);
        if (strcmp(t->term, "in all") == 0)
            roots += t->bytes;
    }
    assert_int_equal(roots, fit->memory->total_bytes);
}

static void test_tree(void **state)
{
    static const char *const machines[] = {"cuda:24GiB*2,cpu:64GiB", "metal:64GiB", "cpu:64GiB",
                                           "rocm:24GiB,cuda:8GiB,cpu:64GiB"};
    (void)state;
    for (size_t i = 0; i < COUNT(machines); i++)
        for (int layers = -1; layers < 34; layers += 11) {
            plim_fit_options o = fit_options(8192, 2);
            o.gpu_layers = layers;
            plim_fit *fit = fit_on(&llama3_8b, machines[i], &o);
            check_tree(fit);
            plim_fit_free(fit);
        }
}

/* A device without memory of its own is counted in RAM. */
static void test_shared_memory(void **state)
{
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "metal:24GiB", &o);
    const plim_placement *metal = place(fit, 0), *host = place(fit, 1);
    assert_int_equal(metal->budget_bytes, UINT64_C(23) << 30);
    double both = (double)(metal->used_bytes + host->used_bytes) / (double)host->budget_bytes;
    assert_true(host->utilization > both - 1e-9 && host->utilization < both + 1e-9);
    assert_true(fit->utilization == host->utilization);
    plim_fit_free(fit);
}

static void test_alternatives(void **state)
{
    plim_fit_options o = fit_options(131072, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:32GiB,cpu:64GiB", &o);
    assert_string_equal(fit->verdict, "failed");
    assert_true(fit->alternatives.count >= 3);
    int last = 0;
    for (size_t i = 0; i < fit->alternatives.count; i++) {
        const plim_alternative *a = fit->alternatives.items[i];
        assert_true(a->utilization <= 0.85);
        assert_true((strcmp(a->verdict, "warning") == 0) >= last);
        last = strcmp(a->verdict, "warning") == 0;
    }
    plim_fit_free(fit);
}

static void test_same_bytes(void **state)
{
    plim_fit_options o = fit_options(0, 1);
    char *one, *two;
    size_t n, m;
    (void)state;
    plim_fit *a = fit_on(&llama3_8b, "cuda:24GiB*2", &o),
             *b = fit_on(&llama3_8b, "cuda:24GiB*2", &o);
    assert_int_equal(plim_fit_to_json(a, 0, &one, &n), PLIM_OK);
    assert_int_equal(plim_fit_to_json(b, 0, &two, &m), PLIM_OK);
    assert_int_equal(n, m);
    assert_memory_equal(one, two, n);
    plim_text_free(one);
    plim_text_free(two);
    plim_fit_free(a);
    plim_fit_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_short),        cmocka_unit_test(test_more_memory_is_never_worse),
        cmocka_unit_test(test_max_context),  cmocka_unit_test(test_split),
        cmocka_unit_test(test_flags),        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_alternatives), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_tree),         cmocka_unit_test(test_main_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
