#include "url.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/* Bytes of a scheme before "://"; 0: it does not begin so. */
static size_t scheme_length(const char *text)
{
    size_t n = 0;
    if (!is_letter(text[0]))
        return 0;
    while (is_letter(text[n]) || is_digit(text[n]) || text[n] == '+' || text[n] == '-' ||
           text[n] == '.')
        n++;
    return strncmp(text + n, "://", 3) == 0 ? n : 0;
}

bool cli_url_like(const char *text)
{
    return scheme_length(text) > 0;
}

bool cli_url_is_https(const cli_url *url)
{
    return url->scheme == 5;
}

/* ":8080" up to `end`; nothing is the scheme's own port. */
static bool parse_port(const char *at, const char *end, unsigned *port)
{
    unsigned n = 0;
    if (at == end)
        return true;
    if (*at++ != ':')
        return false;
    if (at == end)
        return true;
    for (; at < end; at++) {
        if (!is_digit(*at) || (n = n * 10 + (unsigned)(*at - '0')) > 65535)
            return false;
    }
    *port = n;
    return n > 0;
}

static bool parse_authority(const char *begin, const char *end, cli_url *out)
{
    for (const char *c = begin; c < end; c++)
        if (*c == '@') {
            out->has_user = true;
            begin = c + 1;
        }
    const char *stop = begin;
    if (stop < end && *stop == '[')
        while (stop < end && *stop != ']')
            stop++;
    bool closed = begin == end || *begin != '[' || stop < end;
    while (stop < end && *stop != ':')
        stop++;
    out->host = begin;
    out->host_length = (size_t)(stop - begin);
    return closed && out->host_length > 0 && parse_port(stop, end, &out->port);
}

bool cli_url_parse(const char *text, cli_url *out)
{
    *out = (cli_url){.text = text, .scheme = scheme_length(text)};
    if (!(out->scheme == 4 && same(text, "http", 4)) &&
        !(out->scheme == 5 && same(text, "https", 5)))
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '\\')
            return false;
    out->port = cli_url_is_https(out) ? 443 : 80;
    out->name_length = strcspn(text, "?#");
    const char *authority = text + out->scheme + 3;
    out->tail = authority + strcspn(authority, "/?#");
    return parse_authority(authority, out->tail, out);
}

bool cli_url_same_origin(const cli_url *a, const cli_url *b)
{
    return a->scheme == b->scheme && a->port == b->port && a->host_length == b->host_length &&
           same(a->host, b->host, a->host_length);
}
