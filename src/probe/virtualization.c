#include <string.h>

#include "../machine/query.h"
#include "environment.h"
#include "shared.h"

/* ---- uname ----------------------------------------------------------------------------------- */

/* Part 1 is the release, part 2 the version. */
static pli_str uname_part(pli_probe_context *context, int number, const char *file)
{
    char names[1024];
    size_t n = 0;
    pli_str left, part = {"", 0};
    if (pli_query(context->m, "-", "host.uname", NULL, 0, names, sizeof names, &n) != PLIM_OK ||
        n > sizeof names)
        return pli_read_wordf(context->m, context->scratch, "%s", file);
    left = (pli_str){names, n};
    for (int i = 0; i <= number; i++)
        if (!pli_next_part(&left, '\0', &part))
            return (pli_str){"", 0};
    char *copy = pli_strndup(context->scratch, part);
    return copy ? (pli_str){copy, part.n} : (pli_str){"", 0};
}

pli_str pli_kernel_release(pli_probe_context *context)
{
    return uname_part(context, 1, "/proc/sys/kernel/osrelease");
}

pli_str pli_kernel_version(pli_probe_context *context)
{
    return uname_part(context, 2, "/proc/version");
}

/* ---- firmware strings ------------------------------------------------------------------------ */

enum field {
    sys_vendor,
    product_name,
    product_version,
    bios_vendor,
    bios_version,
    board_vendor,
    board_name,
    chassis_asset_tag,
    FIELD_COUNT, /* of DMI; the others come from elsewhere */
    signature = FIELD_COUNT,
    variable,
};

static const struct row {
    enum { HYPERVISOR, CLOUD } what;
    enum field where;
    const char *text, *name;
} rows[] = {
#define SURROUNDING(what, where, text, name) {what, where, text, name},
#include "../know/surroundings.def"
#undef SURROUNDING
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

static const struct row *in_firmware(int what, const pli_str fields[FIELD_COUNT])
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((int)rows[i].what == what && rows[i].where < FIELD_COUNT &&
            pli_starts(fields[rows[i].where], rows[i].text))
            return &rows[i];
    return NULL;
}

static void read_fields(pli_probe_context *context, pli_str fields[FIELD_COUNT])
{
    static const char *const files[FIELD_COUNT] = {
        [sys_vendor] = "sys_vendor",           [product_name] = "product_name",
        [product_version] = "product_version", [bios_vendor] = "bios_vendor",
        [bios_version] = "bios_version",       [board_vendor] = "board_vendor",
        [board_name] = "board_name",           [chassis_asset_tag] = "chassis_asset_tag",
    };
    static const char *const folders[] = {"/sys/class/dmi/id", "/sys/devices/virtual/dmi/id"};
    size_t at = 0;
    while (at < 2 && !pli_exists(context->m, folders[at]))
        at++;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        fields[i] =
            at < 2 ? pli_read_wordf(context->m, context->scratch, "%s/%s", folders[at], files[i])
                   : (pli_str){"", 0};
}

static const char *cloud_of_variables(pli_machine *m)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].where == variable && pli_env(m, rows[i].text))
            return rows[i].name;
    return NULL;
}

void pli_firmware_read(pli_probe_context *context, plim_environment *e)
{
    pli_str fields[FIELD_COUNT];
    read_fields(context, fields);
#define SET(field)                                                                                 \
    PLI_SET_STR(environment, e, dmi_##field, pli_text(context->inv, fields[field]), "dmi")
    SET(sys_vendor);
    SET(product_name);
    SET(product_version);
    SET(bios_vendor);
    SET(bios_version);
    SET(board_vendor);
    SET(board_name);
    const struct row *cloud = in_firmware(CLOUD, fields);
    if (cloud && cloud->where == chassis_asset_tag) /* elsewhere it is an owner's number */
        SET(chassis_asset_tag);
#undef SET
    if (cloud)
        PLI_SET(environment, e, cloud, cloud->name, "dmi");
    else
        PLI_SET_STR(environment, e, cloud, cloud_of_variables(context->m), "environment");
}

/* ---- hypervisor ------------------------------------------------------------------------------ */

static bool is_bare_metal(const plim_environment *e)
{
    return PLIM_KNOWN(environment, e, dmi_product_name) &&
           (pli_contains(pli_s(e->dmi_product_name), ".metal") ||
            pli_contains_nocase(pli_s(e->dmi_product_name), "bare metal") ||
            pli_contains_nocase(pli_s(e->dmi_product_name), "baremetal"));
}

static const char *from_firmware(const plim_environment *e)
{
    const pli_str fields[FIELD_COUNT] = {
        pli_s(e->dmi_sys_vendor),  pli_s(e->dmi_product_name),      pli_s(e->dmi_product_version),
        pli_s(e->dmi_bios_vendor), pli_s(e->dmi_bios_version),      pli_s(e->dmi_board_vendor),
        pli_s(e->dmi_board_name),  pli_s(e->dmi_chassis_asset_tag),
    };
    const struct row *row = is_bare_metal(e) ? NULL : in_firmware(HYPERVISOR, fields);
    return row ? row->name : NULL;
}

/* The hypervisor's own signature. Two CPUID leaves are two exits from the virtual machine: asked
 * only where the firmware did not say. */
static const char *from_cpuid(pli_machine *m)
{
    uint32_t r[4] = {0};
    char text[12];
    if (!m->ops->cpuid(m, 0x40000000u, 0, r))
        return NULL;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(r[1 + i / 4] >> (i % 4 * 8) & 0xff);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].where == signature &&
            pli_starts(pli_field_str(text, sizeof text), rows[i].text))
            return rows[i].name;
    return NULL;
}

/* x86: the CPU has a flag for it; without cpuinfo CPUID itself is asked. */
static bool is_guest(pli_machine *m, const pli_cpuinfo *cpu)
{
    uint32_t r[4] = {0};
    if (cpu->processors)
        return cpu->hypervisor;
    return m->ops->cpuid(m, 1, 0, r) && (r[2] >> 31) != 0;
}

/* A KVM machine that has sysfs and no firmware tables in it is Firecracker's. */
static bool lacks_firmware(pli_machine *m, const plim_environment *e)
{
    return !PLIM_KNOWN(environment, e, dmi_sys_vendor) &&
           !PLIM_KNOWN(environment, e, dmi_bios_vendor) && pli_exists(m, "/sys/devices/virtual");
}

static const char *from_cpu(pli_probe_context *context, const plim_environment *e,
                            const char *firmware)
{
    const pli_cpuinfo *cpu = pli_shared_cpuinfo(context);
    if (cpu && pli_eq(cpu->vendor, "User Mode Linux"))
        return "uml";
    if (!cpu || (firmware && strcmp(firmware, "qemu") != 0) || !is_guest(context->m, cpu))
        return firmware;
    const char *name = from_cpuid(context->m);
    if (name && strcmp(name, "kvm") == 0 && lacks_firmware(context->m, e))
        return "firecracker";
    return name ? name : firmware ? firmware : "other";
}

/* Machines without DMI: device tree (Arm, POWER), /proc/sysinfo (s390), /sys/hypervisor (Xen). */
static const char *from_platform(pli_probe_context *context)
{
    pli_machine *m = context->m;
    pli_arena *arena = context->scratch;
    const pli_cpuinfo *cpu = pli_shared_cpuinfo(context);
    pli_str text = pli_read_wordf(m, arena, "/proc/device-tree/hypervisor/compatible");
    if (text.n)
        return pli_contains(text, "xen") ? "xen" : pli_contains(text, "vmware") ? "vmware" : "kvm";
    if (cpu && pli_contains(cpu->machine, "emulated by qemu"))
        return "kvm";
    if (cpu && pli_contains(cpu->machine, "pSeries"))
        return "powervm";
    text = pli_read_wordf(m, arena, "/sys/hypervisor/type");
    if (pli_eq(text, "xen"))
        return pli_contains(pli_read_wordf(m, arena, "/proc/xen/capabilities"), "control_d")
                   ? NULL
                   : "xen";
    if (cpu && pli_starts(cpu->vendor, "IBM/S390") &&
        pli_read(m, arena, "/proc/sysinfo", &text) == PLIM_OK)
        return pli_contains(text, "KVM/Linux") ? "kvm" : pli_contains(text, "z/VM") ? "zvm" : NULL;
    return NULL;
}

/* gVisor answers uname with one constant, and names itself in /proc/version of some releases. */
static bool is_gvisor(pli_str version)
{
    return pli_contains(version, "gVisor") ||
           pli_contains(version, "#1 SMP Sun Jan 10 15:06:54 PST 2016");
}

void pli_virtualization_find(pli_probe_context *context, plim_environment *e)
{
    if (is_gvisor(pli_kernel_version(context))) {
        PLI_SET(environment, e, virtualization, "gvisor", "uname");
        return;
    }
    const char *firmware = from_firmware(e);
    const char *name = from_cpu(context, e, firmware);
    if (name)
        PLI_SET(environment, e, virtualization, name, name == firmware ? "dmi" : "cpuid");
    else
        PLI_SET_STR(environment, e, virtualization, from_platform(context), "platform");
}
