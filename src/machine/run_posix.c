/* Runs a vendor's tool: no shell, both pipes drained, output capped, killed with its group at the
 * deadline, never waited for beyond it. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/limits.h"
#include "child_posix.h"
#include "files_posix.h"
#include "live.h"

#define POLL_MS 50 /* how late the end of a tool is seen whose pipes somebody else keeps open */

/* ---- what to run ----------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Absolute path of a program. Relative entries of PATH are passed over: what lies in the current
 * directory is not a vendor's tool. */
static bool find_program(const char *name, char out[PLI_MAX_PATH])
{
    const char *variable = getenv("PATH");
    pli_str path = pli_s(variable ? variable : "/usr/local/bin:/usr/bin:/bin"), part;
    size_t n = strlen(name);
    if (strchr(name, '/')) {
        if (name[0] != '/' || n >= PLI_MAX_PATH)
            return false;
        memcpy(out, name, n + 1);
        return is_program(out);
    }
    while (n && pli_next_part(&path, ':', &part)) {
        if (!pli_starts(part, "/") || part.n + n + 2 > PLI_MAX_PATH)
            continue;
        memcpy(out, part.p, part.n);
        out[part.n] = '/';
        memcpy(out + part.n + 1, name, n + 1);
        if (is_program(out))
            return true;
    }
    return false;
}

/* Tools get this process's environment without what would load foreign code into them, and speak
 * English. */
static bool is_kept(const char *variable)
{
    return strncmp(variable, "LD_", 3) != 0 && strncmp(variable, "DYLD_", 5) != 0 &&
           strncmp(variable, "LC_ALL=", 7) != 0;
}

static const char **make_environment(const plim_allocator *allocator, size_t *size)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    *size = (count + 2) * sizeof(char *);
    const char **copy = pli_hook_resize(allocator, NULL, 0, *size);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (is_kept(environ[i]))
            copy[kept++] = environ[i];
    copy[kept++] = "LC_ALL=C";
    copy[kept] = NULL;
    return copy;
}

/* ---- starting -------------------------------------------------------------------------------- */

static int set_attributes(posix_spawnattr_t *attributes)
{
    static const int reset[] = {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM};
    sigset_t none, defaults;
    (void)sigemptyset(&none);
    (void)sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        (void)sigaddset(&defaults, reset[i]);
    int failed = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed = failed ? failed : posix_spawnattr_setpgroup(attributes, 0);
    failed = failed ? failed : posix_spawnattr_setsigmask(attributes, &none);
    return failed ? failed : posix_spawnattr_setsigdefault(attributes, &defaults);
}

static int set_files(posix_spawn_file_actions_t *files, int out, int err)
{
    int failed = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(files, out, 1);
    return failed ? failed : posix_spawn_file_actions_adddup2(files, err, 2);
}

/* posix_spawn() takes pointers to characters that it does not change. */
static char *const *as_given(const char *const *strings)
{
    union {
        const char *const *in;
        char *const *out;
    } same = {strings};
    return same.out;
}

static int spawn(const char *program, const char *const argv[], const char *const environment[],
                 int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failed = posix_spawnattr_init(&attributes);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_init(&files);
    if (!failed) {
        failed = set_attributes(&attributes);
        failed = failed ? failed : set_files(&files, out, err);
        if (!failed)
            failed = posix_spawn(pid, program, &files, &attributes, as_given(argv),
                                 as_given(environment));
        (void)posix_spawn_file_actions_destroy(&files);
    }
    (void)posix_spawnattr_destroy(&attributes);
    return failed;
}

/* ---- listening ------------------------------------------------------------------------------- */

struct stream {
    int fd; /* -1 once it ended */
    pli_buf *out;
};

static void keep(pli_buf *out, const char *bytes, size_t n)
{
    size_t room = out->max - out->n;
    (void)pli_buf_add(out, bytes, n < room ? n : room);
    if (n > room && out->failed == PLIM_OK)
        out->failed = PLIM_LIMIT;
}

static void end_stream(struct stream *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    s->fd = -1;
}

/* Takes what is there now, up to a round's worth: a tool that never stops must not hold us. */
static void drain(struct stream *s)
{
    char bytes[16384];
    for (int round = 0; round < 16 && s->fd >= 0; round++) {
        ssize_t n = read(s->fd, bytes, sizeof bytes);
        if (n > 0)
            keep(s->out, bytes, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        else if (n == 0 || errno != EINTR)
            end_stream(s);
    }
}

/* Until the tool ended (and what it wrote was taken) or its time is up. */
static plim_status listen_to(pli_child *child, struct stream streams[2], int64_t deadline)
{
    for (int idle = 1;;) {
        bool ended = pli_child_ended(child);
        for (int i = 0; i < 2; i++)
            drain(&streams[i]);
        if (ended)
            return PLIM_OK;
        int64_t left = deadline - pli_now_ms();
        if (left <= 0)
            return PLIM_TIMEOUT;
        bool open = streams[0].fd >= 0 || streams[1].fd >= 0;
        int wait = open ? POLL_MS : idle;
        struct pollfd fds[2] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}};
        (void)poll(fds, 2, left < wait ? (int)left : wait);
        if (!open && idle < POLL_MS)
            idle *= 2;
    }
}

static plim_status run_program(const char *program, const char *const argv[],
                               const char *const environment[], int64_t deadline, pli_run *run)
{
    int out[2], err[2];
    pli_child child = {.pid = 0};
    if (!pli_child_pipe(out))
        return PLIM_IO;
    if (!pli_child_pipe(err)) {
        (void)close(out[0]);
        (void)close(out[1]);
        return PLIM_IO;
    }
    int failed = spawn(program, argv, environment, out[1], err[1], &child.pid);
    struct stream streams[2] = {{out[0], &run->out}, {err[0], &run->err}};
    (void)close(out[1]);
    (void)close(err[1]);
    plim_status status = pli_status_of_errno(failed);
    if (!failed) {
        status = listen_to(&child, streams, deadline);
        bool left_behind = streams[0].fd >= 0 || streams[1].fd >= 0;
        pli_child_finish(&child, status != PLIM_OK || left_behind);
        run->exit_status = child.exit_status;
    }
    end_stream(&streams[0]);
    end_stream(&streams[1]);
    return status;
}

plim_status pli_run_tool(const plim_allocator *allocator, const char *const argv[],
                         uint32_t timeout_ms, pli_run *run)
{
    char program[PLI_MAX_PATH];
    size_t size;
    int64_t deadline = pli_now_ms() + timeout_ms;
    if (!argv[0] || !find_program(argv[0], program))
        return PLIM_NOT_FOUND;
    const char **environment = make_environment(allocator, &size);
    if (!environment)
        return PLIM_NOMEM;
    plim_status status = run_program(program, argv, environment, deadline, run);
    pli_hook_resize(allocator, environment, size, 0);
    return status;
}
