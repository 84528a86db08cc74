/* A line "LETTER LENGTH", a model file of LENGTH bytes, and a file that is loaded beside it, as
 * what the letter says (d draft, p projector, l adapter, c control vector; m: heads of the model).
 * Judged with both, twice the same. */
#include "target.h"

#include <string.h>

#include "src/base/reader.h"

static bool open_part(const pli_str *bytes, plim_model **out)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_reader reader = pli_reader_memory("input", bytes);
    *out = NULL;
    if (plim_model_open_reader(fuzz_context(), &reader, &error, out) == PLIM_OK)
        return true;
    FUZZ_CHECK(error.status != PLIM_OK && error.what[0]);
    return false;
}

static char *judge(const plim_model *model, const plim_fit_options *options)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine;
    plim_fit *fit;
    char *text = NULL;
    if (plim_machine_from_spec(fuzz_context(), "cuda:8GiB*2,cpu:16GiB", &error, &machine) !=
        PLIM_OK)
        abort();
    plim_status status = plim_fit_model(fuzz_context(), machine, model, options, &error, &fit);
    if (status == PLIM_OK) {
        FUZZ_CHECK(plim_fit_to_json(fit, 0, &text, NULL) == PLIM_OK);
        plim_fit_free(fit);
    } else {
        FUZZ_CHECK(error.status == status && error.what[0]);
    }
    plim_machine_free(machine);
    return text;
}

static void judge_with(char letter, const plim_model *model, const plim_model *beside)
{
    const plim_model *const list[] = {beside, NULL};
    plim_fit_options options = PLIM_FIT_OPTIONS_INIT;
    options.context = 4096;
    options.gpu_layers = letter == 'l' ? 3 : -1;
    options.draft = letter == 'd' ? beside : NULL;
    options.own_draft = letter == 'm';
    options.projector = letter == 'p' ? beside : NULL;
    options.adapters = letter == 'l' ? list : NULL;
    options.control_vectors = letter == 'c' ? list : NULL;
    char *once = judge(model, &options), *again = judge(model, &options);
    FUZZ_CHECK((!once && !again) || (once && again && strcmp(once, again) == 0));
    plim_text_free(once);
    plim_text_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pli_str input = {size ? (const char *)data : "", size};
    const char *end = size ? memchr(input.p, '\n', size) : NULL;
    char line[32];
    if (!end || end == input.p || (size_t)(end - input.p) >= sizeof line)
        return 0;
    memcpy(line, input.p, (size_t)(end - input.p));
    line[end - input.p] = '\0';
    input = pli_skip(input, (size_t)(end + 1 - input.p));
    size_t length = (size_t)strtoull(line + 1, NULL, 10);
    pli_str first = {input.p, length < input.n ? length : input.n};
    pli_str second = pli_skip(input, first.n);
    plim_model *model, *beside = NULL;
    bool both = open_part(&first, &model) && (line[0] == 'm' || open_part(&second, &beside));
    if (both)
        judge_with(line[0], model, beside);
    plim_model_free(beside);
    plim_model_free(model);
    return 0;
}
