/* States of the calling process that must not matter when it starts another: set in a child. */
#ifndef TEST_PROCESS_STATE_H
#define TEST_PROCESS_STATE_H

#include <signal.h>
#include <unistd.h>

static void close_standard_files(void)
{
    for (int fd = 0; fd < 3; fd++)
        (void)close(fd);
}

static void block_all_signals(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
}

static void ignore_children(void)
{
    (void)signal(SIGCHLD, SIG_IGN);
}

#endif
