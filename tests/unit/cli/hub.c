/* Which file of a repository a name means: llama.cpp's own choice for -hf. */
#include "unit/test.h"

#include "cli/hub.h"

static const char *const files[] = {
    "README.md",
    "imatrix.gguf",
    "mmproj-Model-Q8_0.gguf",
    "mtp-Model-Q4_K_M.gguf",
    "Model-IQ4_XS.gguf",
    "Q6_K/Model-Q6_K-00002-of-00002.gguf",
    "Q6_K/Model-Q6_K-00001-of-00002.gguf",
    "Model-Q4_K_M.gguf",
    "Model-Q8_0.gguf",
};

static void by_quantisation(void **state)
{
    (void)state;
    assert_string_equal(cli_hub_choose(files, COUNT(files), "Q8_0"), "Model-Q8_0.gguf");
    assert_string_equal(cli_hub_choose(files, COUNT(files), "q4_k_m"), "Model-Q4_K_M.gguf");
    assert_string_equal(cli_hub_choose(files, COUNT(files), "Q6_K"),
                        "Q6_K/Model-Q6_K-00001-of-00002.gguf");
    assert_null(cli_hub_choose(files, COUNT(files), "Q4_K")); /* ended by '.' or '-' */
    assert_null(cli_hub_choose(files, COUNT(files), "Q2_K"));
}

static void without_one(void **state)
{
    static const char *const weights[] = {"model.safetensors", "model.safetensors.index.json"};
    (void)state;
    assert_string_equal(cli_hub_choose(files, COUNT(files), ""), "Model-Q4_K_M.gguf");
    assert_string_equal(cli_hub_choose(files, 5, ""), "Model-IQ4_XS.gguf");
    assert_string_equal(cli_hub_choose(files + 8, 1, ""), "Model-Q8_0.gguf");
    assert_string_equal(cli_hub_choose(weights, 2, ""), "model.safetensors.index.json");
    assert_string_equal(cli_hub_choose(weights, 1, ""), "model.safetensors");
    assert_null(cli_hub_choose(files, 4, ""));
    assert_null(cli_hub_choose(files, 0, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_quantisation),
        cmocka_unit_test(without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
