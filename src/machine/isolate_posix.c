/* Runs a job in a child process. The child records everything it asks the machine and sends the
 * entries through a pipe as they come, with a mark at the start and the end of every vendor call;
 * the parent never waits beyond the deadline and then runs the job once more, on what arrived. So
 * a driver that hangs, crashes, exits or prints costs what it did not say, and nothing else.
 *
 * The stream is a sequence of frames: head, then head.size bytes. What is no frame ends it: a
 * library may write anywhere. */
#define _GNU_SOURCE /* on_exit */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../base/limits.h"
#include "archive.h"
#include "child_posix.h"
#include "live.h"
#include "record.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#define POLL_MS 50 /* how late a child's end is seen whose pipe somebody else keeps open */

enum frame_type { FRAME_ENTRY = 1, FRAME_ENTER, FRAME_LEAVE, FRAME_DONE };
#define FRAME_MAGIC 0x706c696du

struct frame {
    uint32_t magic, type, size;
};

/* ---- the child ------------------------------------------------------------------------------- */

static void write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t some = write(fd, p, n);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            _exit(EXIT_FAILURE); /* nobody listens any more */
        p += some;
        n -= (size_t)some;
    }
}

static void send_frame(int fd, enum frame_type type, const void *bytes, size_t n)
{
    struct frame head = {FRAME_MAGIC, (uint32_t)type, (uint32_t)n};
    write_all(fd, &head, sizeof head);
    write_all(fd, bytes, n);
}

static void send_entry(void *user, pli_str text)
{
    send_frame(*(const int *)user, FRAME_ENTRY, text.p, text.n);
}

static void send_enter(void *user, const pli_call *call)
{
    char name[sizeof((pli_isolation *)0)->last_call];
    int n = snprintf(name, sizeof name, "%s", call->name);
    send_frame(*(const int *)user, FRAME_ENTER, name,
               n < 0                     ? 0
               : (size_t)n < sizeof name ? (size_t)n
                                         : sizeof name - 1);
}

static void send_leave(void *user)
{
    send_frame(*(const int *)user, FRAME_LEAVE, NULL, 0);
}

/* A library that calls exit() must not run the program's own exit handlers in this copy of it. */
#ifdef __GLIBC__
static void leave_at_once(int status, void *unused)
{
    (void)unused;
    _exit(status);
}
#define LEAVE_AT_ONCE() on_exit(leave_at_once, NULL)
#else
static void leave_at_once(void)
{
    _exit(EXIT_SUCCESS);
}
#define LEAVE_AT_ONCE() atexit(leave_at_once)
#endif

/* Handlers, masks, descriptors and limits of the program are not this process's. */
static void settle_child(void)
{
    static const int reset[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,
                                SIGTRAP, SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                SIGPIPE, SIGALRM, SIGCHLD, SIGUSR1, SIGUSR2};
    struct rlimit no_core = {0, 0};
    sigset_t none;
    (void)setpgid(0, 0);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        (void)signal(reset[i], SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setrlimit(RLIMIT_CORE, &no_core);
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        (void)dup2(null, fd);
    if (null > 2)
        (void)close(null);
    (void)LEAVE_AT_ONCE();
}

static void child(pli_machine *m, pli_job job, void *arg, int fd)
{
    pli_record_sink sink = {&fd, send_entry, send_enter, send_leave};
    pli_machine *recorder;
    pli_buf text;
    settle_child();
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    if (pli_machine_record_to(NULL, m, true, &text, &sink, &recorder) != PLIM_OK)
        _exit(EXIT_FAILURE);
    job(recorder, arg);
    int32_t status = text.failed; /* LIMIT: what was seen is more than a recording may hold */
    send_frame(fd, FRAME_DONE, &status, sizeof status);
    _exit(EXIT_SUCCESS);
}

/* ---- the parent ------------------------------------------------------------------------------ */

struct listener {
    int fd;       /* -1 once it ended */
    pli_buf raw;  /* the frame that is arriving */
    pli_buf text; /* the entries */
    bool done;
    plim_status status; /* of the stream: OK, PARSE, LIMIT, NOMEM */
    pli_isolation *end;
};

static void take_call(struct listener *l, const char *name, size_t n)
{
    (void)pli_clean((pli_str){name, n}, l->end->last_call, sizeof l->end->last_call);
}

static void take_end(struct listener *l, const char *bytes, size_t n)
{
    int32_t status = PLIM_PARSE;
    if (n == sizeof status)
        memcpy(&status, bytes, sizeof status);
    l->done = true;
    l->status = (plim_status)status;
}

static void take_frame(struct listener *l, const struct frame *head, const char *bytes)
{
    if (head->type == FRAME_ENTRY)
        l->status = pli_buf_add(&l->text, bytes, head->size);
    else if (head->type == FRAME_ENTER || head->type == FRAME_LEAVE)
        take_call(l, bytes, head->size);
    else if (head->type == FRAME_DONE)
        take_end(l, bytes, head->size);
    else
        l->status = PLIM_PARSE;
}

/* Takes the frames that are complete. */
static void take_frames(struct listener *l)
{
    size_t at = 0;
    while (l->status == PLIM_OK && !l->done && l->raw.n - at >= sizeof(struct frame)) {
        struct frame head;
        memcpy(&head, l->raw.p + at, sizeof head);
        if (head.magic != FRAME_MAGIC || head.size > PLI_MAX_RECORDING)
            l->status = PLIM_PARSE;
        else if (l->raw.n - at - sizeof head < head.size)
            break;
        else
            take_frame(l, &head, l->raw.p + at + sizeof head);
        at += sizeof head + head.size;
    }
    if (at && at <= l->raw.n) {
        memmove(l->raw.p, l->raw.p + at, l->raw.n - at);
        l->raw.n -= at;
    }
}

/* Takes what is there now; false when there is no more for the moment. */
static bool drain(struct listener *l)
{
    if (l->fd < 0 || l->done || l->status != PLIM_OK)
        return false;
    l->status = pli_buf_reserve(&l->raw, 65536);
    if (l->status != PLIM_OK)
        return false;
    ssize_t n = read(l->fd, l->raw.p + l->raw.n, 65536);
    if (n > 0) {
        pli_buf_added(&l->raw, (size_t)n);
        take_frames(l);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        (void)close(l->fd);
        l->fd = -1;
    }
    return n < 0 && errno == EINTR;
}

/* Until the job is done, the child has ended (and all it sent was taken), or time is up. */
static plim_status listen_to(pli_child *process, struct listener *l, int64_t deadline)
{
    for (;;) {
        bool ended = pli_child_ended(process);
        while (drain(l))
            if (pli_now_ms() >= deadline)
                return PLIM_TIMEOUT;
        if (l->status != PLIM_OK)
            return l->status;
        if (l->done)
            return PLIM_OK;
        if (ended)
            return PLIM_CRASHED;
        int64_t left = deadline - pli_now_ms();
        if (left <= 0)
            return PLIM_TIMEOUT;
        struct pollfd fds = {l->fd, POLLIN, 0};
        (void)poll(&fds, 1, left < POLL_MS ? (int)left : POLL_MS);
    }
}

/* The job's second run: here, on what the child saw. */
static plim_status replay(pli_machine *m, pli_str text, pli_job job, void *arg)
{
    pli_machine *recorded;
    plim_status status = pli_machine_text(&m->allocator, text, "isolated probe", NULL, &recorded);
    if (status != PLIM_OK)
        return status;
    recorded->facts = m->facts;
    job(recorded, arg);
    pli_machine_close(recorded);
    return PLIM_OK;
}

static void listen_and_replay(pli_machine *m, pli_child *process, int fd, int64_t deadline,
                              pli_job job, void *arg, pli_isolation *end)
{
    struct listener l = {.fd = fd, .end = end};
    pli_buf_init(&l.raw, &m->allocator, PLI_MAX_RECORDING + 2 * 65536u);
    pli_buf_init(&l.text, &m->allocator, PLI_MAX_RECORDING);
    end->status = listen_to(process, &l, deadline);
    pli_child_finish(process, true);
    if (end->status == PLIM_CRASHED) {
        end->signal = process->signal;
        end->exit_status = process->signal ? 0 : process->exit_status;
    }
    if (l.fd >= 0)
        (void)close(l.fd);
    if (end->status == PLIM_OK)
        end->last_call[0] = '\0';
    plim_status status = PLIM_NOMEM;
    if (end->status != PLIM_NOMEM)
        status = replay(m, l.text.n ? pli_buf_str(&l.text) : PLI_LIT("-- facts --\n"), job, arg);
    if (status != PLIM_OK)
        end->status = status;
    pli_buf_free(&l.raw);
    pli_buf_free(&l.text);
}

void pli_isolate(pli_machine *m, pli_job job, void *arg, uint32_t timeout_ms, pli_isolation *end)
{
    int fds[2];
    uint64_t start = m->ops->clock(m);
    int64_t deadline = pli_now_ms() + timeout_ms;
    *end = (pli_isolation){.status = PLIM_IO};
    if (!pli_child_pipe(fds))
        return;
    pli_child process = {.pid = fork()};
    if (process.pid == 0) {
        (void)close(fds[0]);
        child(m, job, arg, fds[1]);
    }
    (void)close(fds[1]);
    if (process.pid < 0) {
        (void)close(fds[0]);
        return;
    }
    /* Both do it, so that the group is there whoever comes first. */
    (void)setpgid(process.pid, process.pid);
    listen_and_replay(m, &process, fds[0], deadline, job, arg, end);
    end->elapsed_us = (m->ops->clock(m) - start) / 1000;
}
