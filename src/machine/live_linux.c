/* This machine, on Linux. The pieces that are large have files of their own: dl.c (libraries),
 * run_posix.c (tools), drm.c (ioctls), cpuid.c, isolate_posix.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "drm.h"
#include "files_posix.h"
#include "live.h"
#include "live_null.h"
#include "query.h"

static const pli_files real_files = {-1};

static plim_status live_read(pli_machine *m, const char *path, pli_buf *out)
{
    (void)m;
    return pli_files_read(&real_files, path, out);
}

/* A kept descriptor, boxed as a pointer: 0 is a valid descriptor, so it is moved up by one. */
static plim_status live_open(pli_machine *m, const char *path, void **file)
{
    int fd;
    (void)m;
    plim_status status = pli_files_open(&real_files, path, &fd);
    *file = status == PLIM_OK ? (void *)((uintptr_t)fd + 1) : NULL;
    return status;
}

static plim_status live_reread(pli_machine *m, void *file, pli_buf *out)
{
    (void)m;
    return pli_files_reread((int)((uintptr_t)file - 1), out);
}

static void live_close(pli_machine *m, void *file)
{
    (void)m;
    if (file)
        (void)close((int)((uintptr_t)file - 1));
}

static plim_status live_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    (void)m;
    return pli_files_list(&real_files, path, arena, out);
}

static plim_status live_link(pli_machine *m, const char *path, pli_buf *target)
{
    (void)m;
    return pli_files_link(&real_files, path, target);
}

static plim_status live_stat(pli_machine *m, const char *path, pli_stat *out)
{
    (void)m;
    return pli_files_stat(&real_files, path, out);
}

static const char *live_env(pli_machine *m, const char *name)
{
    (void)m;
    return getenv(name);
}

static uint64_t live_clock(pli_machine *m)
{
    struct timespec now;
    (void)m;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
               : 0;
}

static bool live_call_before(pli_machine *m, const pli_call *call, int *rc)
{
    (void)m, (void)call, (void)rc;
    return false; /* make the call */
}

/* ---- queries --------------------------------------------------------------------------------- */

static plim_status answer(const void *bytes, size_t n, void *out, size_t out_size, size_t *length)
{
    if (n > out_size)
        return PLIM_LIMIT;
    memcpy(out, bytes, n);
    *length = n;
    return PLIM_OK;
}

static plim_status query_uname(const char *node, void *out, size_t out_size, size_t *length)
{
    struct utsname u;
    char text[sizeof u];
    size_t at = 0;
    (void)node;
    if (uname(&u) != 0)
        return PLIM_IO;
    const char *const parts[] = {u.sysname, u.release, u.version, u.machine};
    for (size_t i = 0; i < 4; i++) {
        size_t n = strlen(parts[i]) + 1;
        memcpy(text + at, parts[i], n);
        at += n;
    }
    return answer(text, at, out, out_size, length);
}

/* The raw call tells how many bytes the kernel's mask has; glibc's sets would have to be guessed
 * large enough. */
static plim_status query_affinity(const char *node, void *out, size_t out_size, size_t *length)
{
    (void)node;
    /* Not the C library's wrapper: the call itself tells how long the kernel's sets are. */
    long n = syscall(SYS_sched_getaffinity, 0, out_size / sizeof(long) * sizeof(long), out);
    if (n < 0)
        return pli_status_of_errno(errno);
    *length = (size_t)n;
    while (*length > 0 && ((const char *)out)[*length - 1] == 0)
        (*length)--;
    return PLIM_OK;
}

static plim_status query_auxv(const char *node, void *out, size_t out_size, size_t *length)
{
    struct pli_auxv v = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    (void)node;
    return answer(&v, sizeof v, out, out_size, length);
}

static uint64_t soft_limit(int failed, const struct rlimit *limit)
{
    return failed || limit->rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit->rlim_cur;
}

static plim_status query_rlimit(const char *node, void *out, size_t out_size, size_t *length)
{
    struct rlimit limit;
    struct pli_rlimits v;
    v.address_space = soft_limit(getrlimit(RLIMIT_AS, &limit), &limit);
    v.data = soft_limit(getrlimit(RLIMIT_DATA, &limit), &limit);
    v.memlock = soft_limit(getrlimit(RLIMIT_MEMLOCK, &limit), &limit);
    (void)node;
    return answer(&v, sizeof v, out, out_size, length);
}

static plim_status query_time(const char *node, void *out, size_t out_size, size_t *length)
{
    uint64_t now = (uint64_t)time(NULL);
    (void)node;
    return answer(&now, sizeof now, out, out_size, length);
}

static plim_status query_space(const char *node, void *out, size_t out_size, size_t *length)
{
    struct statfs fs;
    struct stat st;
    if (statfs(node, &fs) != 0 || stat(node, &st) != 0)
        return pli_status_of_errno(errno);
    struct pli_fs_space v = {
        .type = (uint64_t)fs.f_type,
        .total_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize,
        .available_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize,
        .dev_major = major(st.st_dev),
        .dev_minor = minor(st.st_dev),
    };
    return answer(&v, sizeof v, out, out_size, length);
}

static plim_status query_xcr0(const char *node, void *out, size_t out_size, size_t *length)
{
    uint64_t v;
    (void)node;
    return pli_xcr0_read(&v) ? answer(&v, sizeof v, out, out_size, length) : PLIM_UNSUPPORTED;
}

static plim_status query_amx(const char *node, void *out, size_t out_size, size_t *length)
{
    uint64_t v;
    (void)node;
    return pli_xcomp_read(&v) ? answer(&v, sizeof v, out, out_size, length) : PLIM_UNSUPPORTED;
}

static const struct {
    const char *what;
    plim_status (*ask)(const char *node, void *out, size_t out_size, size_t *length);
} queries[] = {
    {"host.uname", query_uname},   {"host.affinity", query_affinity}, {"host.auxv", query_auxv},
    {"host.rlimit", query_rlimit}, {"host.time", query_time},         {"fs.space", query_space},
    {"host.xcr0", query_xcr0},     {"host.amx", query_amx},
};

static plim_status live_query(pli_machine *m, const char *node, const char *what, const void *in,
                              size_t in_size, void *out, size_t out_size, size_t *length)
{
    (void)m, (void)in, (void)in_size;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        if (strcmp(queries[i].what, what) == 0)
            return queries[i].ask(node, out, out_size, length);
    return pli_drm_query(node, what, out, out_size, length);
}

static plim_status live_lib(pli_machine *m, const pli_lib *lib, pli_symbol *symbols)
{
    (void)m;
    return pli_dl_load(lib, symbols);
}

static plim_status live_run(pli_machine *m, const char *const argv[], uint32_t timeout_ms,
                            pli_run *run)
{
    return pli_run_tool(&m->allocator, argv, timeout_ms, run);
}

static void live_isolate(pli_machine *m, const char *name, pli_job job, void *arg,
                         uint32_t timeout_ms, pli_isolation *end)
{
    (void)name;
    pli_isolate(m, job, arg, timeout_ms, end);
}

static bool live_cpuid(pli_machine *m, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)m;
    return pli_cpuid_read(leaf, sub, out);
}

/* ---- making one ------------------------------------------------------------------------------ */

static void live_free(pli_machine *m)
{
    plim_allocator allocator = m->allocator;
    pli_hook_resize(&allocator, m, sizeof *m, 0);
}

static const pli_machine_ops live_ops = {
    live_read, live_open,  live_reread, live_close,   live_list,        live_link,
    live_stat, live_env,   live_clock,  live_lib,     live_call_before, pli_null_call_after,
    live_run,  live_cpuid, live_query,  live_isolate, live_free,
};

static void live_facts(pli_facts *facts)
{
    struct utsname u;
    facts->os = PLI_OS_LINUX;
    if (uname(&u) == 0) {
        size_t n = strlen(u.machine);
        memcpy(facts->arch, u.machine, n < sizeof facts->arch ? n : sizeof facts->arch - 1);
    }
    long page = sysconf(_SC_PAGESIZE);
    facts->page_size = page > 0 ? (uint64_t)page : 0;
    facts->pid = (uint64_t)getpid();
    facts->uid = (uint64_t)getuid();
}

plim_status pli_machine_live(const plim_allocator *allocator, pli_machine **out)
{
    *out = NULL;
    pli_machine *m = pli_hook_resize(allocator, NULL, 0, sizeof *m);
    if (!m)
        return PLIM_NOMEM;
    *m = (pli_machine){.ops = &live_ops};
    if (allocator)
        m->allocator = *allocator;
    live_facts(&m->facts);
    *out = m;
    return PLIM_OK;
}
