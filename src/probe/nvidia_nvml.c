/* NVIDIA GPUs through NVML. GPUs that the bus layer lists are asked for by their PCI address, so
 * that whatever is wrong with one is said of that one; those it does not list (WSL, a container
 * without /sys, Tegra) by NVML's own numbers. */
#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "nvidia_gpu.h"

#define SOURCE "nvml"
#define LIBRARY "libnvidia-ml.so.1"
#define MODULE_VERSION "/proc/driver/nvidia/version"
#define WSL_LIBRARY "/usr/lib/wsl/lib/libnvidia-ml.so.1"

static bool gate(pli_probe_context *context)
{
    pli_machine *m = context->m;
    size_t next = 0;
    return pli_nvidia_next(context->inv, &next) || pli_exists(m, MODULE_VERSION) ||
           (pli_exists(m, "/dev/dxg") && pli_exists(m, WSL_LIBRARY)) ||
           pli_nvidia_is_tegra(m, context->scratch);
}

/* ---- a library that does not serve ----------------------------------------------------------- */

static void unusable_all(pli_probe_context *context, const char *why)
{
    size_t next = 0;
    for (plim_device *d; (d = pli_nvidia_next(context->inv, &next));)
        pli_unavailable(context, d, SOURCE, why);
}

/* The library crashed or hung on the way: whether the GPUs that it did not come to can be used is
 * not known. */
static void doubt_the_rest(pli_probe_context *context)
{
    size_t next = 0;
    for (plim_device *d; (d = pli_nvidia_next(context->inv, &next));)
        if (!PLIM_KNOWN(device, d, memory_total_bytes) && !PLIM_KNOWN(device, d, why_unavailable))
            PLI_FORGET(device, d, available);
}

/* Without the library that comes with the driver no CUDA program runs here, either. JetPack before
 * 6 has none: its GPU is no PCI device and is left alone. */
static void note_library(pli_probe_context *context, plim_status status)
{
    size_t next = 0;
    if (!pli_nvidia_next(context->inv, &next))
        return;
    if (status == PLIM_NOT_FOUND) {
        unusable_all(context, "the driver's library " LIBRARY " is not here");
        pli_note(context->inv, "warning", context->name, LIBRARY,
                 "install the driver's user-space part (in a container: the NVIDIA Container "
                 "Toolkit)",
                 "not found: memory of NVIDIA GPUs is unknown");
    } else if (status == PLIM_VERSION) {
        unusable_all(context, "the driver's library " LIBRARY " is not usable");
        pli_note(context->inv, "warning", context->name, LIBRARY, "install the driver anew",
                 "lacks functions that every version has");
    }
}

/* "12.550.54.14" is NVML's own version: that of CUDA, then that of the driver it belongs to. */
static const char *library_version(pli_probe_context *context, const pli_nvml *nvml)
{
    char text[PLI_NVML_TEXT];
    pli_str rest, cuda;
    if (pli_nvml_library_version(nvml, text) != PLI_NVML_SUCCESS)
        return NULL;
    rest = pli_field_str(text, sizeof text);
    return pli_next_part(&rest, '.', &cuda) ? pli_text(context->inv, rest) : NULL;
}

static void note_mismatch(pli_probe_context *context, const pli_nvml *nvml)
{
    pli_str module = pli_nvidia_module_version(context->m, context->scratch);
    const char *library = library_version(context, nvml);
    const char *kernel = module.n ? pli_text(context->inv, module) : NULL;
    char why[256];
    (void)snprintf(
        why, sizeof why, "driver and library do not fit: kernel module %.64s, library %.64s",
        kernel ? kernel : "of another version", library ? library : "of another version");
    unusable_all(context, why);
    pli_note(context->inv, "error", context->name, LIBRARY,
             "reboot, or unload the nvidia modules and load them again", "%s (nvmlInit_v2: %d %s)",
             why, PLI_NVML_LIB_RM_VERSION_MISMATCH,
             pli_nvml_error(PLI_NVML_LIB_RM_VERSION_MISMATCH));
}

static void note_init(pli_probe_context *context, const pli_nvml *nvml, int rc)
{
    static const struct {
        int rc;
        const char *why, *hint;
    } rows[] = {
        {PLI_NVML_DRIVER_NOT_LOADED, "the driver's kernel module is not loaded",
         "modprobe nvidia, or install the driver for this kernel"},
        {PLI_NVML_NO_PERMISSION, "this process may not talk to the driver",
         "check the rights of /dev/nvidiactl and the container's device rules"},
        {PLI_NVML_LIBRARY_NOT_FOUND, "the library is a stub without a driver behind it",
         "install the driver's user-space part"},
    };
    const char *why = "the driver cannot be asked";
    const char *hint = "a container loses its GPUs when systemd reloads its units: start it anew; "
                       "else look for Xid in the kernel log";
    if (rc == PLI_CALL_MISSING) { /* the call was given up, and a note says so already */
        doubt_the_rest(context);
        return;
    }
    if (rc == PLI_NVML_LIB_RM_VERSION_MISMATCH) {
        note_mismatch(context, nvml);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].rc == rc)
            why = rows[i].why, hint = rows[i].hint;
    unusable_all(context, why);
    pli_note(context->inv, "error", context->name, LIBRARY, hint, "%s (nvmlInit_v2: %d %s)", why,
             rc, pli_nvml_error(rc));
}

/* ---- GPUs that the bus layer lists ----------------------------------------------------------- */

typedef struct session {
    pli_probe_context *context;
    pli_nvml nvml;
    const char *driver_version;
    uint32_t on_bus, asleep;
    bool given_up; /* a call got no answer at all: the library crashed or hung there */
} session;

static void read_gpu(session *s, const pli_nvml_device *at, plim_device *d, bool on_bus)
{
    pli_nvidia_gpu gpu = {.context = s->context,
                          .nvml = &s->nvml,
                          .at = *at,
                          .d = d,
                          .driver_version = s->driver_version,
                          .on_bus = on_bus};
    pli_nvidia_read_gpu(&gpu);
}

/* Asking for its handle would wake it, for seconds and watts. */
static bool is_asleep(const session *s, const plim_device *d)
{
    return !s->context->options->wake && PLIM_KNOWN(device, d, power_state) &&
           strcmp(d->power_state, "suspended") == 0;
}

static void read_on_bus(session *s, plim_device *d)
{
    pli_nvml_device at;
    if (is_asleep(s, d)) {
        s->asleep++;
        pli_note(s->context->inv, "info", s->context->name, d->pci_address,
                 "--wake, or run something on it first",
                 "is asleep and was not woken: its memory is unknown");
        return;
    }
    int rc = pli_nvml_device_by_pci(&s->nvml, d->pci_address, &at);
    s->given_up = rc == PLI_CALL_MISSING;
    if (rc == PLI_NVML_SUCCESS)
        read_gpu(s, &at, d, true);
    else if (rc == PLI_NVML_NOT_FOUND || rc == PLI_NVML_INVALID_ARGUMENT)
        pli_unavailable(s->context, d, SOURCE, "the driver does not give it to this process");
    else if (!s->given_up)
        pli_nvidia_note_error(s->context, d, d->pci_address, "nvmlDeviceGetHandleByPciBusId_v2",
                              rc);
}

/* ---- the others ------------------------------------------------------------------------------ */

/* "00000000:01:00.0" as Linux writes it, "0000:01:00.0"; false for no address. */
static bool pci_address(const struct pli_nvml_pci *pci, char out[24])
{
    pli_str rest = pli_field_str(pci->bus_id, sizeof pci->bus_id), part;
    uint64_t domain, bus, device, function;
    if (rest.n == 0)
        rest = pli_field_str(pci->legacy_bus_id, sizeof pci->legacy_bus_id);
    if (!pli_next_part(&rest, ':', &part) || !pli_parse_hex(part, &domain) || domain > UINT32_MAX ||
        !pli_next_part(&rest, ':', &part) || !pli_parse_hex(part, &bus) || bus > 0xff ||
        !pli_next_part(&rest, '.', &part) || !pli_parse_hex(part, &device) || device > 0x1f ||
        !pli_parse_hex(rest, &function) || function > 7)
        return false;
    (void)snprintf(out, 24, "%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)bus, (unsigned)device,
                   (unsigned)function);
    return true;
}

static void set_pci(pli_inventory *inv, plim_device *d, const struct pli_nvml_pci *pci,
                    const char *address)
{
    unsigned id = (unsigned)pci->device_id, board = (unsigned)pci->subsystem_id;
    PLI_SET_STR(device, d, pci_address, pli_strdup(inv->arena, address), SOURCE);
    if (id) {
        PLI_SET_STR(device, d, pci_vendor_id, pli_printf(inv->arena, "%04x", id & 0xffff), SOURCE);
        PLI_SET_STR(device, d, pci_device_id, pli_printf(inv->arena, "%04x", id >> 16), SOURCE);
    }
    if (board)
        PLI_SET_STR(device, d, pci_subsystem,
                    pli_printf(inv->arena, "%04x:%04x", board & 0xffff, board >> 16), SOURCE);
}

/* NULL: the device is in the list already and was read, or there is no room. */
static plim_device *device_of(session *s, const pli_nvml_device *at)
{
    pli_inventory *inv = s->context->inv;
    struct pli_nvml_pci pci;
    char address[24];
    bool placed =
        pli_nvml_pci(&s->nvml, at, &pci) == PLI_NVML_SUCCESS && pci_address(&pci, address);
    plim_device *d = placed ? pli_device_by_pci(inv, address) : NULL;
    if (d && PLIM_KNOWN(device, d, pci_vendor_id) && strcmp(d->pci_vendor_id, "10de") == 0)
        return PLIM_KNOWN(device, d, driver) && strcmp(d->driver, "nvidia") == 0 ? NULL : d;
    d = pli_add_device(inv);
    if (d && placed)
        set_pci(inv, d, &pci, address);
    if (d && pli_exists(s->context->m, MODULE_VERSION)) /* in WSL, Windows' driver is in charge */
        PLI_SET(device, d, driver, "nvidia", "proc");
    return d;
}

/* A GPU of which only the number is known. */
static void add_unusable(session *s, const pli_nvml_device *at, int rc)
{
    plim_device *d = s->on_bus ? NULL : pli_add_device(s->context->inv);
    if (d) {
        PLI_SET(device, d, kind, "gpu", SOURCE);
        PLI_SET(device, d, vendor, "NVIDIA", SOURCE);
        PLI_SET(device, d, family, "cuda", SOURCE);
    }
    pli_nvidia_note_error(s->context, d, at->ordinal, "nvmlDeviceGetHandleByIndex_v2", rc);
}

static void read_by_index(session *s, uint32_t count)
{
    for (uint32_t i = 0; i < count && !s->given_up; i++) {
        pli_nvml_device at;
        int rc = pli_nvml_device_at(&s->nvml, i, &at);
        s->given_up = rc == PLI_CALL_MISSING;
        if (rc == PLI_NVML_SUCCESS) {
            plim_device *d = device_of(s, &at);
            if (d)
                read_gpu(s, &at, d, false);
        } else if (rc == PLI_NVML_INVALID_ARGUMENT) {
            pli_note(s->context->inv, "warning", s->context->name, LIBRARY, NULL,
                     "counts %u GPUs and has %u", (unsigned)count, (unsigned)i);
            return;
        } else if (!s->given_up) {
            add_unusable(s, &at, rc);
        }
    }
}

static void read_others(session *s)
{
    uint32_t count;
    int rc = s->given_up ? PLI_CALL_MISSING : pli_nvml_device_count(&s->nvml, &count);
    if (rc == PLI_CALL_MISSING)
        return;
    if (rc != PLI_NVML_SUCCESS) {
        pli_note(s->context->inv, "warning", s->context->name, LIBRARY, NULL,
                 "does not tell how many GPUs there are (%d %s)", rc, pli_nvml_error(rc));
        return;
    }
    if (count > PLI_MAX_DEVICES) {
        pli_note(s->context->inv, "warning", s->context->name, LIBRARY, NULL,
                 "counts %u GPUs: at most %u are looked at", (unsigned)count, PLI_MAX_DEVICES);
        count = PLI_MAX_DEVICES;
    }
    /* A sleeping GPU cannot be told from an unlisted one by its number without waking it. */
    if (count > s->on_bus && s->asleep == 0)
        read_by_index(s, count);
}

static void run(pli_probe_context *context)
{
    session s = {.context = context};
    char version[PLI_NVML_TEXT];
    plim_device *d;
    plim_status status = pli_nvml_load(context->m, &s.nvml);
    if (status != PLIM_OK) {
        note_library(context, status);
        return;
    }
    int rc = pli_nvml_init(&s.nvml);
    if (rc != PLI_NVML_SUCCESS) {
        note_init(context, &s.nvml, rc);
        return;
    }
    if (pli_nvml_driver_version(&s.nvml, version) == PLI_NVML_SUCCESS)
        s.driver_version = pli_text(context->inv, pli_field_str(version, sizeof version));
    for (size_t next = 0; !s.given_up && (d = pli_nvidia_next(context->inv, &next)); s.on_bus++)
        read_on_bus(&s, d);
    read_others(&s);
    if (pli_nvml_shutdown(&s.nvml) == PLI_CALL_MISSING)
        doubt_the_rest(context);
}

const pli_probe pli_probe_nvidia_nvml = {.gate = gate, .run = run, .isolated = true};
