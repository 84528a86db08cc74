/* Speeds at most, by hand: a Llama 3 8B in F16. A layer's matrices hold 218,103,808 weights (twice
 * 4096 x 4096, twice 4096 x 1024, three times 4096 x 14336) and its norms 8,192; the output
 * 525,336,576 and its norm 4,096. A cached token takes 131,072 B. */
#include "models.h"

#define LAYER (2.0 * (218103808 + 8192))
#define OUTPUT (2.0 * (525336576 + 4096))
#define TOKEN 131072.0

static plim_fit *fit_with(const char *on, int64_t layers, double host)
{
    plim_fit_options o = fit_options(8192, 1);
    o.gpu_layers = layers;
    o.host_bandwidth = host;
    return fit_on(&llama3_8b, on, &o);
}

static void assert_near(double found, double expected)
{
    if (!(found > expected * 0.999999 && found < expected * 1.000001))
        print_error("%f, not %f\n", found, expected);
    assert_true(found > expected * 0.999999 && found < expected * 1.000001);
}

static void test_one_device(void **state)
{
    (void)state;
    plim_fit *fit = fit_with("RTX 4090", -1, 0); /* 1,008 GB/s */
    double bytes = 32 * LAYER + OUTPUT;
    assert_near(fit->speed->decode_tokens_per_s, 1008e9 / bytes);
    assert_near(fit->speed->decode_full_tokens_per_s, 1008e9 / (bytes + 8192 * TOKEN));
    assert_non_null(strstr(fit->speed->basis, "nominal"));
    plim_fit_free(fit);
}

/* A part on the host: times add up; unknown where the host's bandwidth is. */
static void test_two_memories(void **state)
{
    (void)state;
    plim_fit *fit = fit_with("RTX 4090,cpu:64GiB", 17, 50e9);
    double seconds = (16 * LAYER + OUTPUT) / 1008e9 + 16 * LAYER / 50e9;
    assert_near(fit->speed->decode_tokens_per_s, 1 / seconds);
    assert_non_null(strstr(fit->speed->basis, "as given"));
    plim_fit_free(fit);
    fit = fit_with("RTX 4090,cpu:64GiB", 17, 0);
    assert_false(PLIM_KNOWN(fit, fit, speed));
    plim_fit_free(fit);
    fit = fit_with("cuda:24GiB", -1, 0); /* nobody tells its bandwidth */
    assert_false(PLIM_KNOWN(fit, fit, speed));
    plim_fit_free(fit);
}

/* Two operations a weight of a layer; 165.2 of a 4090's 10^12 a second in 16 bits. */
static void test_prompts(void **state)
{
    (void)state;
    plim_fit *fit = fit_with("RTX 4090", -1, 0);
    assert_near(fit->speed->prefill_tokens_per_s, 165.2e12 / (2 * 32 * 218103808.0));
    plim_fit_free(fit);
    fit = fit_with("RTX 4090,cpu:64GiB", 17, 50e9); /* what the host computes, nobody tells */
    assert_false(PLIM_KNOWN(fit_speed, fit->speed, prefill_tokens_per_s));
    plim_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_two_memories),
        cmocka_unit_test(test_prompts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
