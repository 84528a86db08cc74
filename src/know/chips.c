#include "chips.h"

#include <string.h>

#include "../base/near.h"

#define TERA(n) ((uint64_t)((n)*1e12))
static const pli_chip chips[] = {
#define CHIP(name, others, family, vendor, mib, gb_per_s, unified, arch, fp16, fp8, int8, source)  \
    {name,                                                                                         \
     others,                                                                                       \
     family,                                                                                       \
     vendor,                                                                                       \
     (uint64_t)(mib) << 20,                                                                        \
     (uint64_t)(gb_per_s)*1000000000u,                                                             \
     unified,                                                                                      \
     arch,                                                                                         \
     TERA(fp16),                                                                                   \
     TERA(fp8),                                                                                    \
     TERA(int8),                                                                                   \
     source},
#include "chips.def"
#undef CHIP
};
#define CHIP_COUNT (sizeof chips / sizeof *chips)

#define MAX_NAME 64u
typedef struct simple {
    char text[MAX_NAME];
    size_t n;
} simple;

static bool ends_with(const simple *name, const char *word, size_t length)
{
    return name->n >= length && memcmp(name->text + name->n - length, word, length) == 0;
}

/* Takes one of a list's words off the end. */
static void drop(simple *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (ends_with(name, words[i], length))
            name->n -= length;
    }
}

/* Letters, digits and + in lower case, without the words of vendors and drivers. False: nothing is
 * left, or too long to be any. */
static bool simplify(pli_str name, bool series, simple *out)
{
    static const char *const noise[] = {"nvidia",   "geforce", "tesla",  "amd", "radeon",
                                        "instinct", "intel",   "apple",  "gpu", "graphics",
                                        "mac",      "studio",  "macbook"};
    static const char *const families[] = {"rtx", "gtx", "rx", "arc", "quadro"};
    out->n = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+')
            continue;
        if (out->n + 1 == MAX_NAME)
            return false;
        out->text[out->n++] = c;
        drop(out, noise, sizeof noise / sizeof *noise);
        if (!series)
            drop(out, families, sizeof families / sizeof *families);
    }
    out->text[out->n] = '\0';
    return out->n > 0;
}

static bool is_same(const simple *a, const simple *b)
{
    return strcmp(a->text, b->text) == 0;
}

/* Is that one of the chip's names? */
static bool is_named(const pli_chip *chip, bool series, const simple *wanted)
{
    simple have;
    pli_str others = pli_s(chip->others), other;
    if (simplify(pli_s(chip->name), series, &have) && is_same(&have, wanted))
        return true;
    while (pli_next_part(&others, '|', &other))
        if (simplify(other, series, &have) && is_same(&have, wanted))
            return true;
    return false;
}

const pli_chip *pli_chip_at(size_t i)
{
    return i < CHIP_COUNT ? &chips[i] : NULL;
}

const pli_chip *pli_chip_find(pli_str name)
{
    simple wanted;
    const pli_chip *found = NULL;
    if (!simplify(name, true, &wanted))
        return NULL;
    for (size_t i = 0; i < CHIP_COUNT; i++)
        if (is_named(&chips[i], true, &wanted))
            return &chips[i];
    for (size_t i = 0; i < CHIP_COUNT; i++)
        if (is_named(&chips[i], false, &wanted)) {
            if (found)
                return NULL;
            found = &chips[i];
        }
    return found;
}

static size_t distance(const pli_chip *chip, const simple *wanted)
{
    simple have;
    size_t far = SIZE_MAX;
    pli_str others = pli_s(chip->others), other = pli_s(chip->name);
    do {
        if (!simplify(other, true, &have))
            continue;
        size_t here = pli_distance(pli_s(have.text), pli_s(wanted->text));
        if (strstr(have.text, wanted->text))
            here /= 4;
        far = here < far ? here : far;
    } while (pli_next_part(&others, '|', &other));
    return far;
}

void pli_chip_near(pli_str name, const pli_chip *near[PLI_NEAR_CHIPS])
{
    size_t far[PLI_NEAR_CHIPS];
    simple wanted;
    bool usable = simplify(name, true, &wanted);
    for (size_t i = 0; i < PLI_NEAR_CHIPS; i++)
        near[i] = NULL;
    for (size_t i = 0; usable && i < CHIP_COUNT; i++) {
        size_t here = distance(&chips[i], &wanted), k = PLI_NEAR_CHIPS;
        if (here > wanted.n / 3)
            continue;
        for (; k > 0 && (!near[k - 1] || here < far[k - 1]); k--)
            if (k < PLI_NEAR_CHIPS) {
                near[k] = near[k - 1];
                far[k] = far[k - 1];
            }
        if (k < PLI_NEAR_CHIPS) {
            near[k] = &chips[i];
            far[k] = here;
        }
    }
}
