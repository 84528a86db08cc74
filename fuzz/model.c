/* A model file of anything at all: read through a reader, then told in full. */
#include "target.h"

#include <string.h>

#include "src/base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pli_str input = {size ? (const char *)data : "", size};
    plim_reader reader = pli_reader_memory("input", &input);
    plim_error error = PLIM_ERROR_INIT;
    plim_model *model;
    char *text;
    plim_status status = plim_model_open_reader(fuzz_context(), &reader, &error, &model);
    if (status != PLIM_OK) {
        FUZZ_CHECK(error.status == status && error.what[0]);
        return 0;
    }
    status = plim_model_to_json(model, PLIM_JSON_PRETTY | PLIM_MODEL_TENSORS | PLIM_MODEL_METADATA,
                                &text, NULL);
    FUZZ_CHECK(status == PLIM_OK);
    plim_text_free(text);
    char key[64], value[64];
    for (size_t i = 0; plim_model_metadata_text(model, i, key, sizeof key, value, 64); i++)
        FUZZ_CHECK(memchr(key, 0, sizeof key) && memchr(value, 0, sizeof value));
    plim_model_free(model);
    return 0;
}
