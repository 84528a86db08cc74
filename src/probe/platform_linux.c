/* GPUs and NPUs of systems-on-chip: render and accel nodes that belong to no PCI device. That they
 * are there is all that is said here; their memory is the system's RAM. */
#include <string.h>

#include "../know/pci.h"
#include "device_node.h"

/* A class of nodes: where sysfs lists them, what they are called, where /dev has them. */
static const struct class
{
    const char *sysfs, *prefix, *dev;
} classes[] = {
    {"/sys/class/drm", "renderD", "/dev/dri"},
    {"/sys/class/accel", "accel", "/dev/accel"},
};

static bool is_claimed(const pli_inventory *inv, const char *node)
{
    for (size_t i = 0; i < pli_device_count(inv); i++) {
        const plim_device *d = pli_device_at(inv, i);
        if (PLIM_KNOWN(device, d, render_node) && strcmp(d->render_node, node) == 0)
            return true;
    }
    return false;
}

static void look(pli_probe_context *context, const struct class *class, const char *node)
{
    pli_str uevent, driver, pci;
    const char *vendor;
    (void)pli_readf(context->m, context->scratch, &uevent, "%s/%s/device/uevent", class->sysfs,
                    node);
    if (pli_find_value(uevent, "PCI_ID", '=', &pci) ||
        !pli_find_value(uevent, "DRIVER", '=', &driver))
        return;
    pli_pci_role role = pli_platform_role_of(driver, &vendor);
    plim_device *d = role.kind ? pli_add_device(context->inv) : NULL;
    if (!d)
        return;
    PLI_SET(device, d, kind, role.kind, "table");
    PLI_SET(device, d, family, role.family, "table");
    PLI_SET(device, d, vendor, vendor, "table");
    PLI_SET(device, d, name, role.name, "table");
    PLI_SET(device, d, integrated, true, "table");
    PLI_SET(device, d, memory_kind, "shared", "table");
    PLI_SET_STR(device, d, driver, pli_text(context->inv, driver), "sysfs");
    PLI_SET_STR(device, d, render_node, pli_strdup(context->inv->arena, node), "sysfs");
    PLI_SET(device, d, available, true, "sysfs");
    pli_judge_node(context, d, pli_printf(context->scratch, "%s/%s", class->dev, node));
}

static void run(pli_probe_context *context)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        pli_names names;
        (void)pli_list(context->m, context->scratch, classes[i].sysfs, &names);
        for (size_t k = 0; k < names.count; k++)
            if (strncmp(names.items[k], classes[i].prefix, strlen(classes[i].prefix)) == 0 &&
                !is_claimed(context->inv, names.items[k]))
                look(context, &classes[i], names.items[k]);
    }
}

const pli_probe pli_probe_platform_linux = {.run = run};
