#include "site.h"

#include <stdio.h>
#include <string.h>

#include "../base/record.h"
#include "calc.h"
#include "repack.h"

static const pli_backend backends[] = {
#define BACKEND(family, name, buffer, alignment, row_padding, context_mib, pipelines, exact,       \
                halves)                                                                            \
    {family, name, buffer, alignment, row_padding, context_mib, pipelines, exact, halves},
#include "backends.def"
#undef BACKEND
};
#define BACKEND_COUNT (sizeof backends / sizeof *backends)
static const pli_backend *const host_backend = &backends[BACKEND_COUNT - 1];

static const pli_backend *backend_of(const plim_device *device)
{
    if (PLIM_KNOWN(device, device, family))
        for (size_t i = 0; i + 1 < BACKEND_COUNT; i++)
            if (strcmp(device->family, backends[i].family) == 0)
                return &backends[i];
    return NULL;
}

static bool is_integrated(const plim_device *device)
{
    return PLIM_KNOWN(device, device, integrated) && device->integrated;
}

/* A card in partitions is used by them. */
static bool has_parts(const plim_machine *machine, size_t index)
{
    for (size_t i = 0; i < machine->devices.count; i++) {
        const plim_device *d = machine->devices.items[i];
        if (PLIM_KNOWN(device, d, parent) && d->parent == index)
            return true;
    }
    return false;
}

static bool is_usable(const plim_machine *machine, size_t index)
{
    const plim_device *d = machine->devices.items[index];
    return backend_of(d) && (!PLIM_KNOWN(device, d, available) || d->available) &&
           (!PLIM_KNOWN(device, d, kind) || strcmp(d->kind, "gpu") == 0) &&
           !has_parts(machine, index);
}

/* ---- what is free ---------------------------------------------------------------------------- */

static bool from_table(const char *source)
{
    return source && strcmp(source, "table") == 0;
}

static bool is_kind(const plim_device *d, const char *kind)
{
    return PLIM_KNOWN(device, d, memory_kind) && strcmp(d->memory_kind, kind) == 0;
}

/* An AMD GPU inside the processor: its carve-out, which is no RAM, and what it may map of the
 * system's RAM (GTT), as far as that is free; 85 % of both are usable (seed 000). A device whose
 * memory is told as shared told the latter already. */
static bool read_apu(const plim_device *d, const pli_site *host, pli_site *site)
{
    if (!PLIM_KNOWN(device, d, memory_gtt_total_bytes) || !site->free_known || !is_integrated(d))
        return false;
    uint64_t gtt = 0;
    if (is_kind(d, "dedicated")) {
        gtt = d->memory_gtt_total_bytes;
        site->own = site->free;
        site->total = pli_add_sat(site->total, gtt);
        if (PLIM_KNOWN(device, d, memory_gtt_used_bytes))
            gtt = pli_sub_sat(gtt, d->memory_gtt_used_bytes);
    } else {
        gtt = site->free;
        site->free = 0;
    }
    site->free = pli_add_sat(site->free, host->budget_known ? pli_smaller(gtt, host->budget) : gtt);
    site->budget = site->free / 100 * 85;
    site->budget_known = true;
    return true;
}

static void read_device(const plim_device *d, const pli_site *host, pli_site *site)
{
    site->device = d;
    site->total_known = PLIM_KNOWN(device, d, memory_total_bytes);
    site->total = site->total_known ? d->memory_total_bytes : 0;
    site->free_known = PLIM_KNOWN(device, d, memory_free_bytes) &&
                       !from_table(PLI_SOURCE(device, d, memory_free_bytes));
    site->free = site->free_known ? d->memory_free_bytes : 0;
    site->source = site->free_known ? PLI_SOURCE(device, d, memory_free_bytes) : NULL;
    site->shared = is_integrated(d) || is_kind(d, "unified") || is_kind(d, "shared");
    if (read_apu(d, host, site))
        return;
    site->budget = site->free;
    site->budget_known = site->free_known;
    if (!site->shared || host->unlimited || !host->budget_known)
        return;
    /* Shared memory is free as far as the host's is, and no further than the device's own limit
     * where one is told. */
    uint64_t limit = site->free_known ? site->free : site->total_known ? site->total : host->free;
    if (!site->free_known) {
        site->free = pli_smaller(limit, host->free);
        site->free_known = true;
        site->source = host->source;
    }
    site->budget = pli_smaller(limit, host->budget);
    site->budget_known = true;
}

/* A part of a card whose use is not told apart (AMD's partitions): the whole card's use is the most
 * that the part can have of it. */
static void read_part(const plim_machine *machine, const plim_device *d, pli_site *site)
{
    if (site->free_known || !site->total_known || !PLIM_KNOWN(device, d, parent) ||
        d->parent >= machine->devices.count)
        return;
    const plim_device *whole = machine->devices.items[d->parent];
    const char *source = PLI_SOURCE(device, whole, memory_used_bytes);
    if (!PLIM_KNOWN(device, whole, memory_used_bytes) || from_table(source))
        return;
    site->free = site->budget = pli_sub_sat(site->total, whole->memory_used_bytes);
    site->free_known = site->budget_known = true;
    site->source = source;
}

static bool is_windows(const plim_machine *machine)
{
    return PLIM_KNOWN(machine, machine, os) && PLIM_KNOWN(os, machine->os, name) &&
           strcmp(machine->os->name, "windows") == 0;
}

static void read_host(const plim_machine *machine, uint64_t safety, pli_site *host)
{
    host->backend = host_backend;
    (void)snprintf(host->name, sizeof host->name, "%s", host_backend->name);
    if (!PLIM_KNOWN(machine, machine, memory))
        return;
    const plim_memory *m = machine->memory;
    host->total_known = PLIM_KNOWN(memory, m, total_bytes);
    host->total = host->total_known ? m->total_bytes : 0;
    if (PLIM_KNOWN(memory, m, usable_bytes)) {
        host->free = m->usable_bytes;
        host->source = PLIM_KNOWN(memory, m, usable_source) ? m->usable_source
                                                            : PLI_SOURCE(memory, m, usable_bytes);
        host->free_known = true;
    } else if (PLIM_KNOWN(memory, m, available_bytes)) {
        host->free = m->available_bytes;
        host->source = PLI_SOURCE(memory, m, available_bytes);
        host->free_known = true;
    } else {
        host->unlimited =
            PLIM_KNOWN(memory, m, usable_source) && strcmp(m->usable_source, "unlimited") == 0;
    }
    host->budget = pli_sub_sat(host->free, safety);
    host->budget_known = host->free_known;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A slice of a card in MIG mode. CUDA shows a program one of them, whole cards before slices: the
 * largest is taken, as CUDA_VISIBLE_DEVICES would. */
static bool is_slice(const plim_device *d)
{
    const pli_backend *backend = backend_of(d);
    return PLIM_KNOWN(device, d, parent) && PLIM_KNOWN(device, d, partition) && backend &&
           strcmp(backend->family, "cuda") == 0;
}

static bool is_better_slice(const plim_device *a, const plim_device *b)
{
    return PLIM_KNOWN(device, a, memory_free_bytes) &&
           (!PLIM_KNOWN(device, b, memory_free_bytes) ||
            a->memory_free_bytes > b->memory_free_bytes);
}

/* The one slice to use; NULL: none, or a whole card of its family is there. */
static const plim_device *slice_to_use(const plim_machine *machine)
{
    const plim_device *best = NULL;
    for (size_t i = 0; i < machine->devices.count; i++) {
        const plim_device *d = machine->devices.items[i];
        if (!is_usable(machine, i) || strcmp(backend_of(d)->family, "cuda") != 0)
            continue;
        if (!is_slice(d))
            return NULL;
        if (!best || is_better_slice(d, best))
            best = d;
    }
    return best;
}

/* Another host's device, behind an rpc-server. */
static bool is_remote(const plim_device *device)
{
    return strcmp(backend_of(device)->family, "rpc") == 0;
}

/* llama.cpp takes integrated GPUs only where this host has no other. */
static bool any_discrete(const plim_machine *machine)
{
    for (size_t i = 0; i < machine->devices.count; i++)
        if (is_usable(machine, i) && !is_integrated(machine->devices.items[i]) &&
            !is_remote(machine->devices.items[i]))
            return true;
    return false;
}

static void add_device(pli_sites *sites, const plim_machine *machine, const plim_device *d,
                       const pli_site *host)
{
    const pli_backend *backend = backend_of(d);
    unsigned ordinal = 0;
    if (sites->devices == PLI_MAX_PLAN_DEVICES) {
        sites->left_out++;
        return;
    }
    for (size_t i = 0; i < sites->devices; i++)
        ordinal += sites->at[i].backend == backend;
    pli_site *site = &sites->at[sites->devices++];
    *site = (pli_site){.backend = backend, .ordinal = ordinal};
    (void)snprintf(site->name, sizeof site->name, "%s%u", backend->name, ordinal);
    read_device(d, host, site);
    if (!site->shared)
        read_part(machine, d, site);
}

void pli_sites_read(const plim_machine *machine, pli_sites *sites)
{
    pli_site host = {.backend = NULL};
    memset(sites, 0, sizeof *sites);
    sites->safety = PLI_HOST_BUFFER * (is_windows(machine) ? 2 : 1);
    read_host(machine, sites->safety, &host);
    bool discrete = any_discrete(machine);
    const plim_device *slice = slice_to_use(machine);
    for (int remote = 1; remote >= 0; remote--) /* the engine's order: the fewest transfers */
        for (size_t i = 0; i < machine->devices.count; i++) {
            const plim_device *d = machine->devices.items[i];
            if (is_usable(machine, i) && is_remote(d) == (remote == 1) &&
                !(discrete && is_integrated(d)) && (!is_slice(d) || d == slice))
                add_device(sites, machine, d, &host);
        }
    sites->at[sites->devices] = host;
    sites->repacks = pli_repacks_of(machine);
}

bool pli_sites_by_buffer(const pli_sites *sites, const char *buffer, size_t *site)
{
    char name[32];
    for (size_t i = 0; i < sites->devices; i++) {
        (void)snprintf(name, sizeof name, "%s%u", sites->at[i].backend->buffer,
                       sites->at[i].ordinal);
        if (strcmp(buffer, name) == 0 ||
            (sites->at[i].ordinal == 0 && strcmp(buffer, sites->at[i].backend->buffer) == 0)) {
            *site = i;
            return true;
        }
    }
    *site = sites->devices;
    return strcmp(buffer, host_backend->buffer) == 0 || pli_ends(pli_s(buffer), "_Host");
}
