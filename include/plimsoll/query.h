/* plimsoll/query.h: questions to a machine: which devices, which is best, how much memory. All are
 * pure functions of the machine. */
#ifndef PLIMSOLL_QUERY_H
#define PLIMSOLL_QUERY_H

#include <plimsoll/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a device must be. 0 and NULL: anything; texts match in any case. */
typedef struct plim_device_query {
    size_t struct_size;
    const char *kind;    /* gpu, npu, tpu or asic */
    const char *family;  /* cuda, rocm, intel ... */
    const char *vendor;  /* NVIDIA ... */
    uint64_t min_memory; /* bytes that a program could use; unknown memory is not enough */
    bool unavailable;    /* also devices that no program here can use */
    bool parts;          /* also a card that is used by its parts */
} plim_device_query;
/* clang-format off */
#define PLIM_DEVICE_QUERY_INIT {sizeof(plim_device_query), NULL, NULL, NULL, 0, false, false}
/* clang-format on */

/** Is this device of the machine what the query asks for? */
PLIM_API bool plim_device_matches(const plim_machine *machine, const plim_device *device,
                                  const plim_device_query *query);
/** The first matching device at or behind *position of the list, which moves behind it; NULL when
 *  there is none. query NULL: all that a program can use. */
PLIM_API const plim_device *plim_device_next(const plim_machine *machine,
                                             const plim_device_query *query, size_t *position);
/** Bytes that a program could use of it: what is free, else the total; of memory shared with the
 *  host no more than the host's usable. False: nobody tells. */
PLIM_API bool plim_device_usable_bytes(const plim_machine *machine, const plim_device *device,
                                       uint64_t *bytes);
/** The best matching device: the largest class of usable memory (each half again as large as the
 *  one below: 8, 12, 16, 24 ... GiB), within it the highest memory bandwidth, measured or
 *  nominal, then the most usable bytes, then the first. A figure that nobody tells counts as none.
 *  NULL: no device matches. */
PLIM_API const plim_device *plim_machine_best(const plim_machine *machine,
                                              const plim_device_query *query);
/** A fixed rank of its family and generation, 10 (unknown, as a CPU) to 85, whatever its memory:
 *  the order that ai-hwaccel calls best, for programs that come from there. */
PLIM_API unsigned plim_device_rank(const plim_device *device);

/** Memory over all of a machine, each byte once: unified memory is the host's, a card and its parts
 *  are one. */
typedef struct plim_memory_totals {
    size_t struct_size;
    uint64_t host_bytes;        /* RAM; 0: unknown */
    uint64_t accelerator_bytes; /* what devices have of their own */
    uint64_t unified_bytes;     /* of the host's, what a device may use as well */
    uint64_t total_bytes;       /* host and accelerators */
    uint64_t unknown;           /* devices whose memory nobody tells */
} plim_memory_totals;
/** Fills *totals, whose struct_size the caller has set. */
PLIM_API void plim_machine_memory_totals(const plim_machine *machine, plim_memory_totals *totals);
/** Is there an accelerator that a program here can use? */
PLIM_API bool plim_machine_has_accelerator(const plim_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
