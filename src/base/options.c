#include "options.h"

#include <string.h>

bool pli_options_take(void *to, size_t size, const void *from)
{
    size_t given;
    if (!from)
        return true;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given)
        return false;
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return true;
}
