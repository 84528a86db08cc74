/* How fast the host's memory is read and written by all its processors at once: what bounds an
 * engine that runs there. Measured like STREAM (McCalpin): arrays larger than the caches, every
 * thread on memory that it touched first, the best of several passes. */
#ifndef PLI_BANDWIDTH_H
#define PLI_BANDWIDTH_H

#include "../machine/machine.h"

typedef enum pli_stream {
    PLI_STREAM_READ,  /* a sum over one array: what reading weights is */
    PLI_STREAM_COPY,  /* one read, one written */
    PLI_STREAM_TRIAD, /* two read, one written */
    PLI_STREAMS,
} pli_stream;

typedef struct pli_bandwidth {
    unsigned threads;
    uint64_t bytes;                  /* of the arrays together */
    double bytes_per_s[PLI_STREAMS]; /* moved; what a cache line is fetched for first not counted */
    uint64_t passes[PLI_STREAMS];
} pli_bandwidth;

/* Takes about `seconds`. threads and bytes are what to use: bytes is rounded down to whole cache
 * lines a thread. NOMEM: also for threads that could not be started. */
plim_status pli_measure_bandwidth(pli_machine *machine, unsigned threads, uint64_t bytes,
                                  double seconds, pli_bandwidth *out);

#endif
