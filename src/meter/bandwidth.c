#include "bandwidth.h"

#include <string.h>

#include "../base/arena.h"
#include "../base/num.h"
#include "../base/sync.h"

#define ARRAYS 3u
#define LINE_BYTES 64u
#define LEAST_PASSES 3u

typedef struct measuring {
    pli_machine *machine;
    uint64_t *arrays; /* of thread i: ARRAYS times `length`, one after the other */
    size_t length;    /* words of one array of one thread */
    double budget;    /* seconds for one stream */
    bool more;        /* another pass; thread 0 decides, between two meetings */
    uint64_t sum;     /* keeps the sums from being optimised away */
    pli_bandwidth result;
} measuring;

/* Whole numbers, so that the compiler may add several at once. */
static uint64_t sum_of(const uint64_t *a, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

static void triad(uint64_t *restrict a, const uint64_t *restrict b, const uint64_t *restrict c,
                  size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}

static void pass(measuring *m, pli_stream stream, unsigned thread)
{
    uint64_t *a = m->arrays + (size_t)thread * ARRAYS * m->length;
    uint64_t *b = a + m->length, *c = b + m->length;
    switch (stream) {
    case PLI_STREAM_READ:
        if (sum_of(a, m->length) == 0) /* it never is, which the compiler does not know */
            m->sum++;
        break;
    case PLI_STREAM_COPY:
        memcpy(b, a, m->length * sizeof *a);
        break;
    default:
        triad(c, a, b, m->length);
    }
}

/* Bytes that a pass of all threads moves. */
static double moved(const measuring *m, pli_stream stream)
{
    static const unsigned arrays[PLI_STREAMS] = {1, 2, 3};
    return (double)arrays[stream] * (double)m->length * sizeof(uint64_t) *
           (double)m->result.threads;
}

/* Keeps the best pass; says whether there is time for another. */
static void judge(measuring *m, pli_stream stream, uint64_t begun, uint64_t before)
{
    uint64_t now = m->machine->ops->clock(m->machine);
    double seconds = (double)(now - before) / 1e9;
    double rate = seconds > 0 ? moved(m, stream) / seconds : 0;
    if (rate > m->result.bytes_per_s[stream])
        m->result.bytes_per_s[stream] = rate;
    m->result.passes[stream]++;
    m->more = m->result.passes[stream] < LEAST_PASSES || (double)(now - begun) / 1e9 < m->budget;
}

static void work(void *user, unsigned thread, pli_team *team)
{
    measuring *m = user;
    uint64_t *mine = m->arrays + (size_t)thread * ARRAYS * m->length;
    for (size_t i = 0; i < ARRAYS * m->length; i++) /* the first touch places it */
        mine[i] = i | 1;
    for (int stream = 0; stream < PLI_STREAMS; stream++) {
        pli_team_meet(team);
        uint64_t begun = m->machine->ops->clock(m->machine);
        do {
            pli_team_meet(team);
            uint64_t before = m->machine->ops->clock(m->machine);
            pass(m, (pli_stream)stream, thread);
            pli_team_meet(team);
            if (thread == 0)
                judge(m, (pli_stream)stream, begun, before);
            pli_team_meet(team);
        } while (m->more);
    }
}

plim_status pli_measure_bandwidth(pli_machine *machine, unsigned threads, uint64_t bytes,
                                  double seconds, pli_bandwidth *out)
{
    measuring m = {.machine = machine, .budget = seconds / PLI_STREAMS};
    uint64_t share = threads ? bytes / threads / ARRAYS / LINE_BYTES * LINE_BYTES : 0;
    if (share == 0 || bytes > SIZE_MAX)
        return PLIM_INVALID;
    m.length = (size_t)share / sizeof(uint64_t);
    m.result.threads = threads;
    m.result.bytes = share * ARRAYS * threads;
    m.arrays = pli_hook_resize(&machine->allocator, NULL, 0, (size_t)m.result.bytes);
    if (!m.arrays)
        return PLIM_NOMEM;
    plim_status status = pli_team_run(&machine->allocator, threads, work, &m);
    (void)pli_hook_resize(&machine->allocator, m.arrays, (size_t)m.result.bytes, 0);
    if (status == PLIM_OK)
        *out = m.result;
    return status;
}
