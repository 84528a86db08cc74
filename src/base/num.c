#include "num.h"

#include <math.h>

bool pli_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

bool pli_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a != 0 && b > UINT64_MAX / a)
        return false;
    *out = a * b;
    return true;
}

uint64_t pli_add_sat(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t pli_mul_sat(uint64_t a, uint64_t b)
{
    uint64_t r = UINT64_MAX;
    (void)pli_mul(a, b, &r);
    return r;
}

uint64_t pli_sub_sat(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

bool pli_round_up(uint64_t value, uint64_t multiple, uint64_t *out)
{
    if (multiple == 0)
        return false;
    uint64_t rest = value % multiple;
    return rest == 0 ? (*out = value, true) : pli_add(value, multiple - rest, out);
}

uint64_t pli_load(const void *bytes, size_t size, bool big_endian)
{
    const unsigned char *b = bytes;
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
        v = v << 8 | b[big_endian ? i : size - 1 - i];
    return v;
}

bool pli_parse_u64_prefix(pli_str *s, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;
    for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++)
        if (!pli_mul(v, 10, &v) || !pli_add(v, (uint64_t)(s->p[n] - '0'), &v))
            return false;
    if (n == 0)
        return false;
    *out = v;
    *s = pli_skip(*s, n);
    return true;
}

bool pli_parse_u64(pli_str s, uint64_t *out)
{
    uint64_t v;
    s = pli_trim(s);
    if (!pli_parse_u64_prefix(&s, &v) || s.n)
        return false;
    *out = v;
    return true;
}

bool pli_parse_i64(pli_str s, int64_t *out)
{
    uint64_t v;
    s = pli_trim(s);
    bool minus = s.n && s.p[0] == '-';
    if (!pli_parse_u64(minus ? pli_skip(s, 1) : s, &v) || (minus && s.n > 1 && s.p[1] == ' '))
        return false;
    if (v > (uint64_t)INT64_MAX + (minus ? 1 : 0))
        return false;
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool pli_parse_hex(pli_str s, uint64_t *out)
{
    uint64_t v = 0;
    s = pli_trim(s);
    if (pli_starts(s, "0x") || pli_starts(s, "0X"))
        s = pli_skip(s, 2);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int d = hex_digit(s.p[i]);
        if (d < 0 || v >> 60)
            return false;
        v = v << 4 | (uint64_t)d;
    }
    *out = v;
    return true;
}

/* Digits with an optional fraction at the front of *s. Written out because strtod reads the
 * locale's decimal point. */
static bool decimal_prefix(pli_str *s, double *out)
{
    double v = 0, scale = 1;
    size_t n = 0, digits = 0;
    for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++, digits++)
        v = v * 10 + (s->p[n] - '0');
    if (n < s->n && s->p[n] == '.')
        for (n++; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++, digits++, scale *= 10)
            v = v * 10 + (s->p[n] - '0');
    if (digits == 0 || !isfinite(v) || !isfinite(scale))
        return false;
    *out = v / scale;
    *s = pli_skip(*s, n);
    return true;
}

bool pli_parse_f64(pli_str s, double *out)
{
    double v;
    s = pli_trim(s);
    bool minus = s.n && s.p[0] == '-';
    if (minus)
        s = pli_skip(s, 1);
    if (!decimal_prefix(&s, &v))
        return false;
    if (s.n > 1 && (s.p[0] == 'e' || s.p[0] == 'E')) {
        int64_t e;
        pli_str exponent = pli_skip(s, s.p[1] == '+' ? 2 : 1);
        if (!pli_parse_i64(exponent, &e) || e > 400 || e < -400)
            return false;
        for (; e > 0; e--)
            v *= 10;
        for (; e < 0; e++)
            v /= 10;
        s.n = 0;
    }
    if (s.n || !isfinite(v))
        return false;
    *out = minus ? -v : v;
    return true;
}

/* Power of 1024 of "", B, K, KB, KiB, M ... T, P; -1 for anything else. */
static int unit_power(pli_str unit)
{
    static const char letters[] = "KMGTP";
    if (unit.n == 0 || pli_eq(unit, "B") || pli_eq(unit, "b"))
        return 0;
    char first = (char)(unit.p[0] & ~0x20);
    for (int i = 0; letters[i]; i++) {
        pli_str rest = pli_skip(unit, 1);
        if (first == letters[i])
            return rest.n == 0 || pli_eq(rest, "B") || pli_eq(rest, "b") || pli_eq(rest, "iB") ||
                           pli_eq(rest, "ib") || pli_eq(rest, "i")
                       ? i + 1
                       : -1;
    }
    return -1;
}

bool pli_parse_size(pli_str s, uint64_t *out)
{
    uint64_t whole;
    double v;
    s = pli_trim(s);
    pli_str exact = s;
    if (!decimal_prefix(&s, &v))
        return false;
    int power = unit_power(pli_trim(s));
    if (power < 0)
        return false;
    uint64_t unit = (uint64_t)1 << (10 * power);
    if (pli_parse_u64_prefix(&exact, &whole) && (exact.n == 0 || exact.p[0] != '.'))
        return pli_mul(whole, unit, out);
    v *= (double)unit;
    if (v >= 18446744073709551616.0)
        return false;
    *out = (uint64_t)(v + 0.5);
    return true;
}
