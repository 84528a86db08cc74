#include "child_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_MS 200 /* a killed process that can die is gone in far less */

int64_t pli_now_ms(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000
               : 0;
}

/* The same file at a number above the standard ones; the old one is closed. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    (void)close(fd);
    return moved;
}

bool pli_child_pipe(int fds[2])
{
    int low[2];
    if (pipe(low) != 0)
        return false;
    fds[0] = move_up(low[0]);
    fds[1] = move_up(low[1]);
    if (fds[0] >= 0 && fds[1] >= 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    return false;
}

bool pli_child_ended(pli_child *child)
{
    siginfo_t info = {.si_pid = 0};
    if (child->gone)
        return true;
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        /* SIGCHLD is ignored here, or the host program reaps everything. */
        child->gone = child->reaped = errno == ECHILD;
        child->exit_status = -1;
        return child->gone;
    }
    if (info.si_pid != child->pid)
        return false;
    child->gone = true;
    child->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    child->exit_status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    return true;
}

void pli_child_finish(pli_child *child, bool kill_group)
{
    int64_t deadline = pli_now_ms() + REAP_MS;
    if (kill_group && !child->reaped)
        (void)kill(-child->pid, SIGKILL);
    if (!child->gone && !child->reaped)
        (void)kill(child->pid, SIGKILL); /* it may not have made its group yet */
    while (!pli_child_ended(child) && pli_now_ms() < deadline)
        (void)poll(NULL, 0, 2);
    if (child->gone && !child->reaped)
        child->reaped = waitpid(child->pid, NULL, WNOHANG) == child->pid;
}
