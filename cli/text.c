#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct range {
    uint32_t first, last;
};

/* Unicode 15: combining marks and zero-width characters; East Asian wide and fullwidth. Only the
 * blocks as a whole: a name is not typesetting. */
static const struct range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool within(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* The character at *p, which moves behind it; a stray byte stands for itself. */
static uint32_t next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    unsigned more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    uint32_t c = more ? s[0] & (0x3fu >> more) : s[0];
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *p += 1;
            return s[0];
        }
        c = c << 6 | (s[i] & 0x3fu);
    }
    *p += more + 1;
    return c;
}

static size_t columns_of(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (within(zero_width, sizeof zero_width / sizeof *zero_width, c))
        return 0;
    return within(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

size_t cli_width(const char *text)
{
    size_t columns = 0;
    while (*text)
        columns += columns_of(next(&text));
    return columns;
}

size_t cli_fit(const char *text, size_t columns)
{
    const char *p = text;
    for (size_t used = 0; *p;) {
        const char *before = p;
        used += columns_of(next(&p));
        if (used > columns)
            return (size_t)(before - text);
    }
    return (size_t)(p - text);
}

void cli_repeat(FILE *out, const char *text, size_t n)
{
    while (n--)
        (void)fputs(text, out);
}

void cli_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
    char word[1024];
    size_t column = at;
    bool first = true;
    while (*(text += strspn(text, " "))) {
        size_t n = strcspn(text, " ");
        if (n >= sizeof word)
            n = sizeof word - 1;
        memcpy(word, text, n);
        word[n] = '\0';
        text += n;
        size_t columns = cli_width(word);
        if (!first && width && column + 1 + columns > width) {
            (void)fputc('\n', out);
            cli_repeat(out, " ", indent);
            column = indent;
            first = true;
        }
        (void)fprintf(out, "%s%s", first ? "" : " ", word);
        column += columns + !first;
        first = false;
    }
    (void)fputc('\n', out);
}
