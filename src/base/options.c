#include "options.h"

#include <string.h>

bool pli_options_take(void *to, size_t size, const void *from)
{
    const unsigned char *bytes = from;
    size_t given;
    if (!from)
        return true;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given)
        return false;
    for (size_t i = size; i < given; i++)
        if (bytes[i])
            return false;
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return true;
}
