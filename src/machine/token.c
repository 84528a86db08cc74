#include "token.h"

#include <string.h>

#include "../base/num.h"
#include "../base/sha256.h"

/* What the bytes are hashed as, so that no two kinds of identities share tokens. */
enum domain { DOMAIN_BYTES = 'b', DOMAIN_TEXT = 't', DOMAIN_NUMBER = 'n' };

/* Part number `part` of the endless token of these bytes. */
static void hash(const pli_salt *salt, enum domain domain, const void *bytes, size_t n,
                 uint32_t part, unsigned char out[32])
{
    const unsigned char head[5] = {(unsigned char)domain, (unsigned char)(part >> 24),
                                   (unsigned char)(part >> 16), (unsigned char)(part >> 8),
                                   (unsigned char)part};
    pli_sha256 h;
    pli_sha256_init(&h);
    pli_sha256_add(&h, salt->bytes, sizeof salt->bytes);
    pli_sha256_add(&h, head, sizeof head);
    pli_sha256_add(&h, bytes, n);
    pli_sha256_end(&h, out);
}

void pli_token_bytes(const pli_salt *salt, unsigned char *bytes, size_t n)
{
    unsigned char digest[32], all = 0, any = 0xff;
    for (size_t i = 0; i < n; i++) {
        all |= bytes[i];
        any &= bytes[i];
    }
    if (all == 0 || any == 0xff)
        return;
    pli_sha256 h;
    unsigned char whole[32];
    pli_sha256_init(&h);
    pli_sha256_add(&h, bytes, n);
    pli_sha256_end(&h, whole);
    for (size_t i = 0; i < n; i++) {
        if (i % 32 == 0)
            hash(salt, DOMAIN_BYTES, whole, sizeof whole, (uint32_t)(i / 32), digest);
        bytes[i] = digest[i % 32];
    }
}

/* ---- digits ---------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool has_upper(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] >= 'A' && text[i] <= 'F')
            return true;
    return false;
}

static char hex_char(unsigned value, bool upper)
{
    return (upper ? "0123456789ABCDEF" : "0123456789abcdef")[value & 15];
}

void pli_token_hex_id(const pli_salt *salt, char *text, size_t n)
{
    unsigned char bytes[64] = {0};
    bool upper = has_upper(text, n);
    size_t digits = 0;
    for (size_t i = 0; i < n && digits < 2 * sizeof bytes; i++) {
        int v = hex_value(text[i]);
        if (v >= 0) {
            bytes[digits / 2] |= (unsigned char)(digits % 2 ? v : v << 4);
            digits++;
        }
    }
    pli_token_bytes(salt, bytes, (digits + 1) / 2);
    digits = 0;
    for (size_t i = 0; i < n; i++)
        if (hex_value(text[i]) >= 0 && digits < 2 * sizeof bytes) {
            unsigned v = bytes[digits / 2];
            text[i] = hex_char(digits % 2 ? v : v >> 4, upper);
            digits++;
        }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t largest(uint64_t v, unsigned base)
{
    uint64_t top = base - 1; /* of as many digits as v */
    while (top < v)
        top = top > (UINT64_MAX - (base - 1)) / base ? UINT64_MAX : top * base + base - 1;
    return top;
}

static uint64_t smallest(uint64_t v, unsigned base)
{
    uint64_t low = 1;
    while (low <= v / base)
        low *= base;
    return low;
}

/* A permutation of the numbers below 4^half by a Feistel network: whatever the rounds compute, it
 * can be undone, so that no two numbers become one. */
static uint64_t permute(const pli_salt *salt, unsigned half, uint64_t v)
{
    uint64_t mask = (UINT64_C(1) << half) - 1, left = v >> half, right = v & mask;
    for (uint32_t round = 0; round < 8; round++) {
        unsigned char bytes[9], digest[32];
        bytes[0] = (unsigned char)half;
        for (size_t i = 0; i < 8; i++)
            bytes[1 + i] = (unsigned char)(right >> (8 * i));
        hash(salt, DOMAIN_NUMBER, bytes, sizeof bytes, round, digest);
        uint64_t next = left ^ (pli_load(digest, 8, false) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

/* Another number with as many hex and as many decimal digits, a different one for every number.
 * What the permutation throws out of the range is permuted again, until it is back: its cycle
 * began inside. */
static uint64_t number_token(const pli_salt *salt, uint64_t v)
{
    unsigned half = 1;
    if (v == 0 || v == UINT64_MAX)
        return v;
    uint64_t low = smallest(v, 10), high = largest(v, 10);
    low = low > smallest(v, 16) ? low : smallest(v, 16);
    high = high < largest(v, 16) ? high : largest(v, 16);
    while (half < 32 && (high - low) >> (2 * half))
        half++;
    uint64_t token = v - low;
    do
        token = permute(salt, half, token);
    while (token > high - low);
    return low + token;
}

bool pli_token_number(const pli_salt *salt, char *digits, size_t n, bool hex)
{
    uint64_t v;
    unsigned base = hex ? 16 : 10;
    bool upper = has_upper(digits, n), ok = n > 0;
    for (size_t i = 0; i < n; i++)
        ok = ok && hex_value(digits[i]) >= 0;
    if (!ok || !(hex ? pli_parse_hex : pli_parse_u64)((pli_str){digits, n}, &v))
        return false;
    v = number_token(salt, v);
    for (size_t i = n; i-- > 0; v /= base)
        digits[i] = hex_char((unsigned)(v % base), upper);
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does it mean that there is none: nothing but zeros? */
static bool says_none(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_letter(text[i]) || (text[i] >= '1' && text[i] <= '9'))
            return false;
    return true;
}

static char letter_token(char c, unsigned value, bool only_hex)
{
    unsigned letters = only_hex ? 6 : 26;
    if (c >= '0' && c <= '9')
        return (char)('0' + value % 10);
    if (!is_letter(c))
        return c;
    return (char)((c >= 'a' ? 'a' : 'A') + (int)(value % letters));
}

void pli_token_text(const pli_salt *salt, char *text, size_t n)
{
    unsigned char digest[32], whole[32];
    bool only_hex = true;
    if (says_none(text, n))
        return;
    for (size_t i = 0; i < n; i++)
        only_hex = only_hex && (!is_letter(text[i]) || hex_value(text[i]) >= 0);
    hash(salt, DOMAIN_TEXT, text, n, 0, whole);
    for (size_t i = 0; i < n; i++) {
        if (i % 32 == 0)
            hash(salt, DOMAIN_TEXT, whole, sizeof whole, (uint32_t)(i / 32), digest);
        text[i] = letter_token(text[i], digest[i % 32], only_hex);
    }
}
