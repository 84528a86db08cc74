/* A recording of anything at all: the whole of detection runs over it, and what comes out is a
 * document that reads back as itself. */
#include "target.h"

#include <string.h>

static char *json_of(const plim_machine *machine)
{
    char *text;
    return plim_machine_to_json(machine, PLIM_JSON_SOURCES, &text, NULL) == PLIM_OK ? text : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine, *again;
    char *first, *second;
    options.machine_text = size ? (const char *)data : "";
    options.machine_text_length = size;
    plim_status status = plim_machine_detect(fuzz_context(), &options, &error, NULL, &machine);
    if (status != PLIM_OK) {
        FUZZ_CHECK(error.what[0] && error.offset <= size);
        return 0;
    }
    FUZZ_CHECK((first = json_of(machine)) != NULL);
    FUZZ_CHECK(plim_machine_from_json(fuzz_context(), first, strlen(first), &error, &again) ==
               PLIM_OK);
    FUZZ_CHECK((second = json_of(again)) != NULL);
    FUZZ_CHECK(strcmp(first, second) == 0);
    plim_text_free(first);
    plim_text_free(second);
    plim_machine_free(machine);
    plim_machine_free(again);
    return 0;
}
