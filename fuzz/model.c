/* A model file of anything at all: read through a reader, then told in full. */
#include "target.h"

#include <string.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static plim_status read_bytes(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    const bytes *b = user;
    size_t left = offset < b->size ? b->size - (size_t)offset : 0;
    *got = n < left ? n : left;
    if (*got)
        memcpy(buf, b->data + offset, *got);
    return PLIM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes input = {data, size};
    plim_reader reader = {sizeof reader, "input", size, &input, read_bytes};
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
