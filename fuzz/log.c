/* A load log of anything at all: what it says, against what plimsoll makes of it. */
#include "target.h"

#include "src/base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pli_str input = {size ? (const char *)data : "", size};
    plim_reader reader = pli_reader_memory("input", &input);
    plim_error error = PLIM_ERROR_INIT;
    plim_check *check;
    char *text;
    plim_status status = plim_check_log(fuzz_context(), &reader, NULL, NULL, &error, &check);
    if (status != PLIM_OK) {
        FUZZ_CHECK(error.status == status && error.what[0]);
        return 0;
    }
    FUZZ_CHECK(check->same + check->differing <= check->terms.count);
    status = plim_check_to_json(check, PLIM_JSON_PRETTY, &text, NULL);
    FUZZ_CHECK(status == PLIM_OK);
    plim_text_free(text);
    plim_check_free(check);
    return 0;
}
