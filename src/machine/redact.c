#include "redact.h"

#include <string.h>

#include "../base/limits.h"
#include "live.h"
#include "token.h"

#define MAX_NAMES 4 /* names of the host that are looked for everywhere */
#define MAX_NAME 256

struct pli_redactor {
    plim_allocator allocator;
    pli_salt salt;
    char names[MAX_NAMES][MAX_NAME]; /* longest first */
    size_t count;
};

enum mode { TEXT, HOST, HEX, NUMBER, SUFFIX, BYTES };

struct row {
    const char *name;
    enum mode mode;
    size_t offset, size;
};

#define FILE_ROW(path, mode)
#define LINE_ROW(key, mode)
#define ENV_ROW(name, mode)
#define CALL_ROW(name, mode, offset, size)
#define NONE_ROW(value)
#define COMMON_ROW(name)

static const struct row file_rows[] = {
#undef FILE_ROW
#define FILE_ROW(path, mode) {path, mode, 0, 0},
#include "redact.def"
#undef FILE_ROW
#define FILE_ROW(path, mode)
};

static const struct row line_rows[] = {
#undef LINE_ROW
#define LINE_ROW(key, mode) {key, mode, 0, 0},
#include "redact.def"
#undef LINE_ROW
#define LINE_ROW(key, mode)
};

static const struct row env_rows[] = {
#undef ENV_ROW
#define ENV_ROW(name, mode) {name, mode, 0, 0},
#include "redact.def"
#undef ENV_ROW
#define ENV_ROW(name, mode)
};

static const struct row call_rows[] = {
#undef CALL_ROW
#define CALL_ROW(name, mode, offset, size) {name, mode, offset, size},
#include "redact.def"
#undef CALL_ROW
#define CALL_ROW(name, mode, offset, size)
};

static const char *const none_values[] = {
#undef NONE_ROW
#define NONE_ROW(value) value,
#include "redact.def"
#undef NONE_ROW
#define NONE_ROW(value)
};

static const char *const common_names[] = {
#undef COMMON_ROW
#define COMMON_ROW(name) name,
#include "redact.def"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- characters ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

static bool is_word(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool same_nocase(const char *text, size_t n, const char *word)
{
    size_t i = 0;
    while (i < n && word[i] && lower(text[i]) == word[i])
        i++;
    return i == n && word[i] == '\0';
}

/* ---- values that are said to be identities --------------------------------------------------- */

static void redact_host(const pli_redactor *r, char *value, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && value[end] != '.';)
            end++;
        pli_token_text(&r->salt, value + at, end - at);
    }
}

static void redact_suffix(const pli_redactor *r, char *value, size_t n)
{
    size_t at = 0;
    while (at < n && value[at] != '.' && value[at] != '-' && value[at] != ':')
        at++;
    at = at < n ? at + 1 : 0;
    pli_token_text(&r->salt, value + at, n - at);
}

static void redact_number(const pli_redactor *r, char *value, size_t n, bool hex)
{
    if (n > 2 && value[0] == '0' && lower(value[1]) == 'x')
        redact_number(r, value + 2, n - 2, true);
    else if (!pli_token_number(&r->salt, value, n, hex))
        pli_token_text(&r->salt, value, n);
}

/* The whole value, but for blanks and quotes around it. */
static void redact_value(const pli_redactor *r, enum mode mode, char *value, size_t n)
{
    while (n && !is_word(value[0]) && value[0] != '[' && value[0] != '(') {
        value++;
        n--;
    }
    while (n && !is_word(value[n - 1]) && value[n - 1] != ']' && value[n - 1] != ')' &&
           value[n - 1] != '.')
        n--;
    for (size_t i = 0; i < COUNT(none_values); i++)
        if (same_nocase(value, n, none_values[i]))
            return;
    if (mode == HOST)
        redact_host(r, value, n);
    else if (mode == SUFFIX)
        redact_suffix(r, value, n);
    else if (mode == HEX || mode == NUMBER)
        redact_number(r, value, n, mode == HEX);
    else
        pli_token_text(&r->salt, value, n);
}

/* Length of the key with which this line starts and what follows it up to the value; 0 without. */
static size_t skip_key(const char *line, size_t n, const char *key)
{
    size_t start = 0, length = strlen(key);
    while (start < n && (line[start] == ' ' || line[start] == '\t' || line[start] == '"'))
        start++;
    if (n - start <= length || !same_nocase(line + start, length, key))
        return 0;
    size_t at = start + length;
    while (at < n && strchr(" \t\":=", line[at]) && line[at] != '\0')
        at++;
    return at > start + length ? at : 0;
}

static void redact_lines(const pli_redactor *r, char *text, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        const char *newline = memchr(text + at, '\n', n - at);
        end = newline ? (size_t)(newline - text) : n;
        for (size_t i = 0; i < COUNT(line_rows); i++) {
            size_t skip = skip_key(text + at, end - at, line_rows[i].name);
            if (skip)
                redact_value(r, line_rows[i].mode, text + at + skip, end - at - skip);
        }
    }
}

/* ---- identities with a shape ----------------------------------------------------------------- */

/* 8-4-4-4-12 hex digits; Kubernetes writes them with underscores too. */
static size_t uuid_length(const char *text, size_t n)
{
    static const unsigned char breaks[] = {8, 13, 18, 23};
    size_t next = 0;
    if (n < 36 || (text[8] != '-' && text[8] != '_') || (n > 36 && is_hex(text[36])))
        return 0;
    for (size_t i = 0; i < 36; i++) {
        bool separator = next < COUNT(breaks) && i == breaks[next];
        if (separator ? text[i] != text[8] : !is_hex(text[i]))
            return 0;
        next += separator;
    }
    return 36;
}

/* Six pairs of hex digits or more (InfiniBand: 20) with colons between them. */
static size_t mac_length(const char *text, size_t n)
{
    size_t pairs = 0, at = 0;
    while (n - at >= 2 && is_hex(text[at]) && is_hex(text[at + 1])) {
        pairs++;
        at += 2;
        if (n - at < 3 || text[at] != ':' || !is_hex(text[at + 1]) || !is_hex(text[at + 2]))
            break;
        at++;
    }
    return pairs >= 6 && (at == n || (!is_word(text[at]) && text[at] != ':')) ? at : 0;
}

/* 32 or 64 hex digits that are no pattern: machine and container ids. */
static size_t long_id_length(const char *text, size_t n)
{
    unsigned seen = 0;
    size_t at = 0, distinct = 0;
    for (; at < n && is_hex(text[at]); at++) {
        unsigned bit = 1u << (is_digit(text[at]) ? text[at] - '0' : lower(text[at]) - 'a' + 10);
        distinct += !(seen & bit);
        seen |= bit;
    }
    bool whole = at == n || !is_word(text[at]);
    return whole && distinct >= 6 && (at == 32 || at == 64) ? at : 0;
}

/* "GPU-" and 16 hex digits: how AMD's tools write a unique_id. */
static size_t amd_id_length(const char *text, size_t n)
{
    if (n < 20 || memcmp(text, "GPU-", 4) != 0 || (n > 20 && is_word(text[20])))
        return 0;
    for (size_t i = 4; i < 20; i++)
        if (!is_hex(text[i]) || text[i] == '-')
            return 0;
    return 20;
}

static size_t host_length(const pli_redactor *r, const char *text, size_t n)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t length = strlen(r->names[i]);
        if (length <= n && memcmp(text, r->names[i], length) == 0 &&
            (length == n || (!is_word(text[length]) && text[length] != '-' && text[length] != '_')))
            return length;
    }
    return 0;
}

/* Replaces what starts here; returns its length, 0 when nothing does. */
static size_t redact_here(const pli_redactor *r, char *text, size_t n, char before)
{
    bool start = !is_word(before);
    size_t length = is_hex(text[0]) ? uuid_length(text, n) : 0;
    if (!length && start && before != ':' && is_hex(text[0]))
        length = mac_length(text, n);
    if (!length && start && is_hex(text[0]))
        length = long_id_length(text, n);
    if (length) {
        pli_token_hex_id(&r->salt, text, length);
        return length;
    }
    if (start && text[0] == 'G' && (length = amd_id_length(text, n)) != 0) {
        (void)pli_token_number(&r->salt, text + 4, length - 4, true);
        return length;
    }
    if (start && before != '-' && before != '_' && (length = host_length(r, text, n)) != 0)
        redact_host(r, text, length);
    return length;
}

static void redact_shapes(const pli_redactor *r, char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t length = redact_here(r, text + at, n - at, at ? text[at - 1] : '\0');
        at += length ? length : 1;
    }
}

/* ---- by subject ------------------------------------------------------------------------------ */

static const struct row *find_row(const struct row *rows, size_t count, const char *name,
                                  bool suffix)
{
    for (size_t i = 0; i < count; i++)
        if (suffix ? pli_ends(pli_s(name), rows[i].name) : strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void redact_output(const pli_redactor *r, const struct row *row, unsigned char *bytes,
                          size_t n)
{
    size_t offset = row->offset < n ? row->offset : n, size = n - offset;
    if (row->size && row->size < size)
        size = row->size;
    if (row->mode == BYTES)
        pli_token_bytes(&r->salt, bytes + offset, size);
    else
        redact_value(r, row->mode, (char *)bytes + offset, pli_field_str(bytes + offset, size).n);
}

void pli_redact(const pli_redactor *r, pli_subject what, const char *subject, void *bytes, size_t n)
{
    const struct row *row = NULL;
    if (!r || n == 0)
        return;
    if (what == PLI_SUBJECT_FILE)
        row = find_row(file_rows, COUNT(file_rows), subject, true);
    else if (what == PLI_SUBJECT_ENV)
        row = find_row(env_rows, COUNT(env_rows), subject, false);
    else if (what == PLI_SUBJECT_OUTPUT)
        row = find_row(call_rows, COUNT(call_rows), subject, false);
    if (row) {
        redact_output(r, row, bytes, n);
        return;
    }
    if (what == PLI_SUBJECT_FILE || what == PLI_SUBJECT_TEXT)
        redact_lines(r, bytes, n);
    redact_shapes(r, bytes, n);
}

/* ---- making one ------------------------------------------------------------------------------ */

static bool is_common(const char *name)
{
    size_t n = strlen(name);
    while (n && is_digit(name[n - 1]))
        n--;
    if (n == 0) /* a number cannot be told from the others in a recording, its own version first */
        return true;
    for (size_t i = 0; i < COUNT(common_names); i++)
        if (same_nocase(name, n, common_names[i]))
            return true;
    return false;
}

static void add_name(pli_redactor *r, pli_str name)
{
    name = pli_trim(pli_field_str(name.p, name.n));
    if (name.n < 3 || name.n >= MAX_NAME || r->count == MAX_NAMES)
        return;
    char *copy = r->names[r->count];
    memcpy(copy, name.p, name.n);
    copy[name.n] = '\0';
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(copy, r->names[i]) == 0)
            return;
    if (!is_common(copy))
        r->count++;
}

/* The name as it is, and its first label. */
static void add_host(pli_redactor *r, pli_str name)
{
    pli_str label = name;
    (void)pli_next_part(&name, '.', &label);
    if (name.p) {
        pli_str whole = {label.p, label.n + 1 + name.n};
        add_name(r, whole);
    }
    add_name(r, label);
}

static void ask_names(pli_redactor *r, pli_machine *m)
{
    static const char *const files[] = {"/proc/sys/kernel/hostname", "/etc/hostname"};
    const char *name = m->ops->env(m, "HOSTNAME");
    pli_buf text;
    pli_buf_init(&text, &r->allocator, PLI_MAX_PATH);
    for (size_t i = 0; i < COUNT(files); i++) {
        pli_buf_reset(&text);
        if (m->ops->read(m, files[i], &text) == PLIM_OK)
            add_host(r, pli_trim(pli_buf_str(&text)));
    }
    if (name)
        add_host(r, pli_s(name));
    pli_buf_free(&text);
}

pli_redactor *pli_redactor_new(const plim_allocator *allocator, pli_machine *m)
{
    pli_redactor *r = pli_hook_resize(allocator, NULL, 0, sizeof *r);
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    if (allocator)
        r->allocator = *allocator;
    if (!pli_random_bytes(r->salt.bytes, sizeof r->salt.bytes)) {
        pli_redactor_free(r);
        return NULL;
    }
    ask_names(r, m);
    return r;
}

void pli_redactor_free(pli_redactor *r)
{
    if (!r)
        return;
    plim_allocator allocator = r->allocator;
    pli_hook_resize(&allocator, r, sizeof *r, 0);
}
