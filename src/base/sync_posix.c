#include <pthread.h>
#include <stdint.h>

#include "arena.h"
#include "sync.h"

struct pli_team {
    pthread_mutex_t lock;
    pthread_cond_t all;
    unsigned count, waiting;
    uint64_t round;
    bool called_off; /* before the first meeting: not everyone is there */
    pli_work *work;
    void *user;
};

typedef struct member {
    pli_team *team;
    unsigned number;
    pthread_t thread;
} member;

/* False: called off. */
static bool meet(pli_team *team)
{
    (void)pthread_mutex_lock(&team->lock);
    uint64_t round = team->round;
    if (++team->waiting == team->count) {
        team->waiting = 0;
        team->round++;
        (void)pthread_cond_broadcast(&team->all);
    }
    while (team->round == round && !team->called_off)
        (void)pthread_cond_wait(&team->all, &team->lock);
    bool called_off = team->called_off;
    (void)pthread_mutex_unlock(&team->lock);
    return !called_off;
}

void pli_team_meet(pli_team *team)
{
    (void)meet(team);
}

static void *begin(void *arg)
{
    const member *m = arg;
    if (meet(m->team))
        m->team->work(m->team->user, m->number, m->team);
    return NULL;
}

static void call_off(pli_team *team)
{
    (void)pthread_mutex_lock(&team->lock);
    team->called_off = true;
    (void)pthread_cond_broadcast(&team->all);
    (void)pthread_mutex_unlock(&team->lock);
}

plim_status pli_team_run(const plim_allocator *allocator, unsigned count, pli_work *work,
                         void *user)
{
    pli_team team = {.count = count, .work = work, .user = user};
    size_t bytes = count * sizeof(member), started = 0;
    member *members = count ? pli_hook_resize(allocator, NULL, 0, bytes) : NULL;
    if (!members)
        return count ? PLIM_NOMEM : PLIM_OK;
    (void)pthread_mutex_init(&team.lock, NULL);
    (void)pthread_cond_init(&team.all, NULL);
    for (; started < count; started++) {
        members[started] = (member){.team = &team, .number = (unsigned)started};
        if (pthread_create(&members[started].thread, NULL, begin, &members[started]) != 0)
            break;
    }
    if (started < count)
        call_off(&team);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(members[i].thread, NULL);
    (void)pthread_cond_destroy(&team.all);
    (void)pthread_mutex_destroy(&team.lock);
    (void)pli_hook_resize(allocator, members, bytes, 0);
    return started == count ? PLIM_OK : PLIM_NOMEM;
}
