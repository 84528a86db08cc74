#include "model_disks.h"

#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "../machine/query.h"
#include "mounts.h"
#include "shared.h"

#define MAX_DEPTH 8 /* partition on md on dm on ... */

pli_str pli_link_target(pli_probe_context *context, const char *path)
{
    pli_buf target;
    pli_str copy = {"", 0};
    if (!path)
        return copy;
    pli_buf_init(&target, &context->m->allocator, PLI_MAX_PATH);
    if (context->m->ops->link(context->m, path, &target) == PLIM_OK) {
        char *text = pli_strndup(context->scratch, pli_buf_str(&target));
        if (text)
            copy = (pli_str){text, target.n};
    }
    pli_buf_free(&target);
    return copy;
}

/* ---- from a block device down to disks ------------------------------------------------------- */

static void add_disk(pli_probe_context *context, pli_names *disks, const char *name)
{
    for (size_t i = 0; i < disks->count; i++)
        if (strcmp(disks->items[i], name) == 0)
            return;
    char **grown = pli_grow_array(context->scratch, disks->items, disks->count, sizeof *grown);
    char *copy = pli_strdup(context->scratch, name);
    if (!grown || !copy)
        return;
    disks->items = grown;
    disks->items[disks->count++] = copy;
}

/* "../../block/sda/sda1": the last part and the one before it. */
static char *part_from_end(pli_probe_context *context, pli_str path, int from_end)
{
    while (path.n) {
        size_t at = path.n;
        while (at > 0 && path.p[at - 1] != '/')
            at--;
        if (from_end-- == 0)
            return pli_strndup(context->scratch, pli_skip(path, at));
        path.n = at ? at - 1 : 0;
    }
    return NULL;
}

static void from_path(pli_probe_context *context, const char *path, pli_names *disks, int depth);

/* A loop device shows a file as a disk. */
static bool from_backing_file(pli_probe_context *context, const char *at, pli_names *disks,
                              int depth)
{
    pli_str file = pli_read_wordf(context->m, context->scratch, "%s/loop/backing_file", at);
    char *path = file.n ? pli_strndup(context->scratch, file) : NULL;
    if (path)
        from_path(context, path, disks, depth + 1);
    return path != NULL;
}

/* at: a link in sysfs to a block device. */
static void descend(pli_probe_context *context, const char *at, pli_names *disks, int depth)
{
    pli_names slaves;
    pli_str target = pli_link_target(context, at);
    char *name = part_from_end(context, target, 0), *whole = part_from_end(context, target, 1);
    if (!name || depth > MAX_DEPTH)
        return;
    if (whole && pli_existsf(context->m, context->scratch, "%s/partition", at)) {
        char *parent = pli_printf(context->scratch, "/sys/class/block/%s", whole);
        if (parent)
            descend(context, parent, disks, depth + 1);
        return;
    }
    if (pli_listf(context->m, context->scratch, &slaves, "%s/slaves", at) != PLIM_OK ||
        slaves.count == 0) {
        if (!from_backing_file(context, at, disks, depth))
            add_disk(context, disks, name);
        return;
    }
    for (size_t i = 0; i < slaves.count; i++) {
        char *slave = pli_printf(context->scratch, "/sys/class/block/%s", slaves.items[i]);
        if (slave)
            descend(context, slave, disks, depth + 1);
    }
}

static void from_number(pli_probe_context *context, uint64_t major, uint64_t minor,
                        pli_names *disks, int depth)
{
    char *at = pli_printf(context->scratch, "/sys/dev/block/%llu:%llu", (unsigned long long)major,
                          (unsigned long long)minor);
    if (at)
        descend(context, at, disks, depth);
}

/* ---- file systems without a device number of their own --------------------------------------- */

/* Length of the mount point if path lies below it, 0 if not. */
static size_t covers(pli_str point, pli_str path)
{
    if (pli_eq(point, "/"))
        return 1;
    if (path.n < point.n || !pli_same((pli_str){path.p, point.n}, point) ||
        (path.n > point.n && path.p[point.n] != '/'))
        return 0;
    return point.n;
}

/* The mount that a path lies in: the longest mount point, the last of equals. */
static bool mount_of(pli_probe_context *context, pli_str path, pli_mount *out)
{
    pli_str mounts;
    pli_mount mount;
    size_t best = 0;
    if (pli_read_shared(context, "/proc/self/mountinfo", &mounts) != PLIM_OK)
        return false;
    while (pli_next_mount(&mounts, &mount)) {
        size_t length = covers(pli_s(pli_mount_path(context->scratch, mount.point)), path);
        if (length >= best && length > 0) {
            best = length;
            *out = mount;
        }
    }
    return best > 0;
}

/* All devices of the btrfs that has this one among them. */
static bool from_btrfs(pli_probe_context *context, const char *device, pli_names *disks)
{
    pli_names volumes, members;
    if (pli_list(context->m, context->scratch, "/sys/fs/btrfs", &volumes) != PLIM_OK)
        return false;
    for (size_t i = 0; i < volumes.count; i++) {
        bool mine = false;
        if (pli_listf(context->m, context->scratch, &members, "/sys/fs/btrfs/%s/devices",
                      volumes.items[i]) != PLIM_OK)
            continue;
        for (size_t k = 0; k < members.count; k++)
            mine |= strcmp(members.items[k], device) == 0;
        for (size_t k = 0; mine && k < members.count; k++) {
            char *at = pli_printf(context->scratch, "/sys/class/block/%s", members.items[k]);
            if (at)
                descend(context, at, disks, 0);
        }
        if (mine)
            return true;
    }
    return false;
}

/* A mount whose source is a device node. */
static void from_source(pli_probe_context *context, const pli_mount *mount, pli_names *disks,
                        int depth)
{
    pli_stat st;
    char *source = pli_mount_path(context->scratch, mount->source);
    if (!source || source[0] != '/' || pli_stat_path(context->m, source, &st) != PLIM_OK ||
        st.type != PLI_FILE_BLOCK)
        return;
    char *at = pli_printf(context->scratch, "/sys/dev/block/%llu:%llu",
                          (unsigned long long)st.rdev_major, (unsigned long long)st.rdev_minor);
    char *name = part_from_end(context, pli_link_target(context, at), 0);
    if (!pli_eq(mount->type, "btrfs") || !name || !from_btrfs(context, name, disks))
        from_number(context, st.rdev_major, st.rdev_minor, disks, depth);
}

/* An overlay's files are in its upper or lower directory, which a container may not see: then the
 * path found is the overlay itself again. */
static void from_mount(pli_probe_context *context, pli_str path, pli_names *disks, int depth)
{
    pli_mount mount;
    pli_str below;
    if (depth > MAX_DEPTH || !mount_of(context, path, &mount))
        return;
    if (!pli_eq(mount.type, "overlay")) {
        from_source(context, &mount, disks, depth);
        return;
    }
    if (!pli_mount_option(mount.options, "upperdir", &below) &&
        !pli_mount_option(mount.options, "lowerdir", &below))
        return;
    (void)pli_next_part(&below, ':', &below);
    char *directory = pli_mount_path(context->scratch, below);
    pli_mount under;
    if (directory && mount_of(context, pli_s(directory), &under) &&
        !pli_same(under.point, mount.point))
        from_mount(context, pli_s(directory), disks, depth + 1);
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool space_of(pli_probe_context *context, const char *path, struct pli_fs_space *space)
{
    size_t n = 0;
    return path && path[0] == '/' &&
           pli_query(context->m, path, "fs.space", NULL, 0, space, sizeof *space, &n) == PLIM_OK &&
           n == sizeof *space;
}

static void from_path(pli_probe_context *context, const char *path, pli_names *disks, int depth)
{
    struct pli_fs_space space;
    if (depth > MAX_DEPTH || !space_of(context, path, &space))
        return;
    if (space.dev_major)
        from_number(context, space.dev_major, space.dev_minor, disks, depth);
    else
        from_mount(context, pli_s(path), disks, depth);
}

/* Tells where models lie on no disk. */
static void note_filesystem(pli_probe_context *context, const char *path, uint64_t type)
{
    enum { MEMORY, NETWORK, UNSEEN };
    static const char *const hints[] = {
        [MEMORY] = "models there take RAM twice while they are loaded: keep them on a disk",
        [NETWORK] =
            "loading waits for it: keep models that are used often on a disk of this machine",
        [UNSEEN] = "the pool's disks are not told: zpool status names them",
    };
    static const char *const places[] = {
        [MEMORY] = "in memory",
        [NETWORK] = "on a network or another host's disk",
        [UNSEEN] = "in a pool",
    };
    static const struct {
        uint64_t magic;
        const char *name;
        int where;
    } rows[] = {
#define FILESYSTEM(magic, name, where) {magic, name, where},
#include "../know/filesystems.def"
#undef FILESYSTEM
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].magic == (type & UINT32_MAX))
            pli_note(context->inv, "info", context->name, path, hints[rows[i].where],
                     "lies %s (%s)", places[rows[i].where], rows[i].name);
}

/* Variables that name a directory, then places below the home directory; at last the home itself
 * and the root, where a download would land. */
static const char *usual_directory(pli_probe_context *context, struct pli_fs_space *space)
{
    static const char *const variables[] = {"LLAMA_CACHE", "HF_HUB_CACHE", "HF_HOME",
                                            "OLLAMA_MODELS"};
    static const char *const places[] = {"/models",           "/.cache/huggingface",
                                         "/.cache/llama.cpp", "/.ollama/models",
                                         "/.lmstudio/models", ""};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *path = pli_env(context->m, variables[i]);
        if (space_of(context, path, space))
            return path;
    }
    const char *home = pli_env(context->m, "HOME");
    for (size_t i = 0; home && i < sizeof places / sizeof *places; i++) {
        const char *path = pli_printf(context->scratch, "%s%s", home, places[i]);
        if (space_of(context, path, space))
            return path;
    }
    return space_of(context, "/", space) ? "/" : NULL;
}

void pli_model_disks_find(pli_probe_context *context, pli_model_disks *out)
{
    struct pli_fs_space space = {.type = 0};
    const char *asked = context->options->models_directory;
    *out = (pli_model_disks){0};
    if (!asked)
        out->directory = usual_directory(context, &space);
    else if (space_of(context, asked, &space))
        out->directory = asked;
    else
        pli_note(context->inv, "warning", context->name, asked, "name a directory that exists",
                 "the models directory could not be looked at");
    if (!out->directory)
        return;
    from_path(context, out->directory, &out->disks, 0);
    if (out->disks.count == 0)
        note_filesystem(context, out->directory, space.type);
}
