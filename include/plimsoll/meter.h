/* plimsoll/meter.h: what can only be known by measuring it on this machine. */
#ifndef PLIMSOLL_METER_H
#define PLIMSOLL_METER_H

#include <plimsoll/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

#include <plimsoll/records_begin.h>
#include <plimsoll/fields_meter.def>
#include <plimsoll/records_numbers.h>
#include <plimsoll/fields_meter.def>
#include <plimsoll/records_end.h>

typedef struct plim_bench_options {
    size_t struct_size;
    uint64_t threads; /* 0: one for each processor that may be used */
    uint64_t bytes;   /* 0: four times the last caches, at least 256 MiB, at most a quarter of
                         what is free */
    double seconds;   /* 0: 1.5 */
} plim_bench_options;
#define PLIM_BENCH_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(plim_bench_options), 0, 0, 0                                                        \
    }

/** Measures how fast this host moves its memory with all its processors: read (what reading weights
 *  is), copy and triad, in bytes a second, each the best of several passes over arrays larger than
 *  the caches (the method is STREAM's, McCalpin 1995). machine: this machine as detected, for its
 *  processors and caches. Keeps every processor busy meanwhile. Errors: INVALID, NOMEM (also: no
 *  threads). Freed with plim_bench_free(); immutable. */
PLIM_API plim_status plim_bench_host(plimsoll *context, const plim_machine *machine,
                                     const plim_bench_options *options, plim_error *error,
                                     plim_bench **out) PLIM_CHECK_RESULT;
/** The plimsoll.bench/1 document; flags: PLIM_JSON_PRETTY. Freed with plim_text_free(). Errors:
 *  NOMEM. */
PLIM_API plim_status plim_bench_to_json(const plim_bench *bench, unsigned flags, char **text,
                                        size_t *length) PLIM_CHECK_RESULT;
/** Frees a measurement. NULL is allowed. */
PLIM_API void plim_bench_free(plim_bench *bench);

#ifdef __cplusplus
}
#endif
#endif
