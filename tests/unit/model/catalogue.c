/* The catalogue against what is published: parameters of every model, bytes of GGUF files, names
 * as people type them. */
#include "unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/build.h"
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

static plim_model *model_of(const char *name)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_model *model = NULL;
    if (plim_model_from_catalogue(context, name, &error, &model) != PLIM_OK)
        fail_msg("%s: %s", name, error.what);
    return model;
}

/* Every row's tensors add up to the number of parameters that its publisher states; tables of
 * rotary factors are not counted there. */
static void parameters(void **state)
{
    const pli_known_model *known;
    size_t i = 0;
    (void)state;
    for (; (known = pli_known_model_at(i)) != NULL; i++) {
        plim_model *model = model_of(known->name);
        const pli_model *m = pli_model_of(model);
        uint64_t sum = 0;
        for (size_t k = 0; k < m->tensor_count; k++)
            if (!pli_starts(pli_s(m->tensors[k].name), "rope_f"))
                sum += m->tensors[k].elements;
        if (sum != known->parameters)
            fail_msg("%s: %" PRIu64 " parameters, %" PRIu64 " are published", known->name, sum,
                     known->parameters);
        assert_true(model->context_trained >= 2048 && model->vocabulary >= 32000);
        assert_false(PLIM_KNOWN(model, model, file_bytes));
        assert_false(PLIM_KNOWN(model, model, data_present));
        assert_string_equal(model->catalogue, known->name);
        plim_model_free(model);
    }
    assert_true(i >= 90);
}

/* Bytes of all tensors, as llama.cpp prints them for published files (llama-bench's model_size,
 * llama-server's size). */
static void published_tensors(void **state)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } published[] = {
        {"qwen3-coder-30b-a3b:q4_k_s", 17450039296},
        {"qwen3.5-27b:q4_k_m", 16536406016},
        {"qwen3.5-4b:q8_0", 4471435264},
        {"gemma-4-e4b:q8_0", 8015415464},
        {"gemma-4-12b:q8_0", 12653822144},
        {"gpt-oss-120b", 63374323968},
        {"qwen2.5-7b:q4_k_m", 4677120000},
        {"granite-4.0-h-small:q8_0", 34261297152},
    };
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        plim_model *model = model_of(published[i].name);
        if (model->tensor_bytes != published[i].bytes)
            fail_msg("%s: %" PRIu64 ", published %" PRIu64, published[i].name, model->tensor_bytes,
                     published[i].bytes);
        plim_model_free(model);
    }
}

/* Whole files as the hub lists them: what stands in front of the tensors, the tokenizer mostly, is
 * the same in each quantization of a model. */
static void published_files(void **state)
{
    static const struct {
        const char *name;
        uint64_t bytes, header;
    } published[] = {
        {"phi-4:q4_k_m", 9053114816, 3555776},
        {"phi-4:q5_k_m", 10604188096, 3555776},
        {"phi-4:q6_k", 12030251456, 3555776},
        {"phi-4:q8_0", 15580500416, 3555776},
        {"qwen3-14b:q4_k_m", 9001753984, 5960064},
        {"qwen3-14b:q5_k_m", 10514570624, 5960064},
        {"qwen3-14b:q6_k", 12121938304, 5960064},
        {"qwen3-14b:q8_0", 15698534784, 5960064},
        {"llama-3.2-3b:q4_k_m", 2019377696, 7837984},
        {"llama-3.2-3b:q5_k_m", 2322154016, 7837984},
        {"llama-3.2-3b:q8_0", 3421899296, 7837984},
        {"llama-4-scout:q4_k_m", 65359900352, 13102016},
        {"llama-4-scout:q6_k", 88432148672, 13102016},
    };
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        plim_model *model = model_of(published[i].name);
        if (model->tensor_bytes + published[i].header != published[i].bytes)
            fail_msg("%s: %" PRIu64, published[i].name, model->tensor_bytes);
        plim_model_free(model);
    }
}

static void names(void **state)
{
    static const char *const same[][3] = {
        {"qwen3-30b-a3b:q4_k_m", "qwen3-30b-a3b", "Q4_K_M"},
        {"Qwen/Qwen3-30B-A3B-GGUF:Q4_K_M", "qwen3-30b-a3b", "Q4_K_M"},
        {"qwen3:8b", "qwen3-8b", NULL},
        {"llama3.1:8b-instruct-q4_K_M", "llama-3.1-8b", "Q4_K_M"},
        {"Meta-Llama-3-8B-Instruct-IQ3_XXS", "llama-3-8b", "IQ3_XXS"},
        {"gemma3:27b-it-q8_0", "gemma-3-27b", "Q8_0"},
        {"gpt-oss:20b", "gpt-oss-20b", NULL},
        {"gpt-oss-20b-mxfp4", "gpt-oss-20b", "MXFP4_MOE"},
        {"deepseek-r1:latest", "deepseek-r1", NULL},
        {"hf.co/unsloth/GLM-4.5-Air-GGUF:IQ4_XS", "glm-4.5-air", "IQ4_XS"},
        {"mistral small 3.2 24B", "mistral-small-3.2-24b", NULL},
        {"PHI4", "phi-4", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const pli_mixture *mixture;
        const pli_known_model *known = pli_known_model_find(pli_s(same[i][0]), &mixture);
        if (!known || strcmp(known->name, same[i][1]) != 0)
            fail_msg("%s is %s", same[i][0], known ? known->name : "unknown");
        assert_true(same[i][2] ? mixture && strcmp(mixture->name, same[i][2]) == 0 : !mixture);
    }
}

/* No name, under which one finds a row, finds another. */
static void names_are_unique(void **state)
{
    const pli_known_model *known;
    (void)state;
    for (size_t i = 0; (known = pli_known_model_at(i)) != NULL; i++) {
        pli_str others = pli_s(known->others), name = pli_s(known->name);
        do {
            const pli_mixture *mixture;
            const pli_known_model *found = pli_known_model_find(name, &mixture);
            if (found != known)
                fail_msg("%.*s finds %s, not %s", (int)name.n, name.p, found ? found->name : "-",
                         known->name);
            assert_null(mixture);
        } while (pli_next_word(&others, &name));
    }
}

static void near_names(void **state)
{
    static const char *const wrong[][2] = {
        {"lama3.1-8b", "llama-3.1-8b"},
        {"qwen3-30b-a3", "qwen3-30b-a3b"},
        {"gptoss-20b", "gpt-oss-20b"},
        {"mistral-smal-3.2-24b", "mistral-small-3.2-24b"},
        {"gptoss", "gpt-oss-20b"},
        {"qwen4", "qwen3-8b"},
        {"coder-480b", "qwen3-coder-480b-a35b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        plim_error error = PLIM_ERROR_INIT;
        plim_model *model;
        assert_int_equal(plim_model_from_catalogue(context, wrong[i][0], &error, &model),
                         PLIM_NOT_FOUND);
        assert_null(model);
        if (!strstr(error.what, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error.what);
    }
}

/* Every usual quantization of every model: whole blocks, known sizes, smaller from row to row. */
static void quantizations(void **state)
{
    const pli_known_model *known;
    (void)state;
    for (size_t i = 0; (known = pli_known_model_at(i)) != NULL; i++) {
        plim_error error = PLIM_ERROR_INIT;
        pli_model *model;
        const pli_mixture *mixture;
        uint64_t before = UINT64_MAX;
        assert_int_equal(pli_known_model_draw(NULL, known, &error, &model), PLIM_OK);
        for (size_t k = 0; (mixture = pli_known_model_mixture(known, k)) != NULL; k++) {
            uint64_t bytes = 0;
            pli_known_model_quantize(known, mixture, model);
            for (size_t t = 0; t < model->tensor_count; t++) {
                assert_true(model->tensors[t].bytes_known);
                bytes += model->tensors[t].bytes;
            }
            if (bytes > before + before / 8) /* odd widths fall back to larger types */
                fail_msg("%s in %s is larger than the one before", known->name, mixture->name);
            before = bytes;
        }
        assert_true(before < UINT64_MAX);
        plim_model_free(&model->pub);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),       cmocka_unit_test(published_tensors),
        cmocka_unit_test(published_files),  cmocka_unit_test(names),
        cmocka_unit_test(names_are_unique), cmocka_unit_test(near_names),
        cmocka_unit_test(quantizations),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
