/* What a machine can run: every answer against the judge of single models, and the laws of the
 * order. */
#include "unit/test.h"

#include <stdio.h>
#include <string.h>

#include <plimsoll/plan.h>

#include "model/catalogue.h"

static plimsoll *context;

static int open_context(void **state)
{
    (void)state;
    return plim_open(NULL, &context);
}

static int close_context(void **state)
{
    (void)state;
    plim_close(context);
    return 0;
}

static plim_models *rank_on(const char *spec, const char *name, uint64_t tokens)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    plim_machine *machine;
    plim_models *models;
    with.context = tokens;
    assert_int_equal(plim_machine_from_spec(context, spec, &error, &machine), PLIM_OK);
    assert_int_equal(plim_models_rank(context, machine, &with, name, &error, &models), PLIM_OK);
    plim_machine_free(machine);
    return models;
}

static const plim_ranked_model *at(const plim_models *models, size_t i)
{
    assert_true(i < models->models.count);
    return models->models.items[i];
}

static const plim_ranked_model *find(const plim_models *models, const char *name)
{
    for (size_t i = 0; i < models->models.count; i++)
        if (strcmp(at(models, i)->name, name) == 0)
            return at(models, i);
    return NULL;
}

/* The verdict that `plimsoll fit` gives for a line of the table, with its flags. */
static plim_fit *fit_of(const char *spec, const plim_ranked_model *m, const char *quantization)
{
    static const char *const experts[] = {"\\.ffn_(up|down|gate)_(ch|)exps=CPU", NULL};
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    plim_machine *machine;
    plim_model *model;
    plim_fit *fit;
    char name[128];
    long long layers;
    (void)snprintf(name, sizeof name, "%s:%s", m->name, quantization);
    with.context = m->context;
    if (PLIM_KNOWN(ranked_model, m, flags) && strcmp(m->flags, "--cpu-moe") == 0)
        with.overrides = experts;
    else if (PLIM_KNOWN(ranked_model, m, flags) && sscanf(m->flags, "-ngl %lld", &layers) == 1)
        with.gpu_layers = layers;
    assert_int_equal(plim_model_from_catalogue(context, name, &error, &model), PLIM_OK);
    assert_int_equal(plim_machine_from_spec(context, spec, &error, &machine), PLIM_OK);
    assert_int_equal(plim_fit_model(context, machine, model, &with, &error, &fit), PLIM_OK);
    plim_machine_free(machine);
    plim_model_free(model);
    return fit;
}

static void as_fit_says(void **state)
{
    static const char *const specs[] = {"cuda:12GiB,cpu:64GiB", "cpu:16GiB", "M4 Max 64GB"};
    (void)state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        plim_models *models = rank_on(specs[s], NULL, 0);
        assert_true(models->models.count > 20);
        for (size_t i = 0; i < models->models.count; i += 7) {
            const plim_ranked_model *m = at(models, i);
            plim_fit *fit = fit_of(specs[s], m, m->quantization);
            if (strcmp(fit->verdict, m->verdict) != 0 || fit->max_context != m->max_context)
                fail_msg("%s on %s: %s, %s by itself", m->name, specs[s], m->verdict, fit->verdict);
            assert_true(fit->utilization == m->utilization);
            plim_fit_free(fit);
        }
        plim_models_free(models);
    }
}

/* In the next better quantization it does not pass, placed the same way. */
static void no_better_one(void **state)
{
    static const char spec[] = "cuda:24GiB,cpu:64GiB";
    plim_models *models = rank_on(spec, NULL, 0);
    (void)state;
    for (size_t i = 0; i < models->models.count; i += 5) {
        const plim_ranked_model *m = at(models, i);
        const pli_mixture *unused, *mixture, *before = NULL;
        const pli_known_model *known = pli_known_model_find(pli_s(m->name), &unused);
        if (strcmp(m->verdict, "passed") != 0 || strcmp(m->placement, "accelerators") != 0)
            continue;
        for (size_t k = 0; (mixture = pli_known_model_mixture(known, k)) != NULL &&
                           strcmp(mixture->name, m->quantization) != 0;
             k++)
            before = mixture;
        assert_non_null(mixture);
        if (!before)
            continue;
        plim_fit *fit = fit_of(spec, m, before->name);
        if (strcmp(fit->verdict, "passed") == 0)
            fail_msg("%s passes in %s, not only in %s", m->name, before->name, m->quantization);
        plim_fit_free(fit);
    }
    plim_models_free(models);
}

static void order(void **state)
{
    plim_models *models = rank_on("cuda:24GiB,cpu:32GiB", NULL, 0),
                *small = rank_on("cpu:4GiB", NULL, 0);
    (void)state;
    assert_true(models->models.count > small->models.count);
    assert_int_equal(models->models.count + models->left_out,
                     small->models.count + small->left_out);
    assert_string_equal(at(models, 0)->verdict, "passed");
    assert_string_equal(at(models, 0)->placement, "accelerators");
    assert_true(at(models, 0)->parameters > UINT64_C(10000000000));
    assert_null(find(small, "llama-3.3-70b"));
    assert_null(find(models, "deepseek-r1"));
    assert_non_null(find(small, "qwen3-0.6b"));
    assert_string_equal(find(small, "qwen3-0.6b")->placement, "host");
    /* its experts come in 4 bits, and so does the file */
    assert_string_equal(find(models, "gpt-oss-20b")->quantization, "MXFP4_MOE");
    plim_models_free(models);
    plim_models_free(small);
}

static void more_context_no_better(void **state)
{
    plim_models *some = rank_on("RTX 4090", "qwen3-14b", 16384);
    plim_models *more = rank_on("RTX 4090", "qwen3-14b", 40960);
    (void)state;
    assert_int_equal(some->models.count, more->models.count);
    for (size_t i = 0; i < some->models.count; i++)
        assert_true(!PLIM_KNOWN(ranked_model, at(more, i), utilization) ||
                    at(more, i)->utilization >= at(some, i)->utilization);
    plim_models_free(some);
    plim_models_free(more);
}

static void one_model(void **state)
{
    plim_models *models = rank_on("cuda:12GiB,cpu:64GiB", "qwen3:30b-a3b", 0);
    size_t best = 0;
    (void)state;
    assert_true(models->models.count >= 8);
    for (size_t i = 0; i < models->models.count; i++) {
        assert_string_equal(at(models, i)->name, "qwen3-30b-a3b");
        best += at(models, i)->best;
        assert_true(i == 0 || at(models, i)->tensor_bytes < at(models, i - 1)->tensor_bytes);
    }
    assert_int_equal(best, 1);
    assert_string_equal(at(models, 0)->quantization, "BF16"); /* also what fails */
    plim_models_free(models);
    models = rank_on("cuda:12GiB,cpu:64GiB", "qwen3-30b-a3b:q5_k_m", 0);
    assert_int_equal(models->models.count, 1);
    assert_string_equal(at(models, 0)->quantization, "Q5_K_M");
    plim_models_free(models);
}

/* A file's own alternatives: the best quantization that passes, as the catalogue's rows of the same
 * model say. */
static void of_a_file(void **state)
{
    static const char spec[] = "cuda:16GiB";
    static const plim_ranked_model like = {.name = "qwen3-8b", .context = 40960};
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine;
    plim_model *model;
    plim_fit *fit, *better = fit_of(spec, &like, "q6_k"), *same = fit_of(spec, &like, "q5_k_m");
    (void)state;
    assert_int_equal(plim_machine_from_spec(context, spec, &error, &machine), PLIM_OK);
    assert_int_equal(
        plim_model_open(context, SOURCE_DIR "/examples/models/qwen3-8b-bf16.gguf", &error, &model),
        PLIM_OK);
    assert_int_equal(plim_fit_model(context, machine, model, NULL, &error, &fit), PLIM_OK);
    const plim_alternative *a = fit->alternatives.items[0];
    assert_string_equal(a->change, "in Q5_K_M");
    assert_string_equal(a->verdict, "passed");
    assert_false(PLIM_KNOWN(alternative, a, command));
    assert_true(a->utilization == same->utilization);
    assert_string_equal(same->verdict, "passed");
    assert_string_equal(better->verdict, "warning");
    plim_fit_free(fit);
    plim_fit_free(same);
    plim_fit_free(better);
    plim_model_free(model);
    plim_machine_free(machine);
}

static void refusals(void **state)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    plim_machine *machine;
    plim_models *models;
    (void)state;
    assert_int_equal(plim_machine_from_spec(context, "cuda", &error, &machine), PLIM_OK);
    assert_int_equal(plim_models_rank(context, machine, NULL, NULL, &error, &models), PLIM_OK);
    assert_int_equal(models->models.count, 0); /* its memory is unknown */
    plim_models_free(models);
    assert_int_equal(plim_models_rank(context, machine, NULL, "lama", &error, &models),
                     PLIM_NOT_FOUND);
    assert_null(models);
    with.kv_type_k = "q9";
    assert_int_equal(plim_models_rank(context, machine, &with, NULL, &error, &models),
                     PLIM_INVALID);
    assert_int_equal(plim_models_rank(context, NULL, &with, NULL, &error, &models), PLIM_INVALID);
    plim_models_free(NULL);
    plim_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_fit_says), cmocka_unit_test(no_better_one),
        cmocka_unit_test(order),       cmocka_unit_test(more_context_no_better),
        cmocka_unit_test(one_model),   cmocka_unit_test(of_a_file),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
