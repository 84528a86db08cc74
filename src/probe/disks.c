#include "disks.h"

#include <stddef.h>

enum where { NAME, PATH, VENDOR, MODEL };

static const char by_flag[] = "";

static const struct row {
    enum where where;
    const char *text, *kind;
} rows[] = {
#define BY_FLAG by_flag
#define DISK(where, text, kind) {where, text, kind},
#include "../know/disks.def"
#undef DISK
#undef BY_FLAG
};

static bool matches(const struct row *row, pli_str name, const pli_disk_traits *d)
{
    switch (row->where) {
    case NAME:
        return pli_starts(name, row->text);
    case PATH:
        return pli_contains(d->path, row->text);
    case VENDOR:
        return pli_starts(d->vendor, row->text);
    case MODEL:
        return pli_contains(d->model, row->text);
    }
    return false;
}

const char *pli_disk_kind(pli_str name, const pli_disk_traits *d)
{
    const char *kind = NULL;
    for (size_t i = 0; !kind && i < sizeof rows / sizeof *rows; i++)
        if (matches(&rows[i], name, d))
            kind = rows[i].kind;
    if (kind && kind != by_flag)
        return kind;
    if (!d->rotational_known || (kind == by_flag && d->rotational))
        return "unknown";
    return d->rotational ? "hdd" : "ssd";
}
