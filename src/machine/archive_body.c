/* The shapes of bodies, read and written: bytes, stat, facts, registers; and whole entries. */
#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "archive.h"

#define MAX_ZEROS 65536u /* of one +N: a short recording must not unfold without bounds */
#define HEX_WIDTH 32u    /* bytes on a line of a hex body */

/* ---- bytes ----------------------------------------------------------------------------------- */

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

/* ---- content --------------------------------------------------------------------------------- */

uint64_t pli_entry_size(const pli_entry *e)
{
    size_t n = e->body.n;
    return e->hex && !pli_bytes_decode(e->body, NULL, 0, &n) ? 0 : n;
}

plim_status pli_entry_content(const pli_entry *e, pli_buf *out)
{
    size_t n = (size_t)pli_entry_size(e);
    plim_status status = pli_buf_reserve(out, n);
    if (status != PLIM_OK)
        return status;
    if (!e->hex)
        return pli_buf_add(out, e->body.p, n);
    (void)pli_bytes_decode(e->body, out->p + out->n, n, &n);
    pli_buf_added(out, n);
    return PLIM_OK;
}

const char *pli_entry_text(const pli_archive *a, pli_entry *e)
{
    size_t n = (size_t)pli_entry_size(e);
    char *text = e->text ? NULL : pli_alloc(a->arena, n + 1);
    if (!text)
        return e->text;
    if (e->hex)
        (void)pli_bytes_decode(e->body, text, n, &n);
    else
        memcpy(text, e->body.p, n);
    if (n && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return e->text = text;
}

/* ---- stat ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    pli_file_type type;
} types[] = {
    {"regular", PLI_FILE_REGULAR}, {"dir", PLI_FILE_DIRECTORY}, {"char", PLI_FILE_CHAR},
    {"block", PLI_FILE_BLOCK},     {"other", PLI_FILE_OTHER},
};

static bool parse_type(pli_str word, pli_file_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pli_eq(word, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static bool parse_device(pli_str value, uint64_t *major, uint64_t *minor)
{
    pli_str a, b;
    return pli_key_value(value, ':', &a, &b) && pli_parse_u64(a, major) && pli_parse_u64(b, minor);
}

static bool parse_access(pli_str value, pli_stat *out)
{
    out->readable = pli_contains(value, "r");
    out->writable = pli_contains(value, "w");
    return pli_eq(value, "r") || pli_eq(value, "w") || pli_eq(value, "rw") || value.n == 0;
}

bool pli_stat_parse(pli_str body, pli_stat *out)
{
    pli_str line, word, key, value;
    pli_stat st = {.type = PLI_FILE_OTHER};
    if (!pli_next_line(&body, &line) || !pli_next_word(&line, &word) || !parse_type(word, &st.type))
        return false;
    while (pli_next_word(&line, &word)) {
        bool ok = pli_key_value(word, '=', &key, &value);
        if (ok && pli_eq(key, "size"))
            ok = pli_parse_u64(value, &st.size);
        else if (ok && pli_eq(key, "dev"))
            ok = parse_device(value, &st.dev_major, &st.dev_minor);
        else if (ok && pli_eq(key, "rdev"))
            ok = parse_device(value, &st.rdev_major, &st.rdev_minor);
        else
            ok = ok && pli_eq(key, "access") && parse_access(value, &st);
        if (!ok)
            return false;
    }
    *out = st;
    return true;
}

void pli_stat_write(pli_buf *body, const pli_stat *st)
{
    const char *type = "other";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == st->type)
            type = types[i].name;
    (void)pli_buf_addz(body, type);
    if (st->size)
        (void)pli_buf_printf(body, " size=%llu", (unsigned long long)st->size);
    if (st->dev_major || st->dev_minor)
        (void)pli_buf_printf(body, " dev=%llu:%llu", (unsigned long long)st->dev_major,
                             (unsigned long long)st->dev_minor);
    if (st->rdev_major || st->rdev_minor)
        (void)pli_buf_printf(body, " rdev=%llu:%llu", (unsigned long long)st->rdev_major,
                             (unsigned long long)st->rdev_minor);
    if (st->readable || st->writable)
        (void)pli_buf_printf(body, " access=%s%s", st->readable ? "r" : "",
                             st->writable ? "w" : "");
    (void)pli_buf_addz(body, "\n");
}

/* ---- facts, registers, isolation ------------------------------------------------------------- */

static const struct {
    const char *name;
    pli_os os;
} systems[] = {
    {"linux", PLI_OS_LINUX},
    {"darwin", PLI_OS_DARWIN},
    {"windows", PLI_OS_WINDOWS},
    {"other", PLI_OS_OTHER},
};

static bool parse_os(pli_str name, pli_os *out)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (pli_eq(name, systems[i].name)) {
            *out = systems[i].os;
            return true;
        }
    return false;
}

static bool parse_fact(pli_str key, pli_str value, pli_facts *facts)
{
    if (pli_eq(key, "os"))
        return parse_os(value, &facts->os);
    if (pli_eq(key, "arch"))
        return pli_clean(value, facts->arch, sizeof facts->arch) == value.n;
    if (pli_eq(key, "page_size"))
        return pli_parse_u64(value, &facts->page_size);
    if (pli_eq(key, "cpus"))
        return pli_parse_u64(value, &facts->cpus);
    if (pli_eq(key, "pid"))
        return pli_parse_u64(value, &facts->pid);
    return pli_eq(key, "uid") && pli_parse_u64(value, &facts->uid);
}

bool pli_facts_parse(pli_str body, pli_facts *out)
{
    pli_str line, key, value;
    pli_facts facts = {.os = PLI_OS_LINUX};
    while (pli_next_line(&body, &line))
        if (pli_trim(line).n &&
            (!pli_key_value(line, '=', &key, &value) || !parse_fact(key, value, &facts)))
            return false;
    *out = facts;
    return true;
}

void pli_facts_write(pli_buf *body, const pli_facts *facts)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].os == facts->os)
            (void)pli_buf_printf(body, "os=%s\n", systems[i].name);
    if (facts->arch[0])
        (void)pli_buf_printf(body, "arch=%s\n", facts->arch);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"page_size", facts->page_size},
                   {"cpus", facts->cpus},
                   {"pid", facts->pid},
                   {"uid", facts->uid}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value)
            (void)pli_buf_printf(body, "%s=%llu\n", numbers[i].name,
                                 (unsigned long long)numbers[i].value);
}

bool pli_cpuid_parse(pli_str body, uint32_t out[4])
{
    pli_str line, word;
    uint64_t v;
    if (!pli_next_line(&body, &line))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!pli_next_word(&line, &word) || !pli_parse_hex(word, &v) || v > UINT32_MAX)
            return false;
        out[i] = (uint32_t)v;
    }
    return !pli_next_word(&line, &word);
}

bool pli_isolation_parse(pli_str body, pli_isolation *out)
{
    pli_isolation end = {.status = PLIM_OK};
    pli_str line, key, value;
    uint64_t number;
    while (pli_next_line(&body, &line)) {
        if (!pli_trim(line).n)
            continue;
        if (!pli_key_value(line, '=', &key, &value))
            return false;
        if (pli_eq(key, "last_call"))
            (void)pli_clean(value, end.last_call, sizeof end.last_call);
        else if (!pli_parse_u64(value, &number))
            return false;
        else if (pli_eq(key, "signal") && number < 256)
            end.signal = (int)number;
        else if (pli_eq(key, "exit") && number < 256)
            end.exit_status = (int)number;
        else if (pli_eq(key, "elapsed_us"))
            end.elapsed_us = number;
        else
            return false;
    }
    *out = end;
    return true;
}

void pli_isolation_write(pli_buf *body, const pli_isolation *end)
{
    if (end->last_call[0])
        (void)pli_buf_printf(body, "last_call=%s\n", end->last_call);
    (void)pli_buf_printf(body, "signal=%d\nexit=%d\nelapsed_us=%llu\n", end->signal,
                         end->exit_status, (unsigned long long)end->elapsed_us);
}

/* ---- whole entries --------------------------------------------------------------------------- */

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

static void add_hex_body(pli_buf *out, pli_str body)
{
    size_t zeros = trailing_zeros((const unsigned char *)body.p, body.n);
    if (zeros < HEX_WIDTH)
        zeros = 0;
    for (size_t at = 0; at < body.n - zeros; at += HEX_WIDTH) {
        size_t left = body.n - zeros - at;
        encode_hex(out, (const unsigned char *)body.p + at, left < HEX_WIDTH ? left : HEX_WIDTH);
        (void)pli_buf_addz(out, "\n");
    }
    if (zeros) {
        encode_zeros(out, zeros, "");
        (void)pli_buf_addz(out, "\n");
    }
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
        add_hex_body(out, body);
    } else {
        (void)pli_buf_add(out, body.p, body.n);
        if (open)
            (void)pli_buf_addz(out, "\n");
    }
    return question;
}
