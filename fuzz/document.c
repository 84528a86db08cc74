/* A plimsoll.machine/1 document of anything at all. What is read is written, and reads back as
 * itself. */
#include "target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine, *again;
    char *first, *second;
    if (plim_machine_from_json(fuzz_context(), size ? (const char *)data : "", size, &error,
                               &machine) != PLIM_OK)
        return 0;
    FUZZ_CHECK(plim_machine_to_json(machine, PLIM_JSON_SOURCES, &first, NULL) == PLIM_OK);
    FUZZ_CHECK(plim_machine_from_json(fuzz_context(), first, strlen(first), &error, &again) ==
               PLIM_OK);
    FUZZ_CHECK(plim_machine_to_json(again, PLIM_JSON_SOURCES, &second, NULL) == PLIM_OK);
    FUZZ_CHECK(strcmp(first, second) == 0);
    plim_text_free(first);
    plim_text_free(second);
    plim_machine_free(machine);
    plim_machine_free(again);
    return 0;
}
