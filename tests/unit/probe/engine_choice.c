#include "probe/probe.h"

#include <string.h>

#include "../test.h"

struct machine {
    pli_inventory inv;
};

static int set_up(void **state)
{
    static struct machine m;
    *state = &m;
    return pli_inventory_new(NULL, &m.inv) == PLIM_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    struct machine *m = *state;
    pli_inventory_free(&m->inv);
    return 0;
}

static plim_device *add(struct machine *m, const char *kind, const char *family, const char *name)
{
    plim_device *d = pli_add_device(&m->inv);
    assert_non_null(d);
    PLI_SET(device, d, kind, kind, "x");
    PLI_SET(device, d, family, family, "x");
    PLI_SET(device, d, name, name, "x");
    PLI_SET(device, d, available, true, "x");
    return d;
}

static void add_isa(struct machine *m, const char *isa)
{
    const char **items = pli_alloc_array(m->inv.arena, 1, sizeof *items);
    items[0] = isa;
    plim_cpu *cpu = pli_cpu_of(&m->inv);
    PLI_SET(cpu, cpu, isa, ((plim_strs){items, 1}), "x");
}

static const plim_recommended_engine *choose(struct machine *m)
{
    pli_probe_context context = {.inv = &m->inv, .name = "engine_choice"};
    pli_probe_engine_choice.run(&context);
    return m->inv.machine->recommended_engine;
}

static void capability_decides_for_cuda(void **state)
{
    struct machine *m = *state;
    plim_device *d = add(m, "gpu", "cuda", "Tesla P100");
    PLI_SET(device, d, compute_capability, "6.0", "x");
    assert_string_equal(choose(m)->name, "llama.cpp");
    PLI_SET(device, d, compute_capability, "7.5", "x");
    assert_string_equal(choose(m)->name, "vLLM");
    PLI_SET(device, d, compute_capability, "10.0", "x");
    assert_string_equal(choose(m)->name, "TensorRT-LLM");
    assert_string_equal(choose(m)->reason, "Tesla P100: CUDA with compute capability 8.0 or later");
}

static void the_most_capable_device_decides(void **state)
{
    struct machine *m = *state;
    add(m, "npu", "intel_npu", "NPU");
    plim_device *older = add(m, "gpu", "cuda", "RTX 2080");
    plim_device *newer = add(m, "gpu", "cuda", "RTX 4090");
    PLI_SET(device, older, compute_capability, "7.5", "x");
    PLI_SET(device, newer, compute_capability, "8.9", "x");
    assert_string_equal(choose(m)->name, "TensorRT-LLM");
}

static void what_cannot_be_used_does_not_count(void **state)
{
    struct machine *m = *state;
    plim_device *d = add(m, "gpu", "cuda", "A100");
    PLI_SET(device, d, compute_capability, "8.0", "x");
    PLI_SET(device, d, available, false, "x");
    add_isa(m, "avx2");
    assert_string_equal(choose(m)->name, "llama.cpp");
    assert_non_null(strstr(choose(m)->reason, "AVX2"));
}

static void a_card_goes_before_integrated_graphics(void **state)
{
    struct machine *m = *state;
    plim_device *uhd = add(m, "gpu", "intel", "UHD");
    PLI_SET(device, uhd, integrated, true, "x");
    add(m, "gpu", "rocm", "RX 7900 XTX");
    assert_string_equal(choose(m)->name, "OpenVINO");
    assert_non_null(strstr(choose(m)->reason, "UHD"));
    add(m, "gpu", "intel", "Arc B580");
    assert_non_null(strstr(choose(m)->reason, "Arc B580"));
}

static void nothing_is_recommended_for_nothing(void **state)
{
    assert_null(choose(*state));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(capability_decides_for_cuda),        TEST(the_most_capable_device_decides),
        TEST(what_cannot_be_used_does_not_count), TEST(a_card_goes_before_integrated_graphics),
        TEST(nothing_is_recommended_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
