#include "device_node.h"

static const char *subject_of(const plim_device *d)
{
    return PLIM_KNOWN(device, d, pci_address) ? d->pci_address : d->render_node;
}

void pli_unavailable(pli_probe_context *context, plim_device *d, const char *source,
                     const char *why)
{
    PLI_SET(device, d, available, false, source);
    if (!PLIM_KNOWN(device, d, why_unavailable))
        PLI_SET_STR(device, d, why_unavailable, pli_strdup(context->inv->arena, why), source);
}

/* Every /dev has a null device; a tree that was recorded without one has no nodes to judge. */
static bool has_dev(pli_probe_context *context)
{
    pli_stat st;
    return pli_stat_path(context->m, "/dev/null", &st) == PLIM_OK && st.type == PLI_FILE_CHAR;
}

void pli_judge_node(pli_probe_context *context, plim_device *d, const char *path)
{
    pli_stat st;
    if (!path || PLIM_KNOWN(device, d, why_unavailable) || !has_dev(context))
        return;
    const char *why = NULL, *hint = NULL;
    plim_status status = pli_stat_path(context->m, path, &st);
    if (status == PLIM_NOT_FOUND) {
        why = pli_printf(context->scratch, "%s is not here", path);
        hint = "in a container: give it the device node";
    } else if (status != PLIM_OK || !st.readable || !st.writable) {
        why = pli_printf(context->scratch, "no permission to open %s", path);
        hint = "add yourself to group render";
    }
    if (!why)
        return;
    pli_unavailable(context, d, "dev", why);
    pli_note(context->inv, "warning", context->name, subject_of(d), hint, "%s", why);
}
