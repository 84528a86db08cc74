#include "str.h"

#include <string.h>

pli_str pli_s(const char *text)
{
    return (pli_str){text ? text : "", text ? strlen(text) : 0};
}

bool pli_same(pli_str a, pli_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool pli_eq(pli_str a, const char *b)
{
    return pli_same(a, pli_s(b));
}

int pli_compare(pli_str a, pli_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool pli_starts(pli_str s, const char *prefix)
{
    pli_str p = pli_s(prefix);
    return s.n >= p.n && pli_same((pli_str){s.p, p.n}, p);
}

bool pli_ends(pli_str s, const char *suffix)
{
    pli_str p = pli_s(suffix);
    return s.n >= p.n && pli_same(pli_skip(s, s.n - p.n), p);
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool contains(pli_str s, pli_str needle, bool nocase)
{
    for (size_t at = 0; at + needle.n <= s.n; at++) {
        size_t k = 0;
        while (k < needle.n &&
               (nocase ? lower(s.p[at + k]) == lower(needle.p[k]) : s.p[at + k] == needle.p[k]))
            k++;
        if (k == needle.n)
            return true;
    }
    return false;
}

bool pli_contains(pli_str s, const char *needle)
{
    return contains(s, pli_s(needle), false);
}

bool pli_contains_nocase(pli_str s, const char *needle)
{
    return contains(s, pli_s(needle), true);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

pli_str pli_trim(pli_str s)
{
    while (s.n && is_space(s.p[0]))
        s = pli_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

pli_str pli_skip(pli_str s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return (pli_str){s.p + n, s.n - n};
}

bool pli_next_part(pli_str *rest, char separator, pli_str *part)
{
    if (!rest->p)
        return false;
    const char *end = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    *part = (pli_str){rest->p, end ? (size_t)(end - rest->p) : rest->n};
    *rest = end ? pli_skip(*rest, part->n + 1) : (pli_str){NULL, 0};
    return true;
}

bool pli_next_line(pli_str *rest, pli_str *line)
{
    if (rest->n == 0)
        return false;
    (void)pli_next_part(rest, '\n', line);
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool pli_next_word(pli_str *rest, pli_str *word)
{
    size_t start = 0;
    while (start < rest->n && is_blank(rest->p[start]))
        start++;
    size_t end = start;
    while (end < rest->n && !is_blank(rest->p[end]))
        end++;
    *word = (pli_str){start ? rest->p + start : rest->p, end - start};
    *rest = end ? (pli_str){rest->p + end, rest->n - end} : *rest;
    return end > start;
}

bool pli_key_value(pli_str line, char separator, pli_str *key, pli_str *value)
{
    const char *at = line.n ? memchr(line.p, separator, line.n) : NULL;
    if (!at)
        return false;
    size_t n = (size_t)(at - line.p);
    *key = pli_trim((pli_str){line.p, n});
    *value = pli_trim(pli_skip(line, n + 1));
    return true;
}

bool pli_find_value(pli_str text, const char *key, char separator, pli_str *value)
{
    pli_str line = {"", 0}, k; /* set: gcc 12 does not see that pli_next_line() sets it */
    while (pli_next_line(&text, &line)) {
        line = pli_trim(line);
        if (pli_starts(line, key) && pli_key_value(line, separator, &k, value) && pli_eq(k, key))
            return true;
    }
    *value = (pli_str){"", 0};
    return false;
}

/* Length of the well-formed UTF-8 sequence at s, 0 if there is none. */
static size_t utf8_length(pli_str s)
{
    const unsigned char *u = (const unsigned char *)s.p;
    if (s.n == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4 || s.n < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return n;
}

bool pli_utf8_valid(pli_str s)
{
    while (s.n) {
        size_t n = utf8_length(s);
        if (n == 0)
            return false;
        s = pli_skip(s, n);
    }
    return true;
}

/* C0, DEL and C1 control characters. */
static bool is_control(pli_str s, size_t length)
{
    unsigned char a = (unsigned char)s.p[0];
    return (length == 1 && (a < 0x20 || a == 0x7f)) ||
           (length == 2 && a == 0xc2 && (unsigned char)s.p[1] < 0xa0);
}

bool pli_is_clean(pli_str s)
{
    size_t n = 1;
    for (; s.n && n; s = pli_skip(s, n)) {
        n = utf8_length(s);
        if (n && is_control(s, n))
            return false;
    }
    return n != 0;
}

size_t pli_clean(pli_str s, char *out, size_t size)
{
    size_t at = 0;
    while (s.n && size) {
        size_t n = utf8_length(s);
        bool bad = n == 0 || is_control(s, n);
        size_t put = bad ? 1 : n;
        if (at + put >= size)
            break;
        if (bad)
            out[at] = '?';
        else
            memcpy(out + at, s.p, n);
        at += put;
        s = pli_skip(s, n ? n : 1);
    }
    if (size)
        out[at] = '\0';
    return at;
}

size_t pli_utf8_repair(pli_str s, char *out)
{
    size_t at = 0;
    while (s.n) {
        size_t n = utf8_length(s);
        memcpy(out + at, n ? s.p : "\xef\xbf\xbd", n ? n : 3);
        at += n ? n : 3;
        s = pli_skip(s, n ? n : 1);
    }
    return at;
}

pli_str pli_field_str(const void *bytes, size_t n)
{
    const char *end = n ? memchr(bytes, '\0', n) : NULL;
    return (pli_str){bytes, end ? (size_t)(end - (const char *)bytes) : n};
}
