#include "file_types.h"

#include <stddef.h>

const char *pli_file_type_name(uint64_t number)
{
    switch (number) {
#define FILE_TYPE(number, name)                                                                    \
    case number:                                                                                   \
        return #name;
#include "file_types.def"
#undef FILE_TYPE
    default:
        return NULL;
    }
}
