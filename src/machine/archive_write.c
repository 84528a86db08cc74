/* Writing entries: arguments escaped, bodies as text where they are that. */
#include <stdio.h>
#include <string.h>

#include "archive.h"

void pli_key_add(pli_buf *key, pli_str argument)
{
    bool utf8 = pli_utf8_valid(argument), first = pli_is_attribute(argument);
    if (key->n)
        (void)pli_buf_add(key, " ", 1);
    if (argument.n == 0)
        (void)pli_buf_addz(key, "\\e");
    for (size_t i = 0; i < argument.n; i++) {
        unsigned char c = (unsigned char)argument.p[i];
        if (c <= 0x20 || c == 0x7f || c == '\\' || (c >= 0x80 && !utf8) || (i == 0 && first))
            (void)pli_buf_printf(key, "\\%03o", c);
        else
            (void)pli_buf_add(key, &argument.p[i], 1);
    }
}

void pli_query_input(pli_buf *key, const void *in, size_t in_size)
{
    if (in_size)
        (void)pli_buf_add(key, " ", 1);
    for (size_t i = 0; i < in_size; i++)
        (void)pli_buf_printf(key, "%02x", ((const unsigned char *)in)[i]);
}

void pli_cpuid_key(uint32_t leaf, uint32_t sub, char key[32])
{
    (void)snprintf(key, 32, "0x%x 0x%x", (unsigned)leaf, (unsigned)sub);
}

/* May the body stand in the file as it is? */
static bool is_plain(pli_str body)
{
    for (size_t i = 0; i < body.n; i++) {
        unsigned char c = (unsigned char)body.p[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            return false;
        if (c == '-' && (i == 0 || body.p[i - 1] == '\n') && pli_starts(pli_skip(body, i), "-- "))
            return false;
    }
    return pli_utf8_valid(body);
}

size_t pli_entry_write(pli_buf *out, pli_kind kind, pli_str words, const char *attribute,
                       pli_str body)
{
    static const char *const names[PLI_KIND_COUNT] = {
#define X(id, name, least, most, attributes) name,
        PLI_KIND_MAP(X)
#undef X
    };
    bool plain = is_plain(body), open = body.n && body.p[body.n - 1] != '\n';
    size_t start = out->n;
    (void)pli_buf_addz(out, "-- ");
    (void)pli_buf_addz(out, names[kind]);
    if (words.n) {
        (void)pli_buf_addz(out, " ");
        (void)pli_buf_add(out, words.p, words.n);
    }
    size_t question = out->n - start;
    if (attribute)
        (void)pli_buf_printf(out, " %s", attribute);
    (void)pli_buf_addz(out, !plain ? " hex --\n" : open ? " nonl --\n" : " --\n");
    if (!plain) {
        pli_bytes_encode_body(out, body.p, body.n);
    } else {
        (void)pli_buf_add(out, body.p, body.n);
        if (open)
            (void)pli_buf_addz(out, "\n");
    }
    return question;
}
