/* The seam. A probe never touches the operating system: it is given a pli_machine and asks. The
 * same code runs live, on a directory tree (--root), on a recording (.machine file), on fuzzer
 * bytes.
 *
 * Paths are absolute and POSIX-like. Every operation answers with a status; NOT_FOUND is the
 * ordinary answer for what is absent. Nothing here knows what a GPU is: that is the probes'
 * business. One machine is used by one thread at a time.
 */
#ifndef PLI_MACHINE_H
#define PLI_MACHINE_H

#include <plimsoll/base.h>

#include "../base/arena.h"
#include "../base/buf.h"

typedef struct pli_machine pli_machine;

/* a set where a probe row names the systems it is for */
typedef enum pli_os {
    PLI_OS_LINUX = 1,
    PLI_OS_DARWIN = 2,
    PLI_OS_WINDOWS = 4,
    PLI_OS_OTHER = 8,
    PLI_OS_ANY = 15,
} pli_os;

/* Run-time values; 0 and "" where unknown (a tree under --root knows none but os). */
typedef struct pli_facts {
    pli_os os;
    char arch[32]; /* uname's machine */
    uint64_t page_size;
    uint64_t cpus; /* online, as the C library counts */
    uint64_t pid, uid;
} pli_facts;

typedef enum pli_file_type {
    PLI_FILE_OTHER,
    PLI_FILE_REGULAR,
    PLI_FILE_DIRECTORY,
    PLI_FILE_CHAR,
    PLI_FILE_BLOCK
} pli_file_type;
/* links are followed */
typedef struct pli_stat {
    pli_file_type type;
    uint64_t size;
    uint64_t dev_major, dev_minor;   /* device that holds it */
    uint64_t rdev_major, rdev_minor; /* device that it is */
    bool readable, writable;         /* by this process */
} pli_stat;

/* names in a directory, without . and .. , in natural order: cpu2 before cpu10 */
typedef struct pli_names {
    char **items;
    size_t count;
} pli_names;

typedef struct pli_run {
    int exit_status; /* of the tool; 128 + signal when it was killed */
    /* made by the caller with pli_buf_init(); output beyond the cap is dropped and sets
     * buf.failed */
    pli_buf out, err;
} pli_run;

/* ---- vendor libraries ------------------------------------------------------------------------ */

typedef void (*pli_symbol)(void); /* cast to the true type by the binding */
typedef struct pli_lib_symbol {
    const char *name;
    bool required;
} pli_lib_symbol;
/* one row of libs.def and the symbols its binding wants */
typedef struct pli_lib {
    const char *id; /* "nvml" */
    /* versioned names first, NULL-terminated; an absolute path is allowed */
    const char *const *sonames;
    const pli_lib_symbol *symbols;
    size_t symbol_count;
} pli_lib;

/* A vendor call, for the journal: what it is called, which object it is about, what it writes. */
typedef struct pli_out {
    void *p;
    size_t n;
} pli_out;
typedef struct pli_call {
    const char *name;    /* the symbol */
    const char *ordinal; /* which device, index, ...: "0", "0.1"; never a pointer */
    const pli_out *outs; /* what the callee writes; must be initialised before the call */
    size_t out_count;
} pli_call;
/* rc of a symbol that the library lacks, or of a call that a recording lacks */
#define PLI_CALL_MISSING (-2147483647 - 1)

/* The one macro through which vendors' functions are called. Live: fn is called (when not NULL).
 * Recording: name, return code and outputs are written down. On a recording: rc and outputs come
 * from it and nothing is called, so that handles may be NULL.
 *   PLI_CALL(m, rc, nvml->DeviceGetCount, "nvmlDeviceGetCount_v2", "-",
 *            PLI_OUTS({&count, sizeof count}), (&count)); */
#define PLI_OUTS(...)                                                                              \
    ((const pli_out[]){__VA_ARGS__}), sizeof((const pli_out[]){__VA_ARGS__}) / sizeof(pli_out)
#define PLI_NO_OUTS NULL, 0
#define PLI_CALL(m, rc, fn, name, ordinal, outs, args)                                             \
    PLI_CALL_EXPAND(m, rc, fn, name, ordinal, outs, args)
#define PLI_CALL_EXPAND(m, rc, fn, name_, ordinal_, outs_, n_outs_, args)                          \
    do {                                                                                           \
        const pli_call pli_call_ = {name_, ordinal_, outs_, n_outs_};                              \
        if (!(m)->ops->call_before((m), &pli_call_, &(rc))) {                                      \
            (rc) = (fn) ? (fn)args : PLI_CALL_MISSING;                                             \
            (m)->ops->call_after((m), &pli_call_, (rc));                                           \
        }                                                                                          \
    } while (0)

/* ---- isolation ------------------------------------------------------------------------------- */

typedef void (*pli_job)(pli_machine *machine, void *arg);
/* how an isolated job ended */
typedef struct pli_isolation {
    plim_status status;  /* OK, TIMEOUT, CRASHED, or what kept it from starting */
    int signal;          /* that ended it, 0 if none */
    int exit_status;     /* of a job that left by itself although nobody asked it to */
    char last_call[128]; /* the vendor call it was in, "" if none */
    uint64_t elapsed_us;
} pli_isolation;

/* ---- operations ------------------------------------------------------------------------------ */

typedef struct pli_machine_ops {
    /* The whole file appended to out (whose max is the cap); one read(2) where it fits. NOT_FOUND,
     * PERMISSION, IO, LIMIT. */
    plim_status (*read)(pli_machine *, const char *path, pli_buf *out);
    /* A kept descriptor for meters: reread gives the file's content now. On a recording a series
     * may answer in turn. */
    plim_status (*open)(pli_machine *, const char *path, void **file);
    plim_status (*reread)(pli_machine *, void *file, pli_buf *out);
    void (*close)(pli_machine *, void *file);
    /* any order; pli_list() sorts */
    plim_status (*list)(pli_machine *, const char *path, pli_arena *, pli_names *out);
    /* as stored, not resolved */
    plim_status (*link)(pli_machine *, const char *path, pli_buf *target);
    plim_status (*stat)(pli_machine *, const char *path, pli_stat *out);
    /* NULL when unset; valid while the machine lives */
    const char *(*env)(pli_machine *, const char *name);
    uint64_t (*clock)(pli_machine *); /* monotonic ns */
    /* Loads a library and fills symbols[] (NULL for what is missing). NOT_FOUND: no such library;
     * VERSION: a required symbol is missing; UNSUPPORTED: this machine has no libraries to ask (a
     * tree, a recording that says nothing of it), so that nothing follows. On a recording: OK when
     * it was loaded there, symbols stay NULL. */
    plim_status (*lib)(pli_machine *, const pli_lib *, pli_symbol *symbols);
    bool (*call_before)(pli_machine *, const pli_call *, int *rc); /* true: answered, do not call */
    void (*call_after)(pli_machine *, const pli_call *, int rc);
    /* A vendor's tool, found in PATH, without a shell; never waited for beyond the deadline. */
    plim_status (*run)(pli_machine *, const char *const argv[], uint32_t timeout_ms, pli_run *);
    /* false: no such thing here */
    bool (*cpuid)(pli_machine *, uint32_t leaf, uint32_t sub, uint32_t out[4]);
    /* Everything else by name: node is a path or "-", what is "host.uname", "amdgpu.memory" ...
     * (query.h lists them). */
    plim_status (*query)(pli_machine *, const char *node, const char *what, const void *in,
                         size_t in_size, void *out, size_t out_size, size_t *length);
    /* Runs job in a child process under a deadline, then once more here on what the child recorded.
     * NULL where there is nothing to be isolated from (trees): the caller then runs the job itself.
     * A recording runs it in place and tells how it ended when it was captured; name (the probe's)
     * is the key under which it keeps that. */
    void (*isolate)(pli_machine *, const char *name, pli_job job, void *arg, uint32_t timeout_ms,
                    pli_isolation *);
    void (*free)(pli_machine *);
} pli_machine_ops;

struct pli_machine {
    const pli_machine_ops *ops;
    pli_facts facts;
    plim_allocator allocator;
};

/* Makers. Freed with pli_machine_close().
 * This machine; null where the OS has no port. */
plim_status pli_machine_live(const plim_allocator *, pli_machine **out);
plim_status pli_machine_null(const plim_allocator *, pli_machine **out); /* nothing is found */
plim_status pli_machine_root(const plim_allocator *, const char *directory, plim_error *,
                             pli_machine **out);
/* text is copied. PARSE with the offset of the entry that is wrong. */
plim_status pli_machine_text(const plim_allocator *, pli_str text, const char *name, plim_error *,
                             pli_machine **out);
/* Passes everything on to inner and appends what was answered to *text (made by the caller,
 * outlives the machine). inner stays the caller's. */
plim_status pli_machine_record(const plim_allocator *, pli_machine *inner, bool keep_identities,
                               pli_buf *text, pli_machine **out);
/* inner with the entries of a recording (over: pli_machine_text) laid over it; facts are inner's,
 * both stay the caller's. INVALID when over is no recording. */
plim_status pli_machine_overlay(const plim_allocator *, pli_machine *inner, pli_machine *over,
                                pli_machine **out);
void pli_machine_close(pli_machine *); /* NULL is allowed */

/* ---- helpers for probes ---------------------------------------------------------------------- */

/* Short reads into an arena; absent and unreadable look the same unless the status is asked for. */

plim_status pli_read(pli_machine *, pli_arena *, const char *path, pli_str *out);
plim_status pli_readf(pli_machine *, pli_arena *, pli_str *out, const char *format, ...)
    PLI_PRINTF(4, 5);
/* The file's content trimmed; an empty view when absent. Cut at the first NUL (sysfs pads some
 * files). */
pli_str pli_read_wordf(pli_machine *, pli_arena *, const char *format, ...) PLI_PRINTF(3, 4);
bool pli_read_u64f(pli_machine *, pli_arena *, uint64_t *out, const char *format, ...)
    PLI_PRINTF(4, 5);
bool pli_read_hexf(pli_machine *, pli_arena *, uint64_t *out, const char *format, ...)
    PLI_PRINTF(4, 5);
/* sorted naturally */
plim_status pli_list(pli_machine *, pli_arena *, const char *path, pli_names *out);
plim_status pli_listf(pli_machine *, pli_arena *, pli_names *out, const char *format, ...)
    PLI_PRINTF(4, 5);
/* Last part of a link's target, NULL when there is no link. */
const char *pli_link_namef(pli_machine *, pli_arena *, const char *format, ...) PLI_PRINTF(3, 4);
plim_status pli_stat_path(pli_machine *, const char *path, pli_stat *out);
bool pli_exists(pli_machine *, const char *path);
bool pli_existsf(pli_machine *, pli_arena *, const char *format, ...) PLI_PRINTF(3, 4);
const char *pli_env(pli_machine *, const char *name);
plim_status pli_query(pli_machine *, const char *node, const char *what, const void *in,
                      size_t in_size, void *out, size_t out_size, size_t *length);
/* Natural order of two names: digits compare as numbers. */
int pli_natural_compare(const char *a, const char *b);

#endif
