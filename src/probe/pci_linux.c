/* The PCI bus: every AI device, with its driver and what keeps it from being used, from one uevent
 * file each. Configuration space is never read, since that would wake devices. */
#include <string.h>

#include "../base/num.h"
#include "../know/pci.h"
#include "device_node.h"

#define DEVICES "/sys/bus/pci/devices"

/* A PCI function that is an AI device. */
struct function {
    const char *address;
    uint16_t vendor, device;
    uint32_t subsystem; /* vendor << 16 | device, 0 for none */
    uint32_t class;
    const char *driver; /* NULL: none bound */
    pli_pci_role role;
    plim_device *entry;
};

struct functions {
    struct function *items;
    size_t count;
};

/* ---- identity -------------------------------------------------------------------------------- */

static bool parse_id(pli_str text, uint16_t *id)
{
    uint64_t n;
    if (!pli_parse_hex(text, &n) || n > 0xffff)
        return false;
    *id = (uint16_t)n;
    return true;
}

/* "1002:15BF" */
static bool parse_pair(pli_str text, uint16_t *vendor, uint16_t *device)
{
    pli_str a, b;
    return pli_key_value(text, ':', &a, &b) && parse_id(a, vendor) && parse_id(b, device);
}

static bool parse_class(pli_str text, uint32_t *class)
{
    uint64_t n;
    if (!pli_parse_hex(text, &n) || n > 0xffffff)
        return false;
    *class = (uint32_t)n;
    return true;
}

/* Old kernels and thin trees: the attribute files say the same. */
static bool identify_by_attributes(pli_probe_context *context, struct function *f)
{
    pli_machine *m = context->m;
    pli_arena *a = context->scratch;
    return parse_id(pli_read_wordf(m, a, DEVICES "/%s/vendor", f->address), &f->vendor) &&
           parse_id(pli_read_wordf(m, a, DEVICES "/%s/device", f->address), &f->device) &&
           parse_class(pli_read_wordf(m, a, DEVICES "/%s/class", f->address), &f->class);
}

static void subsystem_by_attributes(pli_probe_context *context, struct function *f)
{
    uint16_t vendor, device;
    if (parse_id(pli_read_wordf(context->m, context->scratch, DEVICES "/%s/subsystem_vendor",
                                f->address),
                 &vendor) &&
        parse_id(pli_read_wordf(context->m, context->scratch, DEVICES "/%s/subsystem_device",
                                f->address),
                 &device))
        f->subsystem = (uint32_t)vendor << 16 | device;
}

static bool identify(pli_probe_context *context, struct function *f)
{
    pli_str uevent, value;
    uint16_t vendor, device;
    (void)pli_readf(context->m, context->scratch, &uevent, DEVICES "/%s/uevent", f->address);
    bool known = pli_find_value(uevent, "PCI_ID", '=', &value) &&
                 parse_pair(value, &f->vendor, &f->device) &&
                 pli_find_value(uevent, "PCI_CLASS", '=', &value) && parse_class(value, &f->class);
    if (!known && !identify_by_attributes(context, f))
        return false;
    if (pli_find_value(uevent, "PCI_SUBSYS_ID", '=', &value) && parse_pair(value, &vendor, &device))
        f->subsystem = (uint32_t)vendor << 16 | device;
    f->role = pli_pci_role_of(f->vendor, f->device, f->subsystem, f->class);
    if (!f->role.kind)
        return false;
    if (!f->subsystem)
        subsystem_by_attributes(context, f);
    f->driver =
        pli_find_value(uevent, "DRIVER", '=', &value)
            ? pli_strndup(context->scratch, value)
            : pli_link_namef(context->m, context->scratch, DEVICES "/%s/driver", f->address);
    return true;
}

/* Address without the function digit: "0000:03:00." */
static pli_str slot_of(const char *address)
{
    pli_str s = pli_s(address);
    while (s.n > 0 && s.p[s.n - 1] != '.')
        s.n--;
    return s;
}

/* Some graphics chips show a second display function for their second head: not a second device. */
static bool is_second_head(const struct functions *list, const struct function *f)
{
    pli_str slot = slot_of(f->address);
    if (f->class >> 8 != 0x0380 || f->driver)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct function *other = &list->items[i];
        if (other != f && other->vendor == f->vendor && pli_pci_is_display(other->class) &&
            pli_same(slot_of(other->address), slot) && strcmp(other->address, f->address) < 0)
            return true;
    }
    return false;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* PCIe generation of "16.0 GT/s PCIe", 0 where the speed is unknown. */
static uint64_t generation(pli_str speed)
{
    static const double rates[] = {2.5, 5, 8, 16, 32, 64, 128};
    pli_str word;
    double rate;
    if (!pli_next_word(&speed, &word) || !pli_parse_f64(word, &rate))
        return 0;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (rate > rates[i] * 0.99 && rate < rates[i] * 1.01)
            return i + 1;
    return 0;
}

/* 0, 63 and 255 are what a register says that is not there. */
static uint64_t lanes(pli_str width)
{
    uint64_t n;
    return pli_parse_u64(width, &n) && n <= 32 ? n : 0;
}

/* What the function itself reports: the slot above it is another fact. One lane of the first
 * generation is what graphics cards with a switch of their own (Intel Arc) report of the link
 * behind it; that says nothing of the bandwidth to the card. */
static void pcie(pli_probe_context *context, const struct function *f)
{
    plim_device *d = f->entry;
    pli_machine *m = context->m;
    pli_arena *a = context->scratch;
    const char *at = f->address;
    uint64_t n;
    if ((n = generation(pli_read_wordf(m, a, DEVICES "/%s/current_link_speed", at))) > 0)
        PLI_SET(device, d, pcie_current_gen, n, "sysfs");
    if ((n = lanes(pli_read_wordf(m, a, DEVICES "/%s/current_link_width", at))) > 0)
        PLI_SET(device, d, pcie_current_width, n, "sysfs");
    if ((n = generation(pli_read_wordf(m, a, DEVICES "/%s/max_link_speed", at))) > 0)
        PLI_SET(device, d, pcie_max_gen, n, "sysfs");
    if ((n = lanes(pli_read_wordf(m, a, DEVICES "/%s/max_link_width", at))) > 0)
        PLI_SET(device, d, pcie_max_width, n, "sysfs");
    if (!PLIM_KNOWN(device, d, pcie_max_gen) || !PLIM_KNOWN(device, d, pcie_max_width) ||
        (d->pcie_max_gen == 1 && d->pcie_max_width == 1) ||
        !(n = pli_pcie_bytes_per_s(d->pcie_max_gen, d->pcie_max_width)))
        return;
    PLI_SET(device, d, pcie_bandwidth_bytes_per_s, n, "sysfs");
}

static void power(pli_probe_context *context, const struct function *f)
{
    pli_str state = pli_read_wordf(context->m, context->scratch, DEVICES "/%s/power/runtime_status",
                                   f->address);
    if (state.n && !pli_eq(state, "unsupported"))
        PLI_SET_STR(device, f->entry, power_state, pli_text(context->inv, state), "sysfs");
}

static void place(pli_probe_context *context, const struct function *f)
{
    plim_device *d = f->entry;
    int64_t node;
    if (pli_parse_i64(
            pli_read_wordf(context->m, context->scratch, DEVICES "/%s/numa_node", f->address),
            &node) &&
        node >= 0)
        PLI_SET(device, d, numa_node, node, "sysfs");
    PLI_SET_STR(
        device, d, iommu_group,
        pli_link_namef(context->m, context->inv->arena, DEVICES "/%s/iommu_group", f->address),
        "sysfs");
}

static void name(pli_probe_context *context, const struct function *f)
{
    plim_device *d = f->entry;
    uint64_t revision;
    bool known = pli_read_hexf(context->m, context->scratch, &revision, DEVICES "/%s/revision",
                               f->address) &&
                 revision <= 0xff;
    if (known)
        PLI_SET_STR(device, d, pci_revision,
                    pli_printf(context->inv->arena, "%02x", (unsigned)revision), "sysfs");
    const char *text = f->role.name;
    if (!text && strcmp(f->role.kind, "gpu") == 0)
        text = pli_pci_gpu_name(f->vendor, f->device, known ? (int)revision : -1);
    PLI_SET_STR(device, d, name, text, "table");
    PLI_SET_STR(device, d, vendor, pli_pci_vendor_name(f->vendor), "table");
}

static void ids(pli_probe_context *context, const struct function *f)
{
    plim_device *d = f->entry;
    pli_arena *a = context->inv->arena;
    PLI_SET(device, d, kind, f->role.kind, "table");
    PLI_SET(device, d, family, f->role.family, "table");
    PLI_SET_STR(device, d, pci_address, pli_strdup(a, f->address), "sysfs");
    PLI_SET_STR(device, d, pci_vendor_id, pli_printf(a, "%04x", f->vendor), "sysfs");
    PLI_SET_STR(device, d, pci_device_id, pli_printf(a, "%04x", f->device), "sysfs");
    PLI_SET_STR(device, d, pci_class, pli_printf(a, "%06x", (unsigned)f->class), "sysfs");
    if (f->subsystem)
        PLI_SET_STR(device, d, pci_subsystem,
                    pli_printf(a, "%04x:%04x", (unsigned)(f->subsystem >> 16),
                               (unsigned)(f->subsystem & 0xffff)),
                    "sysfs");
}

/* ---- can it be used? ------------------------------------------------------------------------- */

static bool starts_with_digit_after(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 && text[n] >= '0' && text[n] <= '9';
}

/* card1 and renderD128 of the device, or accel0. */
static void nodes(pli_probe_context *context, const struct function *f, pli_driver_node kind)
{
    plim_device *d = f->entry;
    pli_names list;
    (void)pli_listf(context->m, context->scratch, &list, DEVICES "/%s/%s", f->address,
                    kind == PLI_NODE_ACCEL ? "accel" : "drm");
    for (size_t i = 0; i < list.count; i++) {
        const char *node = list.items[i];
        if (starts_with_digit_after(node, "card") && !PLIM_KNOWN(device, d, card))
            PLI_SET_STR(device, d, card, pli_strdup(context->inv->arena, node), "sysfs");
        if ((starts_with_digit_after(node, "renderD") || starts_with_digit_after(node, "accel")) &&
            !PLIM_KNOWN(device, d, render_node))
            PLI_SET_STR(device, d, render_node, pli_strdup(context->inv->arena, node), "sysfs");
    }
}

/* Cloud TPUs of the fifth generation and later are driven from user space: for them vfio-pci is the
 * way in, not a virtual machine's. */
static bool is_driven_by_vfio(const struct function *f)
{
    return strcmp(f->role.family, "tpu") == 0 && strcmp(f->driver, "vfio-pci") == 0;
}

static const char *node_path(pli_probe_context *context, const struct function *f,
                             pli_driver_node kind)
{
    const plim_device *d = f->entry;
    if (is_driven_by_vfio(f))
        return PLIM_KNOWN(device, d, iommu_group)
                   ? pli_printf(context->scratch, "/dev/vfio/%s", d->iommu_group)
                   : NULL;
    if (kind == PLI_NODE_OTHER || !PLIM_KNOWN(device, d, render_node))
        return NULL;
    return pli_printf(context->scratch, "/dev/%s/%s", kind == PLI_NODE_ACCEL ? "accel" : "dri",
                      d->render_node);
}

static void no_driver(pli_probe_context *context, const struct function *f)
{
    const plim_device *d = f->entry;
    pli_unavailable(context, f->entry, "sysfs", "no driver is bound to it");
    pli_note(context->inv, "info", context->name, f->address, "install or load its driver",
             "%s%s%s has no driver", PLIM_KNOWN(device, d, vendor) ? d->vendor : "a device",
             PLIM_KNOWN(device, d, name) ? " " : "", PLIM_KNOWN(device, d, name) ? d->name : "");
}

static void judge(pli_probe_context *context, const struct function *f)
{
    plim_device *d = f->entry;
    if (pli_pci_is_display(f->class) && strcmp(f->role.family, "unknown") == 0)
        pli_unavailable(context, d, "table", "nothing is known to compute with it");
    else if (!f->driver)
        no_driver(context, f);
    else
        PLI_SET(device, d, available, true, "sysfs");
    if (!f->driver)
        return;
    pli_driver driver = pli_driver_of(pli_s(f->driver));
    PLI_SET_STR(device, d, driver, pli_text(context->inv, pli_s(f->driver)), "sysfs");
    PLI_SET_STR(device, d, driver_version,
                pli_text(context->inv, pli_read_wordf(context->m, context->scratch,
                                                      "/sys/module/%s/version", f->driver)),
                "sysfs");
    if (driver.node != PLI_NODE_OTHER || pli_pci_is_display(f->class))
        nodes(context, f, driver.node);
    if (driver.why_not && !is_driven_by_vfio(f))
        pli_unavailable(context, d, "table", driver.why_not);
    pli_judge_node(context, d, node_path(context, f, driver.node));
}

/* ---- the bus --------------------------------------------------------------------------------- */

static void describe(pli_probe_context *context, struct function *f)
{
    f->entry = pli_add_device(context->inv);
    if (!f->entry)
        return;
    ids(context, f);
    name(context, f);
    place(context, f);
    power(context, f);
    /* Asking a sleeping device for its link would wake it. */
    if (!PLIM_KNOWN(device, f->entry, power_state) ||
        strcmp(f->entry->power_state, "suspended") != 0)
        pcie(context, f);
    judge(context, f);
}

/* A virtual function is a part of the physical one. */
static void join(pli_probe_context *context, const struct function *f)
{
    const char *physical =
        pli_link_namef(context->m, context->scratch, DEVICES "/%s/physfn", f->address);
    const plim_device *whole = physical ? pli_device_by_pci(context->inv, physical) : NULL;
    if (!whole || whole == f->entry)
        return;
    pli_set_parent(context->inv, f->entry, whole);
    PLI_SET(device, f->entry, partition, "virtual function", "sysfs");
}

static bool add_function(pli_probe_context *context, struct functions *list, struct function f)
{
    struct function *items =
        pli_grow_array(context->scratch, list->items, list->count, sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->items[list->count++] = f;
    return true;
}

static void run(pli_probe_context *context)
{
    pli_names names;
    struct functions list = {NULL, 0};
    if (pli_list(context->m, context->scratch, DEVICES, &names) == PLIM_PERMISSION)
        pli_note(context->inv, "warning", context->name, DEVICES, NULL,
                 "no permission to list the PCI bus");
    for (size_t i = 0; i < names.count; i++) {
        struct function f = {.address = names.items[i]};
        if (identify(context, &f) && !add_function(context, &list, f))
            return;
    }
    for (size_t i = 0; i < list.count; i++)
        if (!is_second_head(&list, &list.items[i]))
            describe(context, &list.items[i]);
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].entry)
            join(context, &list.items[i]);
}

const pli_probe pli_probe_pci_linux = {.run = run};
