/* What run_posix.c and isolate_posix.c share: pipes that survive closed standard descriptors, a
 * monotonic clock, and the end of a child that is never waited for beyond a deadline. */
#ifndef PLI_CHILD_POSIX_H
#define PLI_CHILD_POSIX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int64_t pli_now_ms(void);

/* Both ends close-on-exec and above 2, also where 0, 1 or 2 are closed in this process; the reading
 * end does not block. False on error. */
bool pli_child_pipe(int fds[2]);

typedef struct pli_child {
    pid_t pid; /* leader of a process group of its own */
    bool gone; /* it ended; wait_status tells how */
    bool reaped;
    int exit_status; /* 128 + signal when it was killed; -1 where somebody else reaped it */
    int signal;
} pli_child;

/* Has it ended? Does not wait, does not reap: its group can still be told from others by its id. */
bool pli_child_ended(pli_child *);
/* Kills what is left of the group, then reaps the child. One that cannot die (a call into a driver
 * that hangs) is left behind after a moment. */
void pli_child_finish(pli_child *, bool kill_group);

#endif
