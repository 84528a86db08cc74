/* FINISH: one entry for each device, sane figures, a stable order, index numbers. */
#include <stdlib.h>
#include <string.h>

#include "inventory.h"

#define NOWHERE SIZE_MAX

/* The list as the probes left it, and what becomes of each entry. */
struct list {
    pli_inventory *inv;
    plim_device **devices;
    size_t count;
    size_t *same_as;  /* position of the entry that stands for this one: its own, if none does */
    size_t *position; /* in the final list; NOWHERE until it is placed */
    const void **order;
    size_t placed;
};

/* ---- one entry for each device --------------------------------------------------------------- */

static bool differ(const char *a, bool a_known, const char *b, bool b_known)
{
    return a_known && b_known && strcmp(a, b) != 0;
}

#define DIFFER(a, b, member)                                                                       \
    differ((a)->member, PLIM_KNOWN(device, a, member), (b)->member, PLIM_KNOWN(device, b, member))
#define SAME(a, b, member)                                                                         \
    (PLIM_KNOWN(device, a, member) && PLIM_KNOWN(device, b, member) &&                             \
     strcmp((a)->member, (b)->member) == 0)

/* Parts share the PCI address of the whole, and firmware has been seen to give two cards one
 * address: a hardware id that differs keeps them apart. */
static bool is_same(const plim_device *a, const plim_device *b)
{
    if (SAME(a, b, uuid))
        return true;
    if (DIFFER(a, b, uuid) || DIFFER(a, b, serial_group))
        return false;
    return SAME(a, b, pci_address) && !PLIM_KNOWN(device, a, parent) &&
           !PLIM_KNOWN(device, b, parent);
}

static void merge(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->same_as[i] = i;
        for (size_t k = 0; k < i && list->same_as[i] == i; k++)
            if (list->same_as[k] == k && is_same(list->devices[k], list->devices[i])) {
                pli_record_fill(&plim_record_device, list->devices[k], list->devices[i]);
                list->same_as[i] = k;
            }
    }
}

/* ---- figures that cannot be ------------------------------------------------------------------ */

static const char *name_of(const plim_device *d)
{
    return PLIM_KNOWN(device, d, pci_address) ? d->pci_address
           : PLIM_KNOWN(device, d, name)      ? d->name
                                              : "device";
}

static void check(pli_inventory *inv, plim_device *d)
{
    if (!PLIM_KNOWN(device, d, memory_total_bytes))
        return;
    bool used =
        PLIM_KNOWN(device, d, memory_used_bytes) && d->memory_used_bytes > d->memory_total_bytes;
    bool free =
        PLIM_KNOWN(device, d, memory_free_bytes) && d->memory_free_bytes > d->memory_total_bytes;
    if (!used && !free)
        return;
    pli_note(inv, "warning", "inventory", name_of(d), NULL,
             "says that more memory is %s than it has; used and free are taken for unknown",
             used ? "in use" : "free");
    PLI_FORGET(device, d, memory_used_bytes);
    PLI_FORGET(device, d, memory_free_bytes);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Longer domains are larger, and hex digits sort as they stand. */
static int compare_addresses(const char *a, const char *b)
{
    size_t na = strcspn(a, ":"), nb = strcspn(b, ":");
    return na != nb ? (na < nb ? -1 : 1) : strcmp(a, b);
}

/* By PCI address; devices without one behind, as they were found. */
static bool goes_before(const plim_device *a, const plim_device *b)
{
    bool in_a = PLIM_KNOWN(device, a, pci_address), in_b = PLIM_KNOWN(device, b, pci_address);
    return in_a && (!in_b || compare_addresses(a->pci_address, b->pci_address) < 0);
}

/* Position of the whole that entry i is a part of, NOWHERE if it is none. */
static size_t parent_of(const struct list *list, size_t i)
{
    const plim_device *d = list->devices[i];
    if (!PLIM_KNOWN(device, d, parent) || d->parent >= list->count)
        return NOWHERE;
    size_t parent = list->same_as[d->parent];
    return parent == i ? NOWHERE : parent;
}

static bool waits(const struct list *list, size_t i)
{
    return list->same_as[i] == i && list->position[i] == NOWHERE;
}

/* Places the first (by order) of the waiting entries with this parent. False when there is none. */
static bool place_next(struct list *list, size_t parent)
{
    size_t best = NOWHERE;
    for (size_t i = 0; i < list->count; i++)
        if (waits(list, i) && parent_of(list, i) == parent &&
            (best == NOWHERE || goes_before(list->devices[i], list->devices[best])))
            best = i;
    if (best == NOWHERE)
        return false;
    list->position[best] = list->placed;
    list->order[list->placed++] = list->devices[best];
    return true;
}

/* Parts, and parts of those (a MIG instance of a virtual function), behind each whole. */
static void place_parts(struct list *list, size_t whole, unsigned depth)
{
    size_t first = list->placed;
    while (place_next(list, whole)) {
    }
    if (depth == 0)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (list->position[i] != NOWHERE && list->position[i] >= first &&
            parent_of(list, i) == whole)
            place_parts(list, i, depth - 1);
}

static void sort(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->position[i] = NOWHERE;
    while (place_next(list, NOWHERE)) {
        size_t whole = 0;
        while (list->position[whole] != list->placed - 1)
            whole++;
        place_parts(list, whole, 3);
    }
    for (size_t i = 0; i < list->count; i++)
        if (waits(list, i)) { /* its parents go round in a circle */
            PLI_FORGET(device, list->devices[i], parent);
            list->position[i] = list->placed;
            list->order[list->placed++] = list->devices[i];
        }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool renumber(const struct list *list, uint64_t *position)
{
    if (*position >= list->count)
        return false;
    *position = list->position[list->same_as[*position]];
    return true;
}

static void number_links(const struct list *list)
{
    plim_items *links = &list->inv->machine->links;
    for (size_t i = 0; i < links->count; i++) {
        union {
            const void *in;
            plim_link *out;
        } link = {.in = links->items[i]};
        if (!renumber(list, &link.out->a) || !renumber(list, &link.out->b)) {
            PLI_FORGET(link, link.out, a);
            PLI_FORGET(link, link.out, b);
        }
    }
}

static void number_devices(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        plim_device *d = list->devices[i];
        if (list->same_as[i] != i)
            continue;
        PLI_SET(device, d, index, list->position[i], NULL);
        if (PLIM_KNOWN(device, d, parent) &&
            (parent_of(list, i) == NOWHERE || !renumber(list, &d->parent)))
            PLI_FORGET(device, d, parent);
    }
}

/* A record in which nothing is known says nothing: a tree of which one file was left is no machine
 * with an empty processor. */
static bool is_empty(const plim_head *head)
{
    return head && head->known[0] == 0 && head->known[1] == 0;
}

static void drop_empty_records(plim_machine *m)
{
#define DROP_EMPTY(rec)                                                                            \
    if (m->rec && is_empty(&m->rec->head)) {                                                       \
        m->rec = NULL;                                                                             \
        PLI_FORGET(machine, m, rec);                                                               \
    }
    DROP_EMPTY(os)
    DROP_EMPTY(cpu)
    DROP_EMPTY(memory)
    DROP_EMPTY(numa)
    DROP_EMPTY(environment)
#undef DROP_EMPTY
}

void pli_inventory_finish(pli_inventory *inv)
{
    drop_empty_records(inv->machine);
    struct list list = {.inv = inv, .count = pli_device_count(inv)};
    list.devices = pli_alloc_array(inv->arena, list.count, sizeof *list.devices);
    list.same_as = pli_alloc_array(inv->arena, list.count, sizeof *list.same_as);
    list.position = pli_alloc_array(inv->arena, list.count, sizeof *list.position);
    list.order = pli_alloc_array(inv->arena, list.count, sizeof *list.order);
    if (!list.devices || !list.same_as || !list.position || !list.order)
        return; /* the arena remembers */
    for (size_t i = 0; i < list.count; i++)
        list.devices[i] = pli_device_at(inv, i);
    merge(&list);
    sort(&list);
    number_devices(&list);
    number_links(&list);
    for (size_t i = 0; i < list.placed; i++) {
        union {
            const void *in;
            plim_device *out;
        } d = {.in = list.order[i]};
        check(inv, d.out);
    }
    inv->machine->devices = (plim_items){list.order, list.placed};
}
