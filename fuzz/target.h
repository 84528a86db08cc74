/* What every fuzz target has: libFuzzer's entry, and a context that is opened once. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <plimsoll/plimsoll.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline plimsoll *fuzz_context(void)
{
    static plimsoll *context;
    if (!context && plim_open(NULL, &context) != PLIM_OK)
        abort();
    return context;
}

/* For what must hold whatever the input is. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#endif
