/* Every allocation fails once: the first, the second, and so on, alone and with all that follow.
 * Whatever fails, the answer is "out of memory" or a result (of what can be done without), and
 * nothing is left behind. */
#include "unit/test.h"

#include <plimsoll/plimsoll.h>

#include "base/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200000 }; /* allocations of one scenario: more is a loop */

/* An allocator that fails and counts. */
struct memory {
    unsigned long calls, fail_at; /* the call that fails, from 1; 0: none */
    bool and_after;
    unsigned long refused;
    size_t bytes; /* handed out and not given back */
};

static void *allocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct memory *memory = user;
    if (new_size == 0) {
        memory->bytes -= ptr ? old_size : 0;
        free(ptr);
        return NULL;
    }
    memory->calls++;
    if (memory->fail_at && (memory->calls == memory->fail_at ||
                            (memory->and_after && memory->calls > memory->fail_at))) {
        memory->refused++;
        return NULL;
    }
    void *moved = realloc(ptr, new_size);
    if (moved)
        memory->bytes += new_size - (ptr ? old_size : 0);
    return moved;
}

/* A scenario: what is done in a context, with the paths of its inputs. */
struct scenario {
    const char *name;
    plim_status (*run)(plimsoll *context, const struct scenario *);
    const char *machine, *model;
};

static const char *path_of(const char *name, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s/%s", SOURCE_DIR, name);
    return buf;
}

static plim_status look(plimsoll *context, const char *name, bool capture, plim_machine **machine)
{
    char path[4096], *recording = NULL;
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_error error = PLIM_ERROR_INIT;
    options.machine_file = path_of(name, path, sizeof path);
    options.capture = capture;
    plim_status status = plim_machine_detect(context, &options, &error, &recording, machine);
    plim_text_free(recording);
    return status;
}

static plim_status detect(plimsoll *context, const struct scenario *s)
{
    plim_machine *machine;
    plim_status status = look(context, s->machine, false, &machine);
    plim_machine_free(machine);
    return status;
}

static plim_status capture(plimsoll *context, const struct scenario *s)
{
    plim_machine *machine;
    plim_status status = look(context, s->machine, true, &machine);
    plim_machine_free(machine);
    return status;
}

static plim_status from_spec(plimsoll *context, const struct scenario *s)
{
    plim_machine *machine;
    plim_error error = PLIM_ERROR_INIT;
    plim_status status = plim_machine_from_spec(context, s->machine, &error, &machine);
    plim_machine_free(machine);
    return status;
}

static plim_status from_json(plimsoll *context, const struct scenario *s)
{
    static char text[1 << 20];
    char path[4096];
    plim_machine *machine;
    plim_error error = PLIM_ERROR_INIT;
    FILE *file = fopen(path_of(s->machine, path, sizeof path), "rb");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    plim_status status = plim_machine_from_json(context, text, n, &error, &machine);
    plim_machine_free(machine);
    return status;
}

static plim_status read_model(plimsoll *context, const struct scenario *s)
{
    char path[4096];
    plim_model *model;
    plim_error error = PLIM_ERROR_INIT;
    plim_status status =
        plim_model_open(context, path_of(s->model, path, sizeof path), &error, &model);
    plim_model_free(model);
    return status;
}

static plim_status fit(plimsoll *context, const struct scenario *s)
{
    char path[4096];
    plim_machine *machine = NULL;
    plim_model *model = NULL;
    plim_fit *fit = NULL;
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options options = PLIM_FIT_OPTIONS_INIT;
    options.context = 8192;
    plim_status status =
        plim_model_open(context, path_of(s->model, path, sizeof path), &error, &model);
    options.draft = model; /* a model may draft for itself, if slowly */
    if (status == PLIM_OK)
        status = look(context, s->machine, false, &machine);
    if (status == PLIM_OK)
        status = plim_fit_model(context, machine, model, &options, &error, &fit);
    plim_fit_free(fit);
    plim_model_free(model);
    plim_machine_free(machine);
    return status;
}

static plim_status check(plimsoll *context, const struct scenario *s)
{
    static char text[1 << 20];
    char path[4096];
    plim_check *check;
    plim_error error = PLIM_ERROR_INIT;
    FILE *file = fopen(path_of(s->machine, path, sizeof path), "rb");
    assert_non_null(file);
    pli_str view = {text, fread(text, 1, sizeof text, file)};
    (void)fclose(file);
    plim_reader reader = pli_reader_memory("log", &view);
    plim_status status = plim_check_log(context, &reader, NULL, NULL, &error, &check);
    plim_check_free(check);
    return status;
}

static plim_status rank(plimsoll *context, const struct scenario *s)
{
    plim_machine *machine = NULL;
    plim_model *model = NULL;
    plim_models *models = NULL;
    plim_error error = PLIM_ERROR_INIT;
    plim_status status = plim_model_from_catalogue(context, s->model, &error, &model);
    if (status == PLIM_OK)
        status = plim_machine_from_spec(context, s->machine, &error, &machine);
    if (status == PLIM_OK)
        status = plim_models_rank(context, machine, NULL, s->model, &error, &models);
    plim_models_free(models);
    plim_model_free(model);
    plim_machine_free(machine);
    return status;
}

static const struct scenario scenarios[] = {
    {"detect a GPU's slices", detect, "tests/machines/nvidia-h200-mig.machine", NULL},
    {"detect an APU", detect, "tests/machines/amd-strix-halo.machine", NULL},
    {"detect two makers' GPUs", detect, "tests/machines/intel-arc-and-igpu.machine", NULL},
    {"record eight GPUs", capture, "tests/machines/nvidia-h100x8.machine", NULL},
    {"imagine", from_spec, "cuda:24GiB*2,cpu:64GiB", NULL},
    {"import a document", from_json, "tests/machines/nvidia-h100x8.json", NULL},
    {"read a model", read_model, NULL, "examples/models/llama-3.2-1b-instruct-q4_k_m.gguf"},
    {"read a model of experts", read_model, NULL, "examples/models/qwen3-30b-a3b-q4_k_m.gguf"},
    {"read a model in bf16", read_model, NULL, "examples/models/qwen3-8b-bf16.gguf"},
    {"fit", fit, "tests/machines/nvidia-h100.machine",
     "examples/models/llama-3.1-8b-instruct-q4_k_m.gguf"},
    {"fit experts", fit, "tests/machines/amd-strix-halo.machine",
     "examples/models/qwen3-30b-a3b-q4_k_m.gguf"},
    {"rank quantizations", rank, "cuda:12GiB,cpu:64GiB", "qwen3-30b-a3b"},
    {"fit over two memories", fit, "tests/machines/intel-arc-and-igpu.machine",
     "examples/models/qwen3-32b-q4_k_m.gguf"},
    {"check a log", check, "tests/logs/two-gpus.log", NULL},
};

static plim_status run(const struct scenario *s, struct memory *memory)
{
    plim_config config = PLIM_CONFIG_INIT;
    plimsoll *context;
    config.allocator = (plim_allocator){allocate, memory};
    plim_status status = plim_open(&config, &context);
    if (status == PLIM_OK) {
        status = s->run(context, s);
        plim_close(context);
    }
    return status;
}

/* Fails call after call until none is left to fail; returns how many there were. */
static unsigned long torture(const struct scenario *s, bool and_after)
{
    for (unsigned long n = 1; n < MOST; n++) {
        struct memory memory = {.fail_at = n, .and_after = and_after};
        plim_status status = run(s, &memory);
        if (memory.bytes)
            fail_msg("%s: call %lu: %zu bytes are left behind", s->name, n, memory.bytes);
        if (memory.refused == 0)
            return n - 1;
        if (status != PLIM_NOMEM) /* an answer with something left out is worse than none */
            fail_msg("%s: call %lu: %s", s->name, n, plim_status_name(status));
    }
    fail_msg("%s: more than %d allocations", s->name, MOST);
    return 0;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        struct memory memory = {0};
        assert_int_equal(run(&scenarios[i], &memory), PLIM_OK);
        assert_int_equal(memory.bytes, 0);
        print_message("%s: %lu allocations\n", scenarios[i].name, memory.calls);
        assert_true(torture(&scenarios[i], false) > 0);
        assert_true(torture(&scenarios[i], true) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
