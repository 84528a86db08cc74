#define _DEFAULT_SOURCE /* getentropy */
#include <unistd.h>

#include "live.h"

bool pli_random_bytes(void *bytes, size_t n)
{
    return getentropy(bytes, n) == 0;
}
