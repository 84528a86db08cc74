/* A recorded machine as text: the grammar of plimsoll-machine(5), read and written here and nowhere
 * else. An archive is a sorted index over entries; text.c serves a machine's operations from it,
 * record.c writes one.
 *
 *   -- KIND ARGUMENT... [ATTRIBUTE...] --
 *   body, up to the next line that starts with "-- "
 *
 * Entries of the same kind and arguments are a series: the first answers the first question, the
 * second the next one, the last one all later ones. */
#ifndef PLI_ARCHIVE_H
#define PLI_ARCHIVE_H

#include "machine.h"

/* Attributes: trailing words of a header. */
enum {
    PLI_ATTR_RC = 1,     /* rc=N or rc=missing: what a call returned */
    PLI_ATTR_EXIT = 2,   /* exit=N: of a tool */
    PLI_ATTR_FAILED = 4, /* failed=STATUS: the operation failed with this status */
    PLI_ATTR_BYTES = 8,  /* hex, nonl: the body may hold any bytes */
};

/* Every kind, one row: its name in the text, least and most arguments, attributes. The first five
 * are about a path and share one key space. */
#define PLI_KIND_MAP(X)                                                                            \
    X(FILE, "file", 1, 1, PLI_ATTR_FAILED | PLI_ATTR_BYTES)                                        \
    X(LINK, "link", 1, 1, PLI_ATTR_FAILED | PLI_ATTR_BYTES)                                        \
    X(DIR, "dir", 1, 1, PLI_ATTR_FAILED)                                                           \
    X(STAT, "stat", 1, 1, PLI_ATTR_FAILED)                                                         \
    X(DENIED, "denied", 1, 1, 0)                                                                   \
    X(VERSION, "plimsoll", 1, 1, 0)                                                                \
    X(FACTS, "facts", 0, 0, 0)                                                                     \
    X(ENV, "env", 1, 1, PLI_ATTR_BYTES)                                                            \
    X(CLOCK, "clock", 0, 0, 0)                                                                     \
    X(LIB, "lib", 1, 1, PLI_ATTR_FAILED)                                                           \
    X(CALL, "call", 2, 2, PLI_ATTR_RC)                                                             \
    X(RUN, "run", 1, 60, PLI_ATTR_EXIT | PLI_ATTR_FAILED | PLI_ATTR_BYTES)                         \
    X(STDERR, "stderr", 1, 60, PLI_ATTR_BYTES)                                                     \
    X(QUERY, "query", 2, 3, PLI_ATTR_FAILED | PLI_ATTR_BYTES)                                      \
    X(CPUID, "cpuid", 2, 2, 0)                                                                     \
    X(ISOLATED, "isolated", 1, 1, PLI_ATTR_FAILED)

typedef enum pli_kind {
#define X(id, name, least, most, attributes) PLI_KIND_##id,
    PLI_KIND_MAP(X)
#undef X
        PLI_KIND_COUNT
} pli_kind;

typedef struct pli_entry {
    pli_str key;  /* the one argument as it is; several as pli_key_add() joins them */
    pli_str body; /* as it stands in the text */
    pli_kind kind;
    uint32_t order;     /* among all entries of the text */
    uint32_t next;      /* in the first of a series: which one answers the next question */
    int32_t value;      /* of rc= or exit= */
    plim_status failed; /* of failed=, else OK */
    bool hex, nonl;
    const char *text; /* content as a C string, once somebody asked for it that way */
} pli_entry;

typedef struct pli_archive {
    pli_arena *arena;
    pli_entry *entries; /* sorted by key */
    size_t count;
    bool has_links;
} pli_archive;

/* text is copied. PARSE (VERSION, LIMIT, NOMEM) with the offset of the entry that is wrong. What
 * was read is checked: bodies that are not files' contents have the shape that their kind asks. */
plim_status pli_archive_parse(pli_archive *, const plim_allocator *, pli_str text, const char *name,
                              plim_error *);
void pli_archive_free(pli_archive *);

/* First of the series, NULL when there is none. */
pli_entry *pli_archive_find(const pli_archive *, pli_kind, pli_str key);
/* The one that answers now; the series moves on. */
pli_entry *pli_archive_serve(const pli_archive *, pli_kind, pli_str key);
/* Index of the first entry about a path that is not before `path` in byte order. */
size_t pli_archive_lower_bound(const pli_archive *, pli_str path);
bool pli_kind_is_path(pli_kind);

/* The same for paths, also through links (archive_path.c). */
pli_entry *pli_archive_serve_path(const pli_archive *, pli_kind, const char *path);
bool pli_archive_has_path(const pli_archive *, pli_kind, const char *path);
/* Is there a file (then *file is the first of its series) or a directory? */
bool pli_archive_locate(const pli_archive *, const char *path, pli_entry **file);
/* The names that other entries' paths imply in a directory. */
plim_status pli_archive_list_implied(const pli_archive *, const char *path, pli_arena *,
                                     pli_names *out);
/* The names that a directory's own entry holds. */
plim_status pli_entry_names(const pli_entry *, pli_arena *, pli_names *out);

bool pli_is_attribute(pli_str word); /* is it spelt like one? */
/* An argument or a name in a directory as it is meant: \ooo is a byte, \e nothing at all. */
pli_str pli_unescape(pli_arena *, pli_str word);

/* The entry's content, decoded, appended to out. */
plim_status pli_entry_content(const pli_entry *, pli_buf *out);
uint64_t pli_entry_size(const pli_entry *);
/* The content without its last line end, for entries of one value; NULL when out of memory. */
const char *pli_entry_text(const pli_archive *, pli_entry *);
/* Body of a stat entry; false when malformed. Of a facts entry likewise. */
bool pli_stat_parse(pli_str body, pli_stat *out);
bool pli_facts_parse(pli_str body, pli_facts *out);
/* Four registers in hex. */
bool pli_cpuid_parse(pli_str body, uint32_t out[4]);
/* How an isolated job ended, without its status. */
bool pli_isolation_parse(pli_str body, pli_isolation *out);

/* ---- writing --------------------------------------------------------------------------------- */

/* Appends one argument, escaped, behind a blank unless key is empty. */
void pli_key_add(pli_buf *key, pli_str argument);
void pli_query_input(pli_buf *key, const void *in, size_t in_size); /* its third argument */
void pli_cpuid_key(uint32_t leaf, uint32_t sub, char key[32]);
/* Appends a whole entry. words: the arguments as pli_key_add() wrote them; attribute: "rc=0" or
 * NULL. The body is written as text where it is that, else in hex. Returns how many bytes of the
 * entry, from its start, are kind and arguments. */
size_t pli_entry_write(pli_buf *out, pli_kind, pli_str words, const char *attribute, pli_str body);
void pli_stat_write(pli_buf *body, const pli_stat *);
void pli_facts_write(pli_buf *body, const pli_facts *);
void pli_isolation_write(pli_buf *body, const pli_isolation *);

/* Bytes as words: pairs of hex digits, "text", +N for N zero bytes. On one line, or as a body of
 * several. */
void pli_bytes_encode(pli_buf *out, const void *bytes, size_t n);
void pli_bytes_encode_body(pli_buf *out, const void *bytes, size_t n);
/* Writes at most cap bytes and tells in *n how many there are; false when malformed. out may be
 * NULL. */
bool pli_bytes_decode(pli_str words, void *out, size_t cap, size_t *n);

#endif
