/* A machine seen through a recording: what the recording has an entry for is answered by it, the
 * rest by the machine below. So tests and what-if questions change a machine in a few lines:
 * a file, a directory without its GPU, an answer of a driver, `failed=NOT_FOUND` for what shall be
 * gone. Entries are laid over the names that are asked for. */
#include <string.h>

#include "../base/limits.h"
#include "text.h"

struct overlay {
    pli_machine base;
    pli_machine_ops ops;
    pli_machine *inner, *over;
};

static struct overlay *overlay_of(pli_machine *m)
{
    return (struct overlay *)m;
}

/* Who answers for the content of this path? */
static pli_machine *reader(struct overlay *o, const char *path)
{
    bool over =
        pli_text_has(o->over, PLI_KIND_FILE, path) || pli_text_has(o->over, PLI_KIND_DENIED, path);
    return over ? o->over : o->inner;
}

static plim_status overlay_read(pli_machine *m, const char *path, pli_buf *out)
{
    pli_machine *who = reader(overlay_of(m), path);
    return who->ops->read(who, path, out);
}

struct kept_file {
    pli_machine *who;
    void *file;
};

static plim_status overlay_open(pli_machine *m, const char *path, void **file)
{
    struct kept_file *kept = pli_hook_resize(&m->allocator, NULL, 0, sizeof *kept);
    *file = NULL;
    if (!kept)
        return PLIM_NOMEM;
    kept->who = reader(overlay_of(m), path);
    plim_status status = kept->who->ops->open(kept->who, path, &kept->file);
    if (status == PLIM_OK)
        *file = kept;
    else
        pli_hook_resize(&m->allocator, kept, sizeof *kept, 0);
    return status;
}

static plim_status overlay_reread(pli_machine *m, void *file, pli_buf *out)
{
    struct kept_file *kept = file;
    (void)m;
    return kept->who->ops->reread(kept->who, kept->file, out);
}

static void overlay_close(pli_machine *m, void *file)
{
    struct kept_file *kept = file;
    if (!kept)
        return;
    kept->who->ops->close(kept->who, kept->file);
    pli_hook_resize(&m->allocator, kept, sizeof *kept, 0);
}

static bool has_name(const pli_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static plim_status add_names(pli_arena *arena, pli_names *out, const pli_names *more)
{
    for (size_t i = 0; i < more->count; i++) {
        if (has_name(out, more->items[i]))
            continue;
        if (out->count >= PLI_MAX_DIR_ENTRIES)
            return PLIM_LIMIT;
        char **items = pli_grow_array(arena, out->items, out->count, sizeof *items);
        if (!items)
            return PLIM_NOMEM;
        out->items = items;
        out->items[out->count++] = more->items[i];
    }
    return PLIM_OK;
}

/* A directory's own entry says all its names; otherwise files laid over it join those below. */
static plim_status overlay_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    struct overlay *o = overlay_of(m);
    pli_names more = {NULL, 0};
    plim_status above = o->over->ops->list(o->over, path, arena, &more);
    if (pli_text_has(o->over, PLI_KIND_DIR, path) || pli_text_has(o->over, PLI_KIND_DENIED, path)) {
        *out = more;
        return above;
    }
    plim_status below = o->inner->ops->list(o->inner, path, arena, out);
    return above == PLIM_OK ? add_names(arena, out, &more) : below;
}

static plim_status overlay_link(pli_machine *m, const char *path, pli_buf *target)
{
    struct overlay *o = overlay_of(m);
    pli_machine *who = pli_text_has(o->over, PLI_KIND_LINK, path) ? o->over : o->inner;
    return who->ops->link(who, path, target);
}

static plim_status overlay_stat(pli_machine *m, const char *path, pli_stat *out)
{
    struct overlay *o = overlay_of(m);
    plim_status status = o->over->ops->stat(o->over, path, out);
    if (status == PLIM_OK || pli_text_has(o->over, PLI_KIND_STAT, path) ||
        pli_text_has(o->over, PLI_KIND_FILE, path))
        return status;
    return o->inner->ops->stat(o->inner, path, out);
}

static const char *overlay_env(pli_machine *m, const char *name)
{
    struct overlay *o = overlay_of(m);
    const char *value = o->over->ops->env(o->over, name);
    return value ? value : o->inner->ops->env(o->inner, name);
}

static uint64_t overlay_clock(pli_machine *m)
{
    struct overlay *o = overlay_of(m);
    return o->inner->ops->clock(o->inner);
}

static plim_status overlay_lib(pli_machine *m, const pli_lib *lib, pli_symbol *symbols)
{
    struct overlay *o = overlay_of(m);
    plim_status status = o->over->ops->lib(o->over, lib, symbols);
    return status != PLIM_UNSUPPORTED ? status : o->inner->ops->lib(o->inner, lib, symbols);
}

static bool overlay_call_before(pli_machine *m, const pli_call *call, int *rc)
{
    struct overlay *o = overlay_of(m);
    (void)o->over->ops->call_before(o->over, call, rc);
    return *rc != PLI_CALL_MISSING || o->inner->ops->call_before(o->inner, call, rc);
}

static void overlay_call_after(pli_machine *m, const pli_call *call, int rc)
{
    struct overlay *o = overlay_of(m);
    o->inner->ops->call_after(o->inner, call, rc);
}

static plim_status overlay_run(pli_machine *m, const char *const argv[], uint32_t timeout_ms,
                               pli_run *run)
{
    struct overlay *o = overlay_of(m);
    plim_status status = o->over->ops->run(o->over, argv, timeout_ms, run);
    return status != PLIM_NOT_FOUND ? status : o->inner->ops->run(o->inner, argv, timeout_ms, run);
}

static bool overlay_cpuid(pli_machine *m, uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    struct overlay *o = overlay_of(m);
    return o->over->ops->cpuid(o->over, leaf, sub, out) ||
           o->inner->ops->cpuid(o->inner, leaf, sub, out);
}

static plim_status overlay_query(pli_machine *m, const char *node, const char *what, const void *in,
                                 size_t in_size, void *out, size_t out_size, size_t *length)
{
    struct overlay *o = overlay_of(m);
    plim_status status =
        o->over->ops->query(o->over, node, what, in, in_size, out, out_size, length);
    return status != PLIM_NOT_FOUND
               ? status
               : o->inner->ops->query(o->inner, node, what, in, in_size, out, out_size, length);
}

struct isolated {
    struct overlay *overlay;
    pli_job job;
    void *arg;
};

static void overlay_job(pli_machine *machine, void *arg)
{
    struct isolated *isolated = arg;
    pli_machine *before = isolated->overlay->inner;
    isolated->overlay->inner = machine;
    isolated->job(&isolated->overlay->base, isolated->arg);
    isolated->overlay->inner = before;
}

static void overlay_isolate(pli_machine *m, const char *name, pli_job job, void *arg,
                            uint32_t timeout_ms, pli_isolation *end)
{
    struct overlay *o = overlay_of(m);
    struct isolated isolated = {o, job, arg};
    o->inner->ops->isolate(o->inner, name, overlay_job, &isolated, timeout_ms, end);
}

static void overlay_free(pli_machine *m)
{
    plim_allocator allocator = m->allocator;
    pli_hook_resize(&allocator, m, sizeof(struct overlay), 0);
}

static const pli_machine_ops overlay_ops = {
    overlay_read,        overlay_open,       overlay_reread, overlay_close, overlay_list,
    overlay_link,        overlay_stat,       overlay_env,    overlay_clock, overlay_lib,
    overlay_call_before, overlay_call_after, overlay_run,    overlay_cpuid, overlay_query,
    overlay_isolate,     overlay_free,
};

plim_status pli_machine_overlay(const plim_allocator *allocator, pli_machine *inner,
                                pli_machine *over, pli_machine **out)
{
    *out = NULL;
    if (!pli_machine_is_text(over))
        return PLIM_INVALID;
    struct overlay *o = pli_hook_resize(allocator, NULL, 0, sizeof *o);
    if (!o)
        return PLIM_NOMEM;
    *o = (struct overlay){.ops = overlay_ops, .inner = inner, .over = over};
    o->base = (pli_machine){.ops = &o->ops, .facts = inner->facts};
    if (allocator)
        o->base.allocator = *allocator;
    if (!inner->ops->isolate)
        o->ops.isolate = NULL;
    *out = &o->base;
    return PLIM_OK;
}
