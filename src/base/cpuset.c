#include "cpuset.h"

#include <string.h>

#include "limits.h"
#include "num.h"

bool pli_cpuset_add(pli_arena *arena, pli_cpuset *set, size_t cpu)
{
    if (cpu >= PLI_MAX_CPUS)
        return false;
    size_t word = cpu / 64;
    if (word >= set->count) {
        size_t count = word + 1 > set->count * 2 ? word + 1 : set->count * 2;
        uint64_t *words = pli_alloc_array(arena, count, sizeof *words);
        if (!words)
            return false;
        if (set->count)
            memcpy(words, set->words, set->count * sizeof *words);
        *set = (pli_cpuset){words, count};
    }
    set->words[word] |= UINT64_C(1) << (cpu % 64);
    return true;
}

bool pli_cpuset_has(const pli_cpuset *set, size_t cpu)
{
    return cpu / 64 < set->count && ((set->words[cpu / 64] >> (cpu % 64)) & 1);
}

static bool add_range(pli_arena *arena, pli_cpuset *set, pli_str range)
{
    uint64_t first, last;
    if (!pli_parse_u64_prefix(&range, &first))
        return false;
    last = first;
    if (range.n && range.p[0] == '-') {
        range = pli_skip(range, 1);
        if (!pli_parse_u64_prefix(&range, &last))
            return false;
    }
    if (range.n || last < first || last >= PLI_MAX_CPUS)
        return false;
    for (uint64_t cpu = last + 1; cpu-- > first;) /* from the top: the words are grown once */
        if (!pli_cpuset_add(arena, set, (size_t)cpu))
            return false;
    return true;
}

bool pli_cpuset_parse_list(pli_arena *arena, pli_str list, pli_cpuset *out)
{
    pli_cpuset set = {0};
    pli_str part;
    *out = set;
    list = pli_trim(list);
    if (list.n == 0)
        return true;
    while (pli_next_part(&list, ',', &part))
        if (!add_range(arena, &set, pli_trim(part)))
            return false;
    *out = set;
    return true;
}

bool pli_cpuset_parse_mask(pli_arena *arena, pli_str mask, pli_cpuset *out)
{
    pli_cpuset set = {0};
    *out = set;
    mask = pli_trim(mask);
    if (mask.n == 0)
        return false;
    size_t bit = 0;
    for (size_t i = mask.n; i-- > 0;) {
        uint64_t digit;
        if (mask.p[i] == ',')
            continue;
        if (!pli_parse_hex((pli_str){mask.p + i, 1}, &digit))
            return false;
        for (unsigned k = 0; k < 4; k++)
            if (((digit >> k) & 1) && !pli_cpuset_add(arena, &set, bit + k))
                return false;
        bit += 4;
    }
    *out = set;
    return true;
}

size_t pli_cpuset_count(const pli_cpuset *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->count; i++)
        for (uint64_t w = set->words[i]; w; w &= w - 1)
            n++;
    return n;
}

static uint64_t word_at(const pli_cpuset *set, size_t i)
{
    return i < set->count ? set->words[i] : 0;
}

bool pli_cpuset_equal(const pli_cpuset *a, const pli_cpuset *b)
{
    size_t n = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; i < n; i++)
        if (word_at(a, i) != word_at(b, i))
            return false;
    return true;
}

void pli_cpuset_and(pli_cpuset *set, const pli_cpuset *other)
{
    for (size_t i = 0; i < set->count; i++)
        set->words[i] &= word_at(other, i);
}

size_t pli_cpuset_next(const pli_cpuset *set, size_t from)
{
    for (size_t cpu = from; cpu < set->count * 64; cpu++) {
        if (set->words[cpu / 64] == 0)
            cpu |= 63; /* skip the empty word */
        else if (pli_cpuset_has(set, cpu))
            return cpu;
    }
    return SIZE_MAX;
}

char *pli_cpuset_list(pli_arena *arena, const pli_cpuset *set)
{
    /* A range takes at most 12 bytes ("65534-65535,"). */
    size_t ranges = 1;
    for (size_t c = pli_cpuset_next(set, 0); c != SIZE_MAX; c = pli_cpuset_next(set, c + 1))
        ranges += c == 0 || !pli_cpuset_has(set, c - 1);
    char *out = pli_alloc_array(arena, ranges, 12), *at = out;
    if (!out)
        return NULL;
    for (size_t c = pli_cpuset_next(set, 0); c != SIZE_MAX; c = pli_cpuset_next(set, c + 1)) {
        size_t first = c;
        while (pli_cpuset_has(set, c + 1))
            c++;
        char *piece = first == c ? pli_printf(arena, "%s%zu", at == out ? "" : ",", c)
                                 : pli_printf(arena, "%s%zu-%zu", at == out ? "" : ",", first, c);
        if (!piece)
            return NULL;
        size_t n = strlen(piece);
        memcpy(at, piece, n);
        at += n;
    }
    return out;
}
