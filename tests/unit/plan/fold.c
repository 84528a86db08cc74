/* Layers that repeat are drawn a few times only. The compute buffers must be those of the whole
 * graph, whatever the model, the devices and the settings. */
#include "plan/graph.h"

#include "models.h"

static const sketch gemma3 = {.arch = "gemma3", /* one layer in six attends to everything */
                              .layers = 48,
                              .embedding = 3840,
                              .heads = 16,
                              .heads_kv = 8,
                              .head = 256,
                              .feed_forward = 15360,
                              .vocabulary = 262144,
                              .trained = 131072,
                              .more = {{"attention.sliding_window", 1024}},
                              .tensors = true};

typedef struct answer {
    uint64_t compute[PLI_MAX_SITES];
    pli_certainty kind[PLI_MAX_SITES];
    uint32_t drawn;
} answer;

static void plan_it(const sketch *s, const char *on, const plim_fit_options *o, unsigned rhythm,
                    answer *out)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_machine *machine = NULL;
    plim_model *model = sketch_open(s);
    pli_arena *arena = pli_arena_new(NULL, UINT64_C(1) << 28);
    pli_shape shape;
    pli_setup setup;
    pli_sites sites;
    pli_plan plan;
    memset(out, 0, sizeof *out);
    assert_int_equal(plim_machine_from_spec(NULL, on, &e, &machine), PLIM_OK);
    assert_int_equal(pli_shape_read(arena, pli_model_of(model), &e, &shape), PLIM_OK);
    assert_int_equal(pli_setup_read(arena, &shape, o, &e, &setup), PLIM_OK);
    pli_sites_read(machine, &sites);
    shape.graph = pli_graph_new(arena);
    shape.graph->rhythm = rhythm;
    assert_int_equal(pli_resolve(arena, &shape, &sites, &e, &setup), PLIM_OK);
    assert_int_equal(pli_place_weights(&shape, &setup, &sites, &plan), PLIM_OK);
    assert_int_equal(pli_place_context(&shape, &setup, &sites, &plan), PLIM_OK);
    for (size_t i = 0; i <= sites.devices; i++) {
        out->compute[i] = plan.at[i].compute;
        out->kind[i] = plan.at[i].compute_kind;
    }
    out->drawn = shape.graph->drawn;
    pli_arena_free(arena);
    plim_machine_free(machine);
    plim_model_free(model);
}

static void test_same_peaks(void **state)
{
    static const char *const machines[] = {"cpu:64GiB", "cuda:24GiB", "cuda:24GiB*3",
                                           "cuda:24GiB,cuda:8GiB"};
    static const char *const attention[] = {"blk\\.(1.|2.)\\.attn.*=CPU", NULL};
    const sketch *const models[] = {&llama3_8b, &gemma3};
    (void)state;
    for (size_t m = 0; m < COUNT(models); m++)
        for (size_t i = 0; i < COUNT(machines); i++)
            for (int layers = -1; layers < 40; layers += 13)
                for (unsigned flags = 0; flags < 8; flags++) {
                    answer whole, folded;
                    plim_fit_options o = fit_options(8192, 1);
                    o.gpu_layers = layers;
                    o.flash_attention = flags & 1 ? PLIM_ON : PLIM_OFF;
                    o.no_op_offload = flags & 2;
                    o.overrides = flags & 4 ? attention : NULL;
                    plan_it(models[m], machines[i], &o, PLI_NO_RHYTHM, &whole);
                    plan_it(models[m], machines[i], &o, 1, &folded);
                    assert_memory_equal(whole.compute, folded.compute, sizeof whole.compute);
                    assert_memory_equal(whole.kind, folded.kind, sizeof whole.kind);
                }
}

/* A layer more or less costs nothing: what is drawn is the same. */
static void test_cost(void **state)
{
    sketch deep = llama3_8b;
    answer few, many;
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    deep.layers = 126;
    plan_it(&llama3_8b, "cuda:80GiB", &o, 1, &few);
    plan_it(&deep, "cuda:80GiB", &o, 1, &many);
    assert_int_equal(few.drawn, many.drawn);
    assert_int_equal(few.compute[0], many.compute[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_peaks),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
