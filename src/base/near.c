#include "near.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows i - 2, i - 1 and i of the table of distances between prefixes. */
size_t pli_distance(pli_str a, pli_str b)
{
    size_t table[3][PLI_NEAR_MOST + 1];
    size_t *before = table[0], *above = table[1], *row = table[2];
    a.n = least(a.n, PLI_NEAR_MOST);
    b.n = least(b.n, PLI_NEAR_MOST);
    for (size_t k = 0; k <= b.n; k++)
        above[k] = before[k] = k;
    for (size_t i = 1; i <= a.n; i++) {
        row[0] = i;
        for (size_t k = 1; k <= b.n; k++) {
            char x = lower(a.p[i - 1]), y = lower(b.p[k - 1]);
            row[k] = least(least(above[k], row[k - 1]) + 1, above[k - 1] + (x != y));
            if (i > 1 && k > 1 && x == lower(b.p[k - 2]) && lower(a.p[i - 2]) == y)
                row[k] = least(row[k], before[k - 2] + 1);
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b.n];
}
