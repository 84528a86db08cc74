/* The result being built: one plim_machine in one arena. Probes fill it with PLI_SET
 * (base/record.h) and these. */
#ifndef PLI_INVENTORY_H
#define PLI_INVENTORY_H

#include <plimsoll/machine.h>

#include "../base/record.h"

typedef struct pli_inventory {
    pli_arena *arena; /* strings and records of the result */
    plim_machine *machine;
} pli_inventory;

/* An empty document (schema, version). NULL arena when out of memory. */
plim_status pli_inventory_new(const plim_allocator *, pli_inventory *out);
void pli_inventory_free(pli_inventory *); /* not after pli_inventory_freeze() */
/* Hands the result to the caller (plim_machine_free). NOMEM when any allocation failed; the
 * inventory is then freed. */
plim_status pli_inventory_freeze(pli_inventory *, plim_machine **out);

/* The records inside, made on first use. NULL when out of memory: check, or let PLI_SET run on a
 * scratch record (never NULL). */
plim_os *pli_os_of(pli_inventory *);
plim_cpu *pli_cpu_of(pli_inventory *);
plim_memory *pli_memory_of(pli_inventory *);
plim_numa *pli_numa_of(pli_inventory *);
plim_environment *pli_environment_of(pli_inventory *);

/* Lists. NULL when out of memory or over PLI_MAX_DEVICES (with a note). */
plim_device *pli_add_device(pli_inventory *);
plim_storage *pli_add_storage(pli_inventory *);
plim_numa_node *pli_add_numa_node(pli_inventory *);
plim_link *pli_add_link(pli_inventory *);
size_t pli_device_count(const pli_inventory *);
plim_device *pli_device_at(const pli_inventory *, size_t i);
/* The physical device (not a partition) at this PCI address "dddd:bb:dd.f", NULL if none
 * (and for NULL). */
plim_device *pli_device_by_pci(const pli_inventory *, const char *address);

/* part is a partition (a MIG slice, a compute partition, a virtual function) of whole; a link joins
 * a and b. All of them are in the list already. What is written are positions in the list as it is
 * now; FINISH makes indices of them. */
void pli_set_parent(pli_inventory *, plim_device *part, const plim_device *whole);
void pli_set_link_ends(pli_inventory *, plim_link *, const plim_device *a, const plim_device *b);
bool pli_is_part(const plim_device *);

/* RAM that may be allocated now, by what the host's probes found; UINT64_MAX where they did not. It
 * bounds what is free of memory that a device shares with the system. */
uint64_t pli_ram_left(const pli_inventory *);

/* severity: "info", "warning", "error". subject, hint: NULL or "" for none. Texts are copied and
 * cleaned. Same probe, subject and text twice is one note. */
void pli_note(pli_inventory *, const char *severity, const char *probe, const char *subject,
              const char *hint, const char *format, ...) PLI_PRINTF(6, 7);

/* String for the result: a cleaned copy (control characters and bad UTF-8 become '?'), trimmed;
 * NULL when empty. */
const char *pli_text(pli_inventory *, pli_str s);

/* Replaces every string of the result that holds control characters or bad UTF-8 by a clean copy:
 * probes clean what they know to be foreign, this makes sure. Called by the engine. */
void pli_inventory_clean(pli_inventory *);

/* FINISH, called by the engine: devices that two probes added are made one (same UUID, or same PCI
 * address without different hardware ids; the first to say a thing is believed), impossible figures
 * are dropped with a note, the list is sorted (by PCI address, parts behind what they are parts of)
 * and numbered. */
void pli_inventory_finish(pli_inventory *);

#endif
