#include "inventory.h"

#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/str.h"

/* The public result and the arena that owns everything in it. */
struct result {
    plim_machine machine;
    pli_arena *arena;
};

plim_status pli_inventory_new(const plim_allocator *allocator, pli_inventory *out)
{
    *out = (pli_inventory){NULL, NULL};
    pli_arena *arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    if (!arena)
        return PLIM_NOMEM;
    struct result *result = pli_alloc(arena, sizeof *result);
    const char **source = pli_alloc_array(arena, plim_record_machine.field_count, sizeof *source);
    if (!result || !source) {
        pli_arena_free(arena);
        return PLIM_NOMEM;
    }
    result->arena = arena;
    result->machine.head.source = source;
    *out = (pli_inventory){arena, &result->machine};
    plim_machine *m = &result->machine;
    PLI_SET(machine, m, schema, "plimsoll.machine/1", NULL);
    PLI_SET(machine, m, version, PLIM_VERSION_TEXT, NULL);
    /* A list that was looked for is known, also when it is empty. */
    pli_mark(&m->head, PLIM_F_machine_devices, NULL);
    pli_mark(&m->head, PLIM_F_machine_links, NULL);
    pli_mark(&m->head, PLIM_F_machine_notes, NULL);
    return PLIM_OK;
}

void pli_inventory_free(pli_inventory *inv)
{
    pli_arena_free(inv->arena);
    *inv = (pli_inventory){NULL, NULL};
}

plim_status pli_inventory_freeze(pli_inventory *inv, plim_machine **out)
{
    bool failed = pli_arena_failed(inv->arena);
    *out = failed ? NULL : inv->machine;
    if (failed)
        pli_inventory_free(inv);
    *inv = (pli_inventory){NULL, NULL};
    return failed ? PLIM_NOMEM : PLIM_OK;
}

void plim_machine_free(plim_machine *machine)
{
    if (machine)
        pli_arena_free(((struct result *)machine)->arena);
}

/* ---- records inside -------------------------------------------------------------------------- */

/* A getter of one of the machine's records, made on first use. The members are const for readers;
 * the builder owns them. */
#define RECORD_OF(rec, getter)                                                                     \
    plim_##rec *getter(pli_inventory *inv)                                                         \
    {                                                                                              \
        union {                                                                                    \
            const plim_##rec *in;                                                                  \
            plim_##rec *out;                                                                       \
        } r = {.in = inv->machine->rec};                                                           \
        if (!r.out) {                                                                              \
            r.out = PLI_NEW(inv->arena, rec);                                                      \
            if (r.out)                                                                             \
                PLI_SET(machine, inv->machine, rec, r.out, NULL);                                  \
        }                                                                                          \
        return r.out;                                                                              \
    }

RECORD_OF(os, pli_os_of)
RECORD_OF(cpu, pli_cpu_of)
RECORD_OF(memory, pli_memory_of)
RECORD_OF(numa, pli_numa_of)
RECORD_OF(environment, pli_environment_of)

/* ---- lists ----------------------------------------------------------------------------------- */

size_t pli_device_count(const pli_inventory *inv)
{
    return inv->machine->devices.count;
}

plim_device *pli_device_at(const pli_inventory *inv, size_t i)
{
    union {
        const void *in;
        plim_device *out;
    } d = {.in = i < inv->machine->devices.count ? inv->machine->devices.items[i] : NULL};
    return d.out;
}

plim_device *pli_add_device(pli_inventory *inv)
{
    if (pli_device_count(inv) >= PLI_MAX_DEVICES) {
        pli_note(inv, "warning", "inventory", NULL, NULL,
                 "more than %u devices, the rest is left out", PLI_MAX_DEVICES);
        return NULL;
    }
    plim_device *d = PLI_NEW(inv->arena, device);
    return d && pli_items_add(inv->arena, &inv->machine->devices, d) ? d : NULL;
}

plim_storage *pli_add_storage(pli_inventory *inv)
{
    plim_storage *s = PLI_NEW(inv->arena, storage);
    pli_mark(&inv->machine->head, PLIM_F_machine_storage, NULL);
    return s && pli_items_add(inv->arena, &inv->machine->storage, s) ? s : NULL;
}

plim_numa_node *pli_add_numa_node(pli_inventory *inv)
{
    plim_numa *numa = pli_numa_of(inv);
    plim_numa_node *node = PLI_NEW(inv->arena, numa_node);
    if (!numa || !node)
        return NULL;
    pli_mark(&numa->head, PLIM_F_numa_nodes, NULL);
    return pli_items_add(inv->arena, &numa->nodes, node) ? node : NULL;
}

plim_link *pli_add_link(pli_inventory *inv)
{
    plim_link *link = PLI_NEW(inv->arena, link);
    return link && pli_items_add(inv->arena, &inv->machine->links, link) ? link : NULL;
}

static uint64_t position_of(const pli_inventory *inv, const plim_device *device)
{
    size_t i = 0;
    while (i < pli_device_count(inv) && pli_device_at(inv, i) != device)
        i++;
    return i;
}

plim_device *pli_device_by_pci(const pli_inventory *inv, const char *address)
{
    for (size_t i = 0; address && i < pli_device_count(inv); i++) {
        plim_device *d = pli_device_at(inv, i);
        if (PLIM_KNOWN(device, d, pci_address) && !pli_is_part(d) &&
            strcmp(d->pci_address, address) == 0)
            return d;
    }
    return NULL;
}

void pli_set_parent(pli_inventory *inv, plim_device *part, const plim_device *whole)
{
    if (part != whole)
        PLI_SET(device, part, parent, position_of(inv, whole), NULL);
}

void pli_set_link_ends(pli_inventory *inv, plim_link *link, const plim_device *a,
                       const plim_device *b)
{
    PLI_SET(link, link, a, position_of(inv, a), NULL);
    PLI_SET(link, link, b, position_of(inv, b), NULL);
}

bool pli_is_part(const plim_device *d)
{
    return PLIM_KNOWN(device, d, parent);
}

uint64_t pli_ram_left(const pli_inventory *inv)
{
    const plim_memory *ram = inv->machine->memory;
    if (ram && PLIM_KNOWN(memory, ram, usable_bytes))
        return ram->usable_bytes;
    return ram && PLIM_KNOWN(memory, ram, available_bytes) ? ram->available_bytes : UINT64_MAX;
}

/* ---- texts and notes ------------------------------------------------------------------------- */

const char *pli_text(pli_inventory *inv, pli_str s)
{
    s = pli_trim(s);
    if (s.n == 0)
        return NULL;
    char *copy = pli_alloc(inv->arena, s.n + 1);
    if (copy)
        (void)pli_clean(s, copy, s.n + 1);
    return copy;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool has_note(const pli_inventory *inv, const char *probe, const char *subject,
                     const char *text)
{
    const plim_items *notes = &inv->machine->notes;
    for (size_t i = 0; i < notes->count; i++) {
        const plim_note *n = notes->items[i];
        if (same_text(n->probe, probe) && same_text(n->subject, subject) &&
            same_text(n->text, text))
            return true;
    }
    return false;
}

void pli_note(pli_inventory *inv, const char *severity, const char *probe, const char *subject,
              const char *hint, const char *format, ...)
{
    char text[1024], clean[sizeof text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)pli_clean(pli_s(text), clean, sizeof clean);
    const char *about = pli_text(inv, pli_s(subject));
    if (inv->machine->notes.count >= PLI_MAX_NOTES || has_note(inv, probe, about, clean))
        return;
    plim_note *note = PLI_NEW(inv->arena, note);
    if (!note)
        return;
    PLI_SET_STR(note, note, severity, pli_strdup(inv->arena, severity), NULL);
    PLI_SET_STR(note, note, probe, pli_strdup(inv->arena, probe), NULL);
    PLI_SET_STR(note, note, subject, about, NULL);
    PLI_SET_STR(note, note, text, pli_strdup(inv->arena, clean), NULL);
    PLI_SET_STR(note, note, hint, pli_text(inv, pli_s(hint)), NULL);
    (void)pli_items_add(inv->arena, &inv->machine->notes, note);
}
