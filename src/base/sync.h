/* Threads, as far as the library needs them: the same work in several at once, in step. */
#ifndef PLI_SYNC_H
#define PLI_SYNC_H

#include <plimsoll/base.h>

typedef struct pli_team pli_team;

/* Runs work(user, i, team) for i = 0 ... count - 1, each in a thread of its own, and waits for all.
 * NOMEM: not all threads could be started; none has begun its work. */
typedef void pli_work(void *user, unsigned i, pli_team *team);
plim_status pli_team_run(const plim_allocator *allocator, unsigned count, pli_work *work,
                         void *user);
/* In the work: returns when every thread of the team has come here. */
void pli_team_meet(pli_team *team);

#endif
