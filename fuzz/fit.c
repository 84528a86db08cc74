/* A specification, an override and a context on three lines, then a model file of anything at
 * all: judged, twice the same. */
#include "target.h"

#include <string.h>

#include "src/base/reader.h"

/* The next line of the input, cut to the buffer. */
static void take_line(pli_str *input, char *line, size_t size)
{
    const char *end = input->n ? memchr(input->p, '\n', input->n) : NULL;
    size_t n = end ? (size_t)(end - input->p) : input->n, kept = n < size ? n : size - 1;
    if (kept)
        memcpy(line, input->p, kept);
    line[kept] = '\0';
    *input = pli_skip(*input, end ? n + 1 : n);
}

static char *judge(const plim_machine *machine, const plim_model *model,
                   const plim_fit_options *options)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_fit *fit;
    char *text = NULL;
    plim_status status = plim_fit_model(fuzz_context(), machine, model, options, &error, &fit);
    if (status != PLIM_OK) {
        FUZZ_CHECK(error.status == status && error.what[0]);
        return NULL;
    }
    FUZZ_CHECK(plim_fit_to_json(fit, 0, &text, NULL) == PLIM_OK);
    plim_fit_free(fit);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pli_str input = {size ? (const char *)data : "", size};
    char spec[256], override[256], context[32];
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine;
    plim_model *model;
    take_line(&input, spec, sizeof spec);
    take_line(&input, override, sizeof override);
    take_line(&input, context, sizeof context);
    plim_status status = plim_machine_from_spec(fuzz_context(), spec, &error, &machine);
    if (status != PLIM_OK) {
        FUZZ_CHECK(error.status == status && error.what[0]);
        return 0;
    }
    plim_reader reader = pli_reader_memory("input", &input);
    if (plim_model_open_reader(fuzz_context(), &reader, &error, &model) == PLIM_OK) {
        const char *const overrides[] = {override, NULL};
        plim_fit_options options = PLIM_FIT_OPTIONS_INIT;
        options.context = strtoull(context, NULL, 10);
        options.sequences = options.context % 5;
        options.gpu_layers = (int64_t)(options.context % 7) - 1;
        options.flash_attention = options.context % 2 ? PLIM_ON : PLIM_OFF;
        options.overrides = override[0] ? overrides : NULL;
        char *once = judge(machine, model, &options), *again = judge(machine, model, &options);
        FUZZ_CHECK((!once && !again) || (once && again && strcmp(once, again) == 0));
        plim_text_free(once);
        plim_text_free(again);
        plim_model_free(model);
    }
    plim_machine_free(machine);
    return 0;
}
