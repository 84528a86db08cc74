#include "archive.h"

#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"

#define MAX_WORDS 64u /* of one header */

static const struct kind {
    const char *name;
    unsigned least, most; /* arguments */
    unsigned attributes;
} kinds[PLI_KIND_COUNT] = {
#define X(id, name, least, most, attributes) {name, least, most, attributes},
    PLI_KIND_MAP(X)
#undef X
};

bool pli_kind_is_path(pli_kind kind)
{
    return kind <= PLI_KIND_DENIED;
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Entries about one path stand together, whatever their kind. */
static int group_of(pli_kind kind)
{
    return pli_kind_is_path(kind) ? 0 : (int)kind;
}

static int compare_bytes(pli_str a, pli_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_to(const pli_entry *e, pli_kind kind, pli_str key)
{
    int order = group_of(e->kind) - group_of(kind);
    if (!order)
        order = compare_bytes(e->key, key);
    return order ? order : (int)e->kind - (int)kind;
}

static int compare_entries(const void *a, const void *b)
{
    const pli_entry *x = a, *y = b;
    int order = compare_to(x, y->kind, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static size_t lower_bound(const pli_archive *a, pli_kind kind, pli_str key)
{
    size_t low = 0, high = a->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_to(&a->entries[middle], kind, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pli_archive_lower_bound(const pli_archive *a, pli_str path)
{
    return lower_bound(a, (pli_kind)0, path);
}

pli_entry *pli_archive_find(const pli_archive *a, pli_kind kind, pli_str key)
{
    size_t at = lower_bound(a, kind, key);
    return at < a->count && compare_to(&a->entries[at], kind, key) == 0 ? &a->entries[at] : NULL;
}

pli_entry *pli_archive_serve(const pli_archive *a, pli_kind kind, pli_str key)
{
    pli_entry *first = pli_archive_find(a, kind, key);
    if (!first)
        return NULL;
    pli_entry *now = first + first->next, *after = now + 1;
    if (after < a->entries + a->count && compare_to(after, kind, key) == 0)
        first->next++;
    return now;
}

/* ---- headers --------------------------------------------------------------------------------- */

struct parser {
    pli_archive *archive;
    pli_str text; /* the copy */
    const char *name;
    plim_error *error;
    size_t at; /* of the entry being read */
};

struct header {
    pli_kind kind;
    pli_str words[MAX_WORDS];
    size_t count;
};

#define FAIL(p, ...) pli_fail((p)->error, PLIM_PARSE, (p)->name, (p)->at, __VA_ARGS__)

bool pli_is_attribute(pli_str word)
{
    return pli_eq(word, "hex") || pli_eq(word, "nonl") || pli_starts(word, "rc=") ||
           pli_starts(word, "exit=") || pli_starts(word, "failed=");
}

static bool status_of_name(pli_str name, plim_status *out)
{
#define X(id, code, text)                                                                          \
    if (pli_eq(name, #id)) {                                                                       \
        *out = PLIM_##id;                                                                          \
        return true;                                                                               \
    }
    PLIM_STATUS_MAP(X)
#undef X
    return false;
}

static bool parse_value(pli_str text, int32_t *out)
{
    int64_t v;
    if (pli_eq(text, "missing"))
        v = PLI_CALL_MISSING;
    else if (!pli_parse_i64(text, &v) || v < INT32_MIN || v > INT32_MAX)
        return false;
    *out = (int32_t)v;
    return true;
}

static bool take_attribute(pli_entry *e, pli_str word)
{
    unsigned allowed = kinds[e->kind].attributes;
    if (pli_eq(word, "hex"))
        return e->hex = (allowed & PLI_ATTR_BYTES) != 0;
    if (pli_eq(word, "nonl"))
        return e->nonl = (allowed & PLI_ATTR_BYTES) != 0;
    if (pli_starts(word, "rc="))
        return (allowed & PLI_ATTR_RC) && parse_value(pli_skip(word, 3), &e->value);
    if (pli_starts(word, "exit="))
        return (allowed & PLI_ATTR_EXIT) && parse_value(pli_skip(word, 5), &e->value);
    return (allowed & PLI_ATTR_FAILED) && status_of_name(pli_skip(word, 7), &e->failed) &&
           e->failed != PLIM_OK;
}

static bool kind_of_name(pli_str name, pli_kind *out)
{
    for (int i = 0; i < PLI_KIND_COUNT; i++)
        if (pli_eq(name, kinds[i].name)) {
            *out = (pli_kind)i;
            return true;
        }
    return false;
}

/* "-- KIND ARGUMENT... [ATTRIBUTE...] --": arguments to *h, attributes to *e. */
static plim_status parse_header(struct parser *p, pli_str line, struct header *h, pli_entry *e)
{
    pli_str rest = {line.p + 3, line.n - 6}, kind = {"", 0}, word;
    (void)pli_next_word(&rest, &kind);
    if (!kind_of_name(kind, &h->kind))
        return FAIL(p, "no such kind of entry: %.*s", (int)(kind.n < 40 ? kind.n : 40), kind.p);
    for (h->count = 0; pli_next_word(&rest, &word); h->words[h->count++] = word)
        if (h->count == MAX_WORDS)
            return FAIL(p, "more than %u words", MAX_WORDS);
    e->kind = h->kind;
    while (h->count && pli_is_attribute(h->words[h->count - 1]))
        if (!take_attribute(e, h->words[--h->count]))
            return FAIL(p, "\"%s\" cannot have this attribute, or not this value of it",
                        kinds[h->kind].name);
    if (h->count < kinds[h->kind].least || h->count > kinds[h->kind].most)
        return FAIL(p, "\"%s\" takes %u to %u arguments, here are %u", kinds[h->kind].name,
                    kinds[h->kind].least, kinds[h->kind].most, (unsigned)h->count);
    return PLIM_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool octal_escape(pli_str s, char *out)
{
    unsigned v = 0;
    if (s.n < 4 || s.p[0] != '\\')
        return false;
    for (size_t i = 1; i < 4; i++) {
        if (s.p[i] < '0' || s.p[i] > '7')
            return false;
        v = v * 8 + (unsigned)(s.p[i] - '0');
    }
    *out = (char)(unsigned char)v;
    return v > 0 && v < 256;
}

pli_str pli_unescape(pli_arena *arena, pli_str word)
{
    if (!word.n || !memchr(word.p, '\\', word.n))
        return word;
    if (pli_eq(word, "\\e"))
        return pli_s("");
    char *copy = pli_alloc(arena, word.n + 1);
    size_t n = 0;
    while (copy && word.n) {
        bool escaped = octal_escape(word, &copy[n]);
        if (!escaped)
            copy[n] = word.p[0];
        n++;
        word = pli_skip(word, escaped ? 4 : 1);
    }
    return (pli_str){copy ? copy : "", n};
}

/* A path is absolute; that an archive says ".." harms nobody: it names an entry of the archive. */
static plim_status make_path(struct parser *p, pli_str word, pli_entry *e)
{
    e->key = pli_unescape(p->archive->arena, word);
    if (e->key.n == 0 || e->key.p[0] != '/' || e->key.n >= PLI_MAX_PATH)
        return FAIL(p, "not an absolute path of less than %u bytes", PLI_MAX_PATH);
    return PLIM_OK;
}

static plim_status make_cpuid(struct parser *p, const struct header *h, pli_entry *e)
{
    uint64_t leaf, sub;
    if (!pli_parse_hex(h->words[0], &leaf) || !pli_parse_hex(h->words[1], &sub) ||
        leaf > UINT32_MAX || sub > UINT32_MAX)
        return FAIL(p, "leaf and subleaf are hex numbers of 32 bits");
    char key[32];
    pli_cpuid_key((uint32_t)leaf, (uint32_t)sub, key);
    e->key = pli_s(pli_strdup(p->archive->arena, key));
    return PLIM_OK;
}

/* Several arguments: written again, so that there is one spelling. */
static plim_status make_words(struct parser *p, const struct header *h, pli_entry *e)
{
    pli_arena *arena = p->archive->arena;
    pli_buf key;
    pli_buf_init(&key, pli_arena_allocator(arena), PLI_MAX_RECORDING);
    for (size_t i = 0; i < h->count; i++)
        pli_key_add(&key, pli_unescape(arena, h->words[i]));
    plim_status status = key.failed;
    if (status == PLIM_OK)
        e->key = (pli_str){pli_strndup(arena, pli_buf_str(&key)), key.n};
    pli_buf_free(&key);
    return status == PLIM_OK ? status : pli_fail(p->error, status, p->name, p->at, "key");
}

static plim_status make_key(struct parser *p, const struct header *h, pli_entry *e)
{
    if (pli_kind_is_path(h->kind))
        return make_path(p, h->words[0], e);
    if (h->kind == PLI_KIND_CPUID)
        return make_cpuid(p, h, e);
    if (kinds[h->kind].most > 1)
        return make_words(p, h, e);
    if (h->count)
        e->key = pli_unescape(p->archive->arena, h->words[0]);
    return PLIM_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static plim_status check_version(struct parser *p, const pli_entry *e)
{
    uint64_t version;
    if (!pli_parse_u64(e->key, &version))
        return FAIL(p, "the version is a number");
    if (version > 1)
        return pli_fail(p->error, PLIM_VERSION, p->name, p->at,
                        "written by a newer plimsoll: version %.*s of the format, 1 is understood",
                        (int)(e->key.n < 20 ? e->key.n : 20), e->key.p);
    return PLIM_OK;
}

static bool call_body_ok(pli_str body)
{
    size_t n;
    for (pli_str line; pli_next_line(&body, &line);)
        if (!pli_bytes_decode(line, NULL, 0, &n))
            return false;
    return true;
}

static bool dir_body_ok(pli_str body)
{
    for (pli_str line; pli_next_line(&body, &line);)
        if (line.n && memchr(line.p, '/', line.n))
            return false;
    return true;
}

static plim_status check_body(struct parser *p, const pli_entry *e)
{
    pli_stat stat;
    pli_facts facts;
    uint32_t registers[4];
    uint64_t ns;
    size_t n;
    if (e->hex && !pli_bytes_decode(e->body, NULL, 0, &n))
        return FAIL(p, "the body is not in hex");
    if (e->failed != PLIM_OK)
        return PLIM_OK;
    switch (e->kind) {
    case PLI_KIND_STAT:
        return pli_stat_parse(e->body, &stat) ? PLIM_OK : FAIL(p, "malformed stat entry");
    case PLI_KIND_FACTS:
        return pli_facts_parse(e->body, &facts) ? PLIM_OK : FAIL(p, "malformed facts");
    case PLI_KIND_CPUID:
        return pli_cpuid_parse(e->body, registers) ? PLIM_OK : FAIL(p, "not four registers in hex");
    case PLI_KIND_CALL:
        return call_body_ok(e->body) ? PLIM_OK : FAIL(p, "an output of the call is malformed");
    case PLI_KIND_DIR:
        return dir_body_ok(e->body) ? PLIM_OK : FAIL(p, "a name in a directory holds a slash");
    case PLI_KIND_CLOCK:
        return pli_parse_u64(e->body, &ns) ? PLIM_OK : FAIL(p, "a clock tells nanoseconds");
    case PLI_KIND_VERSION:
        return check_version(p, e);
    default:
        return PLIM_OK;
    }
}

/* ISOLATED entries carry their status as failed=, so that their body is checked here. */
static plim_status check_entry(struct parser *p, const pli_entry *e)
{
    pli_isolation isolation;
    if (e->kind == PLI_KIND_ISOLATED && e->failed == PLIM_OK)
        return FAIL(p, "an isolated job is written down only when it failed");
    if (e->kind == PLI_KIND_ISOLATED && !pli_isolation_parse(e->body, &isolation))
        return FAIL(p, "malformed end of an isolated job");
    return check_body(p, e);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Where the next line starts that begins with "-- ", at `at` or later; the end if there is none. */
static size_t next_header(pli_str text, size_t at)
{
    while (at < text.n) {
        if (text.n - at >= 3 && memcmp(text.p + at, "-- ", 3) == 0)
            return at;
        const char *end = memchr(text.p + at, '\n', text.n - at);
        at = end ? (size_t)(end - text.p) + 1 : text.n;
    }
    return at;
}

/* A comment "-- # ... --" is skipped with its body. */
static bool is_comment(pli_str line)
{
    return pli_starts(line, "-- # ") || pli_eq(line, "-- # --");
}

static plim_status store(struct parser *p, pli_entry *e)
{
    pli_archive *a = p->archive;
    if (a->count >= PLI_MAX_RECORD_ENTRIES)
        return pli_fail(p->error, PLIM_LIMIT, p->name, p->at, "more than %u entries",
                        PLI_MAX_RECORD_ENTRIES);
    a->entries = pli_grow_array(a->arena, a->entries, a->count, sizeof *a->entries);
    if (!a->entries || pli_arena_failed(a->arena))
        return pli_fail(p->error, PLIM_NOMEM, p->name, p->at, "out of memory");
    e->order = (uint32_t)a->count;
    a->entries[a->count++] = *e;
    a->has_links |= e->kind == PLI_KIND_LINK;
    return PLIM_OK;
}

/* One entry: its header line, its body from `body` to `end`. */
static plim_status parse_entry(struct parser *p, pli_str line, size_t body, size_t end)
{
    struct header h;
    pli_entry e = {.value = 0};
    h.count = 0;
    h.kind = PLI_KIND_FILE;
    if (line.n < 7 || !pli_ends(line, " --"))
        return FAIL(p, "a header ends in \" --\"; a body with a line that starts with \"-- \" is "
                       "written in hex");
    if (memchr(line.p, '\0', line.n))
        return FAIL(p, "a header holds a NUL");
    plim_status status = parse_header(p, line, &h, &e);
    if (status == PLIM_OK)
        status = make_key(p, &h, &e);
    if (status != PLIM_OK)
        return status;
    e.body = (pli_str){p->text.p + body, end - body};
    if (e.nonl && e.body.n && e.body.p[e.body.n - 1] == '\n')
        e.body.n--;
    status = check_entry(p, &e);
    return status == PLIM_OK ? store(p, &e) : status;
}

static plim_status parse_text(struct parser *p)
{
    bool any = false;
    for (size_t at = next_header(p->text, 0), end; at < p->text.n; at = end, any = true) {
        pli_str rest = pli_skip(p->text, at), line;
        (void)pli_next_line(&rest, &line);
        size_t body = p->text.n - (rest.p ? rest.n : 0);
        end = next_header(p->text, body);
        p->at = at;
        plim_status status = is_comment(line) ? PLIM_OK : parse_entry(p, line, body, end);
        if (status != PLIM_OK)
            return status;
    }
    if (!any)
        return pli_fail(p->error, PLIM_PARSE, p->name, 0, "not a recorded machine: no entry in it");
    return PLIM_OK;
}

/* The offset of the entry that is read is that of the error. */
static plim_status parse_all(struct parser *p)
{
    plim_status status = parse_text(p);
    if (status == PLIM_OK && pli_arena_failed(p->archive->arena))
        status = pli_fail(p->error, PLIM_NOMEM, p->name, p->at, "out of memory");
    return status;
}

plim_status pli_archive_parse(pli_archive *a, const plim_allocator *allocator, pli_str text,
                              const char *name, plim_error *error)
{
    *a = (pli_archive){.arena = NULL};
    if (text.n > PLI_MAX_RECORDING)
        return pli_fail(error, PLIM_LIMIT, name, PLIM_NO_OFFSET, "more than %u bytes",
                        PLI_MAX_RECORDING);
    a->arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    const char *copy = a->arena ? pli_strndup(a->arena, text) : NULL;
    if (!copy) {
        pli_archive_free(a);
        return pli_fail(error, PLIM_NOMEM, name, PLIM_NO_OFFSET, "out of memory");
    }
    struct parser p = {.archive = a, .text = {copy, text.n}, .name = name, .error = error};
    plim_status status = parse_all(&p);
    if (status != PLIM_OK)
        pli_archive_free(a);
    else if (a->count)
        qsort(a->entries, a->count, sizeof *a->entries, compare_entries);
    return status;
}

void pli_archive_free(pli_archive *a)
{
    pli_arena_free(a->arena);
    *a = (pli_archive){.arena = NULL};
}
