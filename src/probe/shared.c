#include "shared.h"

#include <string.h>

struct pli_shared_file {
    struct pli_shared_file *next;
    const char *path;
    pli_str text;
    plim_status status;
};

plim_status pli_read_shared(pli_probe_context *context, const char *path, pli_str *out)
{
    struct pli_shared_file *file = context->shared_files;
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    if (!file) {
        *out = (pli_str){"", 0};
        file = pli_alloc(context->shared, sizeof *file);
        if (!file)
            return PLIM_NOMEM;
        file->path = pli_strdup(context->shared, path);
        if (!file->path)
            return PLIM_NOMEM;
        file->status = pli_read(context->m, context->shared, path, &file->text);
        file->next = context->shared_files;
        context->shared_files = file;
        pli_note_unreadable(context, path, file->status);
    }
    *out = file->text;
    return file->status;
}

const pli_cpuinfo *pli_shared_cpuinfo(pli_probe_context *context)
{
    pli_str text;
    if (context->cpuinfo)
        return context->cpuinfo;
    pli_cpuinfo *info = pli_alloc(context->shared, sizeof *info);
    (void)pli_read_shared(context, "/proc/cpuinfo", &text);
    if (info && pli_cpuinfo_parse(context->shared, text, info))
        context->cpuinfo = info;
    return context->cpuinfo;
}

void pli_note_unreadable(pli_probe_context *context, const char *path, plim_status status)
{
    if (status == PLIM_OK || status == PLIM_NOT_FOUND || status == PLIM_UNSUPPORTED)
        return;
    const char *hint = status == PLIM_PERMISSION
                           ? "run plimsoll as a user who may read it, or outside the sandbox"
                           : NULL;
    pli_note(context->inv, "warning", context->name, path, hint, "could not be read: %s",
             plim_status_text(status));
}

void pli_note_nonsense(pli_probe_context *context, const char *path, const char *what)
{
    pli_note(
        context->inv, "warning", context->name, path,
        "a container or a sandbox may show a file of its own there: compare it with the host's",
        "holds no %s", what);
}
