/* --root DIR: files below a directory (a container's /host, a recorded tree) stand for a machine,
 * and only they answer. Environment, uname, affinity, CPUID, ioctls, libraries and tools would be
 * this machine's and are not asked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/status.h"
#include "files_posix.h"
#include "live_null.h"

struct root_machine {
    pli_machine base;
    pli_files files;
};

static const pli_files *files_of(const pli_machine *m)
{
    return &((const struct root_machine *)m)->files;
}

static plim_status root_read(pli_machine *m, const char *path, pli_buf *out)
{
    return pli_files_read(files_of(m), path, out);
}

static plim_status root_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    return pli_files_list(files_of(m), path, arena, out);
}

static plim_status root_link(pli_machine *m, const char *path, pli_buf *target)
{
    return pli_files_link(files_of(m), path, target);
}

static plim_status root_stat(pli_machine *m, const char *path, pli_stat *out)
{
    return pli_files_stat(files_of(m), path, out);
}

/* Time goes on also while one looks at a recorded tree. */
static uint64_t root_clock(pli_machine *m)
{
    struct timespec now;
    (void)m;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
               : 0;
}

static void root_free(pli_machine *m)
{
    plim_allocator allocator = m->allocator;
    (void)close(((struct root_machine *)m)->files.root);
    pli_hook_resize(&allocator, m, sizeof(struct root_machine), 0);
}

static const pli_machine_ops root_ops = {
    root_read,
    pli_null_open,
    pli_null_reread,
    pli_null_close,
    root_list,
    root_link,
    root_stat,
    pli_null_env,
    root_clock,
    pli_null_lib,
    pli_null_call_before,
    pli_null_call_after,
    pli_null_run,
    pli_null_cpuid,
    pli_null_query,
    NULL,
    root_free,
};

plim_status pli_machine_root(const plim_allocator *allocator, const char *directory,
                             plim_error *error, pli_machine **out)
{
    *out = NULL;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pli_fail(error, pli_status_of_errno(errno), directory, PLIM_NO_OFFSET, "%s",
                        strerror(errno));
    struct root_machine *m = pli_hook_resize(allocator, NULL, 0, sizeof *m);
    if (!m) {
        (void)close(fd);
        return pli_fail(error, PLIM_NOMEM, directory, PLIM_NO_OFFSET, "out of memory");
    }
    *m = (struct root_machine){.base = {.ops = &root_ops, .facts = {.os = PLI_OS_LINUX}},
                               .files = {fd}};
    if (allocator)
        m->base.allocator = *allocator;
    *out = &m->base;
    return PLIM_OK;
}
