/* plimsoll/base.h: export macro, version, statuses, errors, allocator, readers and the table that
 * describes every result.
 *
 * C99 and C++ clean. All results are library-allocated, read-only and grow only at their end;
 * structs the caller allocates start with `size_t struct_size`. Sizes are bytes unless a name says
 * otherwise.
 */
#ifndef PLIMSOLL_BASE_H
#define PLIMSOLL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PLIM_STATIC) || !(defined(_WIN32) || defined(__GNUC__))
#define PLIM_API
#elif defined(_WIN32) && defined(PLIM_BUILD)
#define PLIM_API __declspec(dllexport)
#elif defined(_WIN32)
#define PLIM_API __declspec(dllimport)
#else
#define PLIM_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define PLIM_CHECK_RESULT __attribute__((warn_unused_result))
#define PLIM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PLIM_CHECK_RESULT
#define PLIM_PRINTF(fmt, args)
#endif

#define PLIM_VERSION_MAJOR 0
#define PLIM_VERSION_MINOR 1
#define PLIM_VERSION_PATCH 0
#define PLIM_VERSION_TEXT "0.1.0"

/** The library's version at run time, "MAJOR.MINOR.PATCH". Static text. */
PLIM_API const char *plim_version(void);

/* One list: code, name, text. Values are ABI. */
#define PLIM_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(INVALID, -2, "invalid argument")                                                             \
    X(NOT_FOUND, -3, "not found")                                                                  \
    X(UNSUPPORTED, -4, "not supported")                                                            \
    X(PERMISSION, -5, "permission denied")                                                         \
    X(TIMEOUT, -6, "timed out")                                                                    \
    X(IO, -7, "input/output error")                                                                \
    X(PARSE, -8, "malformed input")                                                                \
    X(LIMIT, -9, "limit exceeded")                                                                 \
    X(VERSION, -10, "unsupported version")                                                         \
    X(BUSY, -11, "busy")                                                                           \
    X(NO_DEVICE, -12, "no such device")                                                            \
    X(CRASHED, -13, "crashed")                                                                     \
    X(INTERNAL, -14, "internal error")

typedef enum plim_status {
#define X(name, code, text) PLIM_##name = (code),
    PLIM_STATUS_MAP(X)
#undef X
} plim_status;

/** Short name of a status ("NOT_FOUND"), or "?" for a value that is none. Static text. */
PLIM_API const char *plim_status_name(plim_status status);
/** English text of a status ("not found"), or "unknown status". Static text. */
PLIM_API const char *plim_status_text(plim_status status);

/** What was wrong with an input, where. Caller-allocated: `plim_error e = PLIM_ERROR_INIT;`. */
typedef struct plim_error {
    size_t struct_size;
    plim_status status;
    uint64_t offset;   /* byte offset in `subject`; PLIM_NO_OFFSET where there is none */
    char subject[512]; /* file or argument; a long one keeps its end */
    char what[256];    /* what was wrong, one sentence without a full stop */
} plim_error;
#define PLIM_NO_OFFSET UINT64_MAX
/* clang-format off */
#define PLIM_ERROR_INIT {sizeof(plim_error), PLIM_OK, PLIM_NO_OFFSET, "", ""}
/* clang-format on */

/** "subject: at byte N: what" into buf (always terminated). Returns buf. */
PLIM_API const char *plim_error_text(const plim_error *error, char *buf, size_t size);

/** One function for all memory: resize `ptr` from old_size to new_size; ptr NULL allocates,
 *  new_size 0 frees and returns NULL. */
typedef void *(*plim_alloc_fn)(void *user, void *ptr, size_t old_size, size_t new_size);
typedef struct plim_allocator {
    plim_alloc_fn fn; /* NULL: malloc, realloc, free */
    void *user;
} plim_allocator;

/** Random access input: a file, memory, an HTTP range, a decoder. Thread safety is the
 *  implementer's. */
typedef struct plim_reader {
    size_t struct_size;
    const char *name; /* for messages */
    uint64_t size;    /* bytes in all */
    void *user;
    /* Up to n bytes at offset into buf; *got < n only at the end of the input. */
    plim_status (*read)(void *user, uint64_t offset, void *buf, size_t n, size_t *got);
} plim_reader;

/** Where the files of one model are found by name: a server, an archive. */
typedef struct plim_files {
    size_t struct_size;
    void *user;
    /* A reader of the file called `name`, which may be freed after the call. On failure *error (may
     * be NULL) says why, and close is not called. */
    plim_status (*open)(void *user, const char *name, plim_reader *out, plim_error *error);
    void (*close)(void *user, plim_reader *reader);
} plim_files;

/* ---- results describe themselves: one row per field (fields_*.def) --------------------------- */

/* values are ABI */
typedef enum plim_type {
    PLIM_TYPE_STR = 0, /* const char *, UTF-8 */
    PLIM_TYPE_U64 = 1,
    PLIM_TYPE_I64 = 2,
    PLIM_TYPE_F64 = 3,
    PLIM_TYPE_BOOL = 4,
    PLIM_TYPE_STRS = 5,    /* plim_strs */
    PLIM_TYPE_U64S = 6,    /* plim_u64s */
    PLIM_TYPE_COUNTS = 7,  /* plim_counts: a map from name to number */
    PLIM_TYPE_RECORD = 8,  /* const struct *, NULL where unknown */
    PLIM_TYPE_RECORDS = 9, /* plim_items */
} plim_type;

/* values are ABI */
typedef enum plim_unit {
    PLIM_UNIT_NONE = 0,
    PLIM_UNIT_BYTES = 1,
    PLIM_UNIT_BYTES_PER_S = 2,
    PLIM_UNIT_COUNT = 3,
    PLIM_UNIT_PERCENT = 4,
    PLIM_UNIT_CELSIUS = 5,
    PLIM_UNIT_WATT = 6,
    PLIM_UNIT_MHZ = 7,
    PLIM_UNIT_KHZ = 8,
    PLIM_UNIT_US = 9,
    PLIM_UNIT_RATIO = 10,
} plim_unit;

typedef struct plim_strs {
    const char *const *items;
    size_t count;
} plim_strs;
typedef struct plim_u64s {
    const uint64_t *items;
    size_t count;
} plim_u64s;
typedef struct plim_count {
    const char *name;
    uint64_t value;
} plim_count;
typedef struct plim_counts {
    const plim_count *items;
    size_t count;
} plim_counts;
/* items[i] points to the record struct that the row names */
typedef struct plim_items {
    const void *const *items;
    size_t count;
} plim_items;

/** First member of every record: which fields are known, and who said them. Unknown is not zero. */
typedef struct plim_head {
    uint64_t known[2];
    /* per field: "nvml", "sysfs", "table" ...; NULL entries for unknown fields */
    const char *const *source;
} plim_head;

struct plim_record;
/** One row: a fact, its place in the struct and in JSON. */
typedef struct plim_field {
    const char *key;    /* JSON path inside the record, dots nest: "memory.total_bytes" */
    const char *member; /* name of the struct member */
    const char *help;
    plim_type type;
    plim_unit unit;
    size_t offset;
    const struct plim_record *record; /* of RECORD and RECORDS */
} plim_field;

typedef struct plim_record {
    const char *name;
    size_t size; /* of the struct */
    size_t field_count;
    const plim_field *fields;
} plim_record;

/** Is field number `field` of this record known? */
static inline bool plim_known(const plim_head *head, unsigned field)
{
    return head && field < 128 && ((head->known[field / 64] >> (field % 64)) & 1) != 0;
}
/** PLIM_KNOWN(device, d, memory_total_bytes) */
#define PLIM_KNOWN(record, ptr, member) plim_known(&(ptr)->head, PLIM_F_##record##_##member)

/** The field with this JSON path, or NULL. Static. */
PLIM_API const plim_field *plim_record_find(const plim_record *record, const char *key);
/** A known scalar or list of scalars as text ("23.5 GiB", "0-7", "avx2 fma"), the items of a list
 *  behind blanks; false for a record and for what is empty. Always terminated. */
PLIM_API bool plim_field_text(const plim_field *field, const void *record, char *buf, size_t size);
/** Number of bytes as text: "23.50 GiB", "512.0 MiB", "17 B". Always terminated. Returns buf. */
PLIM_API const char *plim_bytes_text(uint64_t bytes, char *buf, size_t size);
/** "24GiB", "24576MiB", "1.5 TiB", "1024": a number of bytes, 1024-based in every spelling. False:
 *  it is none, or has no place in 64 bits; *bytes is left alone. */
PLIM_API bool plim_bytes_parse(const char *text, uint64_t *bytes);

/* Flags of the functions that write a result as JSON. */
#define PLIM_JSON_PRETTY 1u  /* indent by 2 */
#define PLIM_JSON_SOURCES 2u /* "sources" in every record, not in devices alone */

/** Any record as a JSON object, NUL-terminated; *length (may be NULL) without the NUL. Unknown
 *  fields are absent. Freed with plim_text_free(). Errors: NOMEM. */
PLIM_API plim_status plim_record_to_json(const plim_record *record, const void *r, unsigned flags,
                                         char **text, size_t *length) PLIM_CHECK_RESULT;

/** Frees text that the library returned (JSON documents, recordings). NULL is allowed. */
PLIM_API void plim_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
