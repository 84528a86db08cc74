#include "chips.h"

#include <string.h>

static const pli_chip chips[] = {
#define CHIP(name, family, vendor, mib, gb_per_s, unified, arch)                                   \
    {name, family, vendor, (uint64_t)(mib) << 20, (uint64_t)(gb_per_s)*1000000000u, unified, arch},
#include "chips.def"
#undef CHIP
};

/* Letters and digits in lower case, without the vendor's words. False: too long to be any. */
static bool simplify(pli_str name, char *out, size_t size)
{
    static const char *const noise[] = {"nvidia",   "geforce", "amd",  "radeon",
                                        "instinct", "intel",   "apple"};
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
            continue;
        if (n + 1 == size)
            return false;
        out[n++] = c;
        for (size_t k = 0; k < sizeof noise / sizeof *noise; k++) {
            size_t length = strlen(noise[k]);
            if (n >= length && memcmp(out + n - length, noise[k], length) == 0)
                n -= length;
        }
    }
    out[n] = '\0';
    return n > 0;
}

const pli_chip *pli_chip_find(pli_str name)
{
    char wanted[64], have[64];
    if (!simplify(name, wanted, sizeof wanted))
        return NULL;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (simplify(pli_s(chips[i].name), have, sizeof have) && strcmp(wanted, have) == 0)
            return &chips[i];
    return NULL;
}
