/* Bytes as words of a text: pairs of hex digits, "text", +N for N zero bytes. */
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "archive.h"

#define MAX_ZEROS 65536u /* of one +N: a short recording must not unfold without bounds */
#define HEX_WIDTH 32u    /* bytes on a line of a hex body */

struct sink {
    unsigned char *p;
    size_t cap, n;
};

static void put(struct sink *sink, unsigned char byte)
{
    if (sink->p && sink->n < sink->cap)
        sink->p[sink->n] = byte;
    sink->n++;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode_text(pli_str *s, struct sink *sink)
{
    const char *end = memchr(s->p + 1, '"', s->n - 1);
    if (!end)
        return false;
    for (const char *c = s->p + 1; c < end; c++)
        put(sink, (unsigned char)*c);
    *s = pli_skip(*s, (size_t)(end - s->p) + 1);
    return true;
}

static bool decode_zeros(pli_str *s, struct sink *sink)
{
    uint64_t count;
    *s = pli_skip(*s, 1);
    if (!pli_parse_u64_prefix(s, &count) || count > MAX_ZEROS)
        return false;
    if (sink->p && sink->n < sink->cap)
        memset(sink->p + sink->n, 0,
               count < sink->cap - sink->n ? (size_t)count : sink->cap - sink->n);
    sink->n += (size_t)count;
    return true;
}

static bool decode_pair(pli_str *s, struct sink *sink)
{
    int high = hex_digit(s->p[0]), low = s->n > 1 ? hex_digit(s->p[1]) : -1;
    if (high < 0 || low < 0)
        return false;
    put(sink, (unsigned char)(high << 4 | low));
    *s = pli_skip(*s, 2);
    return true;
}

bool pli_bytes_decode(pli_str words, void *out, size_t cap, size_t *n)
{
    struct sink sink = {out, cap, 0};
    while (words.n) {
        char c = words.p[0];
        bool ok = true;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            words = pli_skip(words, 1);
        else if (c == '"')
            ok = decode_text(&words, &sink);
        else if (c == '+')
            ok = decode_zeros(&words, &sink);
        else
            ok = decode_pair(&words, &sink);
        if (!ok)
            return false;
    }
    *n = sink.n;
    return true;
}

/* A name or a version in a field of zeros reads better as text. */
static bool reads_as_text(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] < 0x20 || bytes[i] >= 0x7f || bytes[i] == '"')
            return false;
    return n >= 4;
}

static void encode_hex(pli_buf *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    if (pli_buf_reserve(out, n * 2 + n / HEX_WIDTH) != PLIM_OK)
        return;
    char *p = out->p + out->n;
    for (size_t i = 0; i < n; i++) {
        if (i && i % HEX_WIDTH == 0)
            *p++ = ' ';
        *p++ = digits[bytes[i] >> 4];
        *p++ = digits[bytes[i] & 15];
    }
    pli_buf_added(out, (size_t)(p - (out->p + out->n)));
}

static size_t trailing_zeros(const unsigned char *bytes, size_t n)
{
    size_t zeros = 0;
    while (zeros < n && bytes[n - 1 - zeros] == 0)
        zeros++;
    return zeros;
}

static void encode_zeros(pli_buf *out, size_t zeros, const char *before)
{
    for (; zeros > MAX_ZEROS; zeros -= MAX_ZEROS, before = " ")
        (void)pli_buf_printf(out, "%s+%u", before, MAX_ZEROS);
    (void)pli_buf_printf(out, "%s+%u", before, (unsigned)zeros);
}

void pli_bytes_encode(pli_buf *out, const void *bytes, size_t n)
{
    size_t zeros = trailing_zeros(bytes, n), rest = n - zeros;
    if (rest == 0) {
        encode_zeros(out, zeros, ""); /* +0 also for an output of no bytes */
        return;
    }
    bool text = n >= 16 && reads_as_text(bytes, rest);
    if (!text && zeros < 8)
        rest = n;
    if (text)
        (void)pli_buf_printf(out, "\"%.*s\"", (int)rest, (const char *)bytes);
    else
        encode_hex(out, bytes, rest);
    if (rest < n)
        encode_zeros(out, n - rest, " ");
}

/* Strings with a NUL behind each: lists of the device tree, uname. */
static bool is_strings(const unsigned char *bytes, size_t n)
{
    size_t letters = 0;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0 && (bytes[i] < 0x20 || bytes[i] >= 0x7f || bytes[i] == '"'))
            return false;
        letters += bytes[i] != 0;
    }
    return n && bytes[n - 1] == 0 && letters > n / 2;
}

static void encode_strings(pli_buf *out, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        pli_str text = pli_field_str(bytes + at, n - at);
        if (text.n)
            (void)pli_buf_printf(out, "\"%.*s\" ", (int)text.n, text.p);
        (void)pli_buf_addz(out, "00\n");
        at += text.n + 1;
    }
}

void pli_bytes_encode_body(pli_buf *out, const void *bytes, size_t n)
{
    size_t zeros = trailing_zeros(bytes, n);
    if (is_strings(bytes, n) && zeros < HEX_WIDTH) {
        encode_strings(out, bytes, n);
        return;
    }
    if (zeros < HEX_WIDTH)
        zeros = 0;
    for (size_t at = 0; at < n - zeros; at += HEX_WIDTH) {
        size_t left = n - zeros - at;
        encode_hex(out, (const unsigned char *)bytes + at, left < HEX_WIDTH ? left : HEX_WIDTH);
        (void)pli_buf_addz(out, "\n");
    }
    if (zeros) {
        encode_zeros(out, zeros, "");
        (void)pli_buf_addz(out, "\n");
    }
}
