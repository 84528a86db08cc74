/* The inverses: what is found stays under the line when it is judged by itself, and the next step
 * does not. */
#include "models.h"

typedef struct question {
    const sketch *model;
    const char *on;
    plim_fit_options options;
} question;

static double load_with(const question *q, const plim_fit_options *o)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_status status;
    plim_fit *fit = fit_status(q->model, q->on, o, &status, &e);
    double u = fit ? fit->utilization : 99;
    plim_fit_free(fit);
    return u;
}

/* 0: none stays under the line, then not even one step does. */
static void check_edge(const question *q, const char *what, uint64_t found, uint64_t step,
                       uint64_t most, void set(plim_fit_options *, uint64_t))
{
    plim_fit_options o = q->options;
    set(&o, found ? found : step);
    double at = load_with(q, &o);
    if ((at <= 0.85) != (found > 0))
        print_error("%s %s: %s %llu: %f\n", q->model->arch, q->on, what, (unsigned long long)found,
                    at);
    assert_int_equal(at <= 0.85, found > 0);
    if (!found || found >= most)
        return;
    o = q->options;
    set(&o, found + step);
    at = load_with(q, &o);
    if (at <= 0.85)
        print_error("%s %s: %s %llu is not the most\n", q->model->arch, q->on, what,
                    (unsigned long long)found);
    assert_true(at > 0.85);
}

static void set_context(plim_fit_options *o, uint64_t n)
{
    o->context = n;
}

static void set_sequences(plim_fit_options *o, uint64_t n)
{
    o->sequences = n;
}

static void set_full_sequences(plim_fit_options *o, uint64_t n)
{
    o->context = o->context * n;
    o->sequences = n;
}

static void set_layers(plim_fit_options *o, uint64_t n)
{
    o->gpu_layers = (int64_t)n;
}

static void set_batch(plim_fit_options *o, uint64_t n)
{
    o->batch = n;
}

static void set_ubatch(plim_fit_options *o, uint64_t n)
{
    o->ubatch = n;
    o->batch = n > 2048 ? n : 2048;
}

static void test_edges(void **state)
{
    static const struct {
        const char *on;
        uint64_t context;
        int64_t layers;
    } rows[] = {{"cuda:24GiB,cpu:64GiB", 8192, -1},
                {"cuda:21GiB,cpu:64GiB", 8192, -1},
                {"cuda:12GiB,cpu:64GiB", 8192, -1},
                {"cuda:12GiB*2,cpu:64GiB", 4096, -1},
                {"cuda:8GiB,cpu:64GiB", 4096, 10},
                {"metal:32GiB", 8192, -1},
                {"cpu:32GiB", 32768, -1},
                {"cuda:80GiB,cpu:64GiB", 8192, -1},
                {"rocm:20GiB,cuda:8GiB,cpu:64GiB", 8192, -1}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        question q = {&llama3_8b, rows[i].on, fit_options(rows[i].context, 1)};
        q.options.gpu_layers = rows[i].layers;
        q.options.kv_unified = PLIM_ON;
        plim_fit *fit = fit_on(q.model, q.on, &q.options);
        const plim_fit_limits *l = fit->limits;
        assert_true(PLIM_KNOWN(fit, fit, limits));
        assert_int_equal(l->context, fit->max_context);
        check_edge(&q, "context", l->context, 256, 131072, set_context);
        check_edge(&q, "sequences", l->sequences, 1, 256, set_sequences);
        check_edge(&q, "full sequences", l->full_sequences, 1, 256, set_full_sequences);
        check_edge(&q, "batch", l->batch, 64, rows[i].context, set_batch);
        check_edge(&q, "ubatch", l->ubatch, 64, rows[i].context, set_ubatch);
        if (PLIM_KNOWN(fit_limits, l, gpu_layers))
            check_edge(&q, "layers", l->gpu_layers, 1, 33, set_layers);
        plim_fit_free(fit);
    }
}

/* The most precise cache that stays under the line; the one before does not. */
static void test_cache_type(void **state)
{
    static const char *const types[] = {"f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"};
    (void)state;
    for (unsigned gib = 20; gib <= 40; gib += 2) {
        char on[32];
        (void)snprintf(on, sizeof on, "cuda:%uGiB", gib);
        question q = {&llama3_8b, on, fit_options(131072, 1)};
        plim_fit *fit = fit_on(q.model, q.on, &q.options);
        const char *best =
            PLIM_KNOWN(fit_limits, fit->limits, kv_type) ? fit->limits->kv_type : NULL;
        size_t i = 0;
        for (; i < COUNT(types); i++) {
            plim_fit_options o = q.options;
            o.kv_type_k = o.kv_type_v = types[i];
            if (load_with(&q, &o) <= 0.85)
                break;
        }
        if (i == COUNT(types))
            assert_null(best);
        else
            assert_string_equal(best, types[i]);
        plim_fit_free(fit);
    }
}

/* An alternative is what it says: judged by its own flags, the same. */
static void test_alternatives(void **state)
{
    plim_fit_options o = fit_options(32768, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:24GiB,cuda:8GiB,cpu:64GiB", &o);
    bool layers = false;
    for (size_t i = 0; i < fit->alternatives.count; i++) {
        const plim_alternative *a = fit->alternatives.items[i];
        question q = {&llama3_8b, "cuda:24GiB,cuda:8GiB,cpu:64GiB", o};
        unsigned long n;
        assert_non_null(strstr(a->command, "llama-server -m "));
        if (sscanf(a->change, "-ngl %lu", &n) != 1)
            continue;
        layers = true;
        q.options.gpu_layers = (int64_t)n;
        assert_true(load_with(&q, &q.options) == a->utilization);
    }
    assert_true(layers || strcmp(fit->verdict, "failed") != 0);
    plim_fit_free(fit);
}

/* -ts by whole layers: the fullest device is emptier than by free memory, and a layer more to
 * either side makes one fuller. Returns whether there was such a change. */
static bool check_balance(const char *on)
{
    plim_fit_options o = fit_options(16384, 1);
    question q = {&llama3_8b, on, o};
    bool found = false;
    plim_fit *fit = fit_on(&llama3_8b, on, &o);
    for (size_t i = 0; i < fit->alternatives.count; i++) {
        const plim_alternative *a = fit->alternatives.items[i];
        unsigned first, second;
        if (sscanf(a->change, "-ts %u,%u", &first, &second) != 2)
            continue;
        found = true;
        assert_int_equal(first + second, 33);
        assert_true(a->utilization < fit->utilization);
        for (double move = -1; move <= 1; move++) {
            const double shares[] = {first + move, second - move};
            o.tensor_split = shares;
            o.tensor_split_count = 2;
            double u = load_with(&q, &o);
            assert_true(move == 0 ? u == a->utilization : u > a->utilization);
        }
    }
    plim_fit_free(fit);
    return found;
}

static void test_balance(void **state)
{
    unsigned found = 0;
    (void)state;
    for (unsigned sum = 22; sum <= 26; sum++)
        for (unsigned gib = 4; gib + 4 < sum; gib += 3) {
            char on[64];
            (void)snprintf(on, sizeof on, "cuda:%uGiB,cuda:%uGiB,cpu:64GiB", sum - gib, gib);
            found += check_balance(on);
        }
    assert_true(found > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_cache_type),
        cmocka_unit_test(test_alternatives),
        cmocka_unit_test(test_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
