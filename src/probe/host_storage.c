/* Disks, and which of them hold the models. */
#include <string.h>

#include "../base/num.h"
#include "disks.h"
#include "model_disks.h"
#include "shared.h"

struct folder { /* /sys/block, or /sys/class/block where a tree has that alone */
    const char *path;
    pli_names names;
};

/* ---- which names are disks ------------------------------------------------------------------- */

/* Layers over other disks, memory, and drives that models are not loaded from. */
static bool is_layer(pli_str name)
{
    static const char *const layers[] = {"loop", "ram", "zram", "sr", "fd", "dm-", "md", "mtd"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (pli_starts(name, layers[i]))
            return true;
    return false;
}

/* "nvme0c1n1": one path of a multipath namespace, which is listed as nvme0n1. */
static bool is_nvme_path(pli_str name)
{
    uint64_t number;
    if (!pli_starts(name, "nvme"))
        return false;
    name = pli_skip(name, 4);
    return pli_parse_u64_prefix(&name, &number) && pli_starts(name, "c");
}

/* Partitions stand beside their disks in /sys/class/block, and below them in the devices' tree:
 * ".../block/sda/sda1". */
static bool is_partition(const struct folder *folder, pli_str path)
{
    pli_str part, parent = {"", 0}, last = {"", 0};
    while (pli_next_part(&path, '/', &part)) {
        parent = last;
        last = part;
    }
    for (size_t i = 0; i < folder->names.count; i++)
        if (pli_eq(parent, folder->names.items[i]))
            return true;
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void add_disk(pli_probe_context *context, const struct folder *folder, const char *name,
                     pli_str path, const pli_model_disks *models)
{
    pli_machine *m = context->m;
    pli_arena *arena = context->scratch;
    pli_disk_traits d = {.path = path};
    uint64_t sectors, bytes, flag;
    bool sized = pli_read_u64f(m, arena, &sectors, "%s/%s/size", folder->path, name) &&
                 pli_mul(sectors, 512, &bytes);
    if (sized && bytes == 0)
        return; /* a card reader without a card, a network disk that is not connected */
    plim_storage *disk = pli_add_storage(context->inv);
    if (!disk)
        return;
    d.vendor = pli_read_wordf(m, arena, "%s/%s/device/vendor", folder->path, name);
    d.model = pli_read_wordf(m, arena, "%s/%s/device/model", folder->path, name);
    d.rotational_known =
        pli_read_u64f(m, arena, &flag, "%s/%s/queue/rotational", folder->path, name);
    d.rotational = d.rotational_known && flag != 0;
    PLI_SET_STR(storage, disk, name, pli_text(context->inv, pli_s(name)), "sysfs");
    PLI_SET(storage, disk, kind, pli_disk_kind(pli_s(name), &d), "sysfs");
    if (sized)
        PLI_SET(storage, disk, size_bytes, bytes, "sysfs");
    if (d.rotational_known)
        PLI_SET(storage, disk, rotational, d.rotational, "sysfs");
    PLI_SET_STR(storage, disk, model, pli_text(context->inv, d.model), "sysfs");
    for (size_t i = 0; i < models->disks.count; i++)
        if (strcmp(models->disks.items[i], name) == 0)
            PLI_SET_STR(storage, disk, models_path,
                        pli_text(context->inv, pli_s(models->directory)), "statfs");
}

static bool find_folder(pli_probe_context *context, struct folder *out)
{
    static const char *const paths[] = {"/sys/block", "/sys/class/block"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        out->path = paths[i];
        plim_status status = pli_list(context->m, context->scratch, paths[i], &out->names);
        pli_note_unreadable(context, paths[i], status);
        if (status == PLIM_OK)
            return true;
    }
    return false;
}

static void run(pli_probe_context *context)
{
    struct folder folder;
    pli_model_disks models;
    pli_model_disks_find(context, &models);
    if (!find_folder(context, &folder))
        return;
    pli_mark(&context->inv->machine->head, PLIM_F_machine_storage, NULL);
    for (size_t i = 0; i < folder.names.count; i++) {
        const char *name = folder.names.items[i];
        if (is_layer(pli_s(name)) || is_nvme_path(pli_s(name)))
            continue;
        pli_str path =
            pli_link_target(context, pli_printf(context->scratch, "%s/%s", folder.path, name));
        if (!is_partition(&folder, path))
            add_disk(context, &folder, name, path, &models);
    }
}

const pli_probe pli_probe_host_storage = {.run = run};
