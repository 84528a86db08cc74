#include "walk.h"

#include <plimsoll/machine.h>

#include <stdio.h>
#include <string.h>

#include "fill.h"

enum { MAX_PATH = 512 };

struct walk {
    bool (*visit)(void *user, const cli_leaf *leaf);
    void *user;
    char path[MAX_PATH];
};

static bool walk_record(struct walk *walk, size_t at, const plim_record *record, const void *r);

/* What tells the records of a list apart, where their place does not: a template of fill.h. */
static const struct {
    const plim_record *record;
    const char *name;
} names[] = {
    {&plim_record_device, "{pci.address/uuid/index}"},
    {&plim_record_storage, "{name}"},
    {&plim_record_numa_node, "{id}"},
    {&plim_record_core_kind, "{kind}"},
    {&plim_record_cache_size, "{size_bytes}"},
    {&plim_record_link, "{a}-{b}"},
    {&plim_record_note, "{probe}[ {subject}]"},
};

static void name_item(const plim_record *record, const void *r, size_t i, char *buf, size_t size)
{
    char name[256];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (names[k].record == record && cli_fill(name, sizeof name, names[k].name, record, r)) {
            (void)snprintf(buf, size, "[%s]", name);
            return;
        }
    (void)snprintf(buf, size, "[%zu]", i);
}

/* Appends to the path behind its first `at` bytes; returns the new length. */
static size_t append(struct walk *walk, size_t at, const char *text)
{
    int n = snprintf(walk->path + at, MAX_PATH - at, "%s%s", at && *text != '[' ? "." : "", text);
    return n < 0 || at + (size_t)n >= MAX_PATH ? MAX_PATH - 1 : at + (size_t)n;
}

static bool walk_list(struct walk *walk, size_t at, const plim_field *field, const char *place)
{
    plim_items list;
    char name[260];
    memcpy(&list, place, sizeof list);
    for (size_t i = 0; i < list.count; i++) {
        name_item(field->record, list.items[i], i, name, sizeof name);
        if (!walk_record(walk, append(walk, at, name), field->record, list.items[i]))
            return false;
    }
    return true;
}

static bool walk_record(struct walk *walk, size_t at, const plim_record *record, const void *r)
{
    const plim_head *head = r;
    for (unsigned i = 0; i < record->field_count; i++) {
        const plim_field *field = &record->fields[i];
        const char *place = (const char *)r + field->offset;
        const void *inner;
        if (!plim_known(head, i))
            continue;
        size_t end = append(walk, at, field->key);
        cli_leaf leaf = {walk->path, field, r, head->source ? head->source[i] : NULL};
        bool more;
        if (field->type == PLIM_TYPE_RECORD) {
            memcpy(&inner, place, sizeof inner);
            more = !inner || walk_record(walk, end, field->record, inner);
        } else if (field->type == PLIM_TYPE_RECORDS) {
            more = walk_list(walk, end, field, place);
        } else {
            more = walk->visit(walk->user, &leaf);
        }
        if (!more)
            return false;
    }
    return true;
}

bool cli_walk(const plim_record *record, const void *r, bool (*visit)(void *user, const cli_leaf *),
              void *user)
{
    struct walk walk = {visit, user, ""};
    return walk_record(&walk, 0, record, r);
}
