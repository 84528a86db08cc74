#include <plimsoll/query.h>

#include <string.h>

#include "base/num.h"
#include "base/options.h"
#include "base/str.h"

#define RANK_OF_CPU 10u

static const struct {
    const char *family, *word;
    unsigned rank;
} ranks[] = {
#define RANK(family, word, rank) {family, word, rank},
#include "know/ranks.def"
#undef RANK
};

/* ---- what a device has ----------------------------------------------------------------------- */

static bool is_part(const plim_device *device)
{
    return PLIM_KNOWN(device, device, parent);
}

static bool has_parts(const plim_machine *machine, const plim_device *device)
{
    for (size_t i = 0; i < machine->devices.count; i++) {
        const plim_device *d = machine->devices.items[i];
        if (is_part(d) && d->parent == device->index)
            return true;
    }
    return false;
}

static bool shares_memory(const plim_device *device)
{
    if (PLIM_KNOWN(device, device, memory_kind))
        return strcmp(device->memory_kind, "dedicated") != 0;
    return PLIM_KNOWN(device, device, integrated) && device->integrated;
}

static bool host_usable(const plim_machine *machine, uint64_t *bytes)
{
    const plim_memory *memory = PLIM_KNOWN(machine, machine, memory) ? machine->memory : NULL;
    if (!memory || !PLIM_KNOWN(memory, memory, usable_bytes))
        return false;
    *bytes = memory->usable_bytes;
    return true;
}

bool plim_device_usable_bytes(const plim_machine *machine, const plim_device *device,
                              uint64_t *bytes)
{
    uint64_t host;
    bool known = PLIM_KNOWN(device, device, memory_free_bytes) ||
                 PLIM_KNOWN(device, device, memory_total_bytes);
    if (PLIM_KNOWN(device, device, memory_free_bytes))
        *bytes = device->memory_free_bytes;
    else if (known)
        *bytes = device->memory_total_bytes;
    if (!shares_memory(device) || !host_usable(machine, &host))
        return known;
    *bytes = known && *bytes < host ? *bytes : host;
    return true;
}

/* ---- which devices --------------------------------------------------------------------------- */

static bool is_text(const char *asked, bool known, const char *is)
{
    return !asked ||
           (known && strlen(asked) == strlen(is) && pli_contains_nocase(pli_s(is), asked));
}

bool plim_device_matches(const plim_machine *machine, const plim_device *device,
                         const plim_device_query *query)
{
    plim_device_query q = PLIM_DEVICE_QUERY_INIT;
    uint64_t usable;
    if (!pli_options_take(&q, sizeof q, query))
        return false;
    if (!q.unavailable && PLIM_KNOWN(device, device, available) && !device->available)
        return false;
    if (!q.parts && has_parts(machine, device))
        return false;
    if (!is_text(q.kind, PLIM_KNOWN(device, device, kind), device->kind) ||
        !is_text(q.family, PLIM_KNOWN(device, device, family), device->family) ||
        !is_text(q.vendor, PLIM_KNOWN(device, device, vendor), device->vendor))
        return false;
    return q.min_memory == 0 ||
           (plim_device_usable_bytes(machine, device, &usable) && usable >= q.min_memory);
}

const plim_device *plim_device_next(const plim_machine *machine, const plim_device_query *query,
                                    size_t *position)
{
    while (*position < machine->devices.count) {
        const plim_device *device = machine->devices.items[(*position)++];
        if (plim_device_matches(machine, device, query))
            return device;
    }
    return NULL;
}

/* ---- the best -------------------------------------------------------------------------------- */

typedef struct merit {
    unsigned class; /* of usable memory: two for each power of two, from 2^n and 1.5 x 2^n */
    uint64_t bandwidth, usable;
} merit;

static unsigned class_of(uint64_t bytes)
{
    unsigned log = 0;
    for (uint64_t rest = bytes; rest > 1; rest >>= 1)
        log++;
    /* 1.5 times a power of two has its two highest bits set */
    bool upper = log > 0 && (bytes >> (log - 1)) == 3;
    return bytes ? 2 * log + upper + 1 : 0;
}

static merit merit_of(const plim_machine *machine, const plim_device *device)
{
    merit m = {0};
    if (!plim_device_usable_bytes(machine, device, &m.usable))
        m.usable = 0;
    /* a card of 24 GB tells a little less; what is taken of it is not its size */
    m.class = class_of(pli_add_sat(m.usable, m.usable / 16));
    if (PLIM_KNOWN(device, device, memory_bandwidth_bytes_per_s))
        m.bandwidth = device->memory_bandwidth_bytes_per_s;
    return m;
}

static bool is_better(merit a, merit b)
{
    if (a.class != b.class)
        return a.class > b.class;
    if (a.bandwidth != b.bandwidth)
        return a.bandwidth > b.bandwidth;
    return a.usable > b.usable;
}

const plim_device *plim_machine_best(const plim_machine *machine, const plim_device_query *query)
{
    const plim_device *best = NULL, *device;
    merit most = {0};
    size_t position = 0;
    while ((device = plim_device_next(machine, query, &position)) != NULL) {
        merit m = merit_of(machine, device);
        if (best && !is_better(m, most))
            continue;
        best = device;
        most = m;
    }
    return best;
}

unsigned plim_device_rank(const plim_device *device)
{
    if (!PLIM_KNOWN(device, device, family))
        return RANK_OF_CPU;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        if (strcmp(device->family, ranks[i].family) != 0)
            continue;
        if (!ranks[i].word ||
            (PLIM_KNOWN(device, device, name) &&
             pli_contains_nocase(pli_s(device->name), ranks[i].word)) ||
            (PLIM_KNOWN(device, device, arch) &&
             pli_contains_nocase(pli_s(device->arch), ranks[i].word)))
            return ranks[i].rank;
    }
    return RANK_OF_CPU;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void count_device(plim_memory_totals *totals, const plim_device *device)
{
    if (shares_memory(device)) {
        if (PLIM_KNOWN(device, device, memory_total_bytes) &&
            device->memory_total_bytes > totals->unified_bytes)
            totals->unified_bytes = device->memory_total_bytes;
    } else if (PLIM_KNOWN(device, device, memory_total_bytes)) {
        totals->accelerator_bytes =
            pli_add_sat(totals->accelerator_bytes, device->memory_total_bytes);
    } else {
        totals->unknown++;
    }
}

void plim_machine_memory_totals(const plim_machine *machine, plim_memory_totals *totals)
{
    plim_memory_totals sum = {.struct_size = totals->struct_size};
    const plim_memory *memory = PLIM_KNOWN(machine, machine, memory) ? machine->memory : NULL;
    if (memory && PLIM_KNOWN(memory, memory, total_bytes))
        sum.host_bytes = memory->total_bytes;
    for (size_t i = 0; i < machine->devices.count; i++)
        if (!is_part(machine->devices.items[i]))
            count_device(&sum, machine->devices.items[i]);
    if (sum.host_bytes && sum.unified_bytes > sum.host_bytes)
        sum.unified_bytes = sum.host_bytes;
    sum.total_bytes = pli_add_sat(sum.host_bytes, sum.accelerator_bytes);
    memcpy(totals, &sum, sum.struct_size < sizeof sum ? sum.struct_size : sizeof sum);
}

bool plim_machine_has_accelerator(const plim_machine *machine)
{
    size_t position = 0;
    return plim_device_next(machine, NULL, &position) != NULL;
}
