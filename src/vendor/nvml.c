#include "nvml.h"

#include <stdio.h>
#include <string.h>

#include "../machine/libs.h"

#define NO_ORDINAL "-"

const char *pli_nvml_error(int rc)
{
    switch (rc) {
#define X(name, code)                                                                              \
    case PLI_NVML_##name:                                                                          \
        return #name;
        PLI_NVML_RETURN_MAP(X)
#undef X
    default:
        return "error";
    }
}

plim_status pli_nvml_load(pli_machine *m, pli_nvml *out)
{
    static const pli_lib_symbol symbols[] = {
#define X(shape, symbol, required) {#symbol, required},
        PLI_NVML_MAP(X)
#undef X
    };
    enum { COUNT = sizeof symbols / sizeof *symbols };
    static const pli_lib lib = {"nvml", pli_sonames_nvml, symbols, COUNT};
    pli_symbol found[COUNT] = {NULL};
    plim_status status = m->ops->lib(m, &lib, found);
    const pli_symbol *next = found;
    *out = (pli_nvml){.m = m};
    if (status != PLIM_OK)
        return status;
#define X(shape, symbol, required) out->symbol = (pli_nvml_##shape *)*next++;
    PLI_NVML_MAP(X)
#undef X
    return PLIM_OK;
}

/* A function that this library lacks: try the form that older ones have. */
static bool absent(int rc)
{
    return rc == PLI_CALL_MISSING || rc == PLI_NVML_FUNCTION_NOT_FOUND;
}

/* ---- the library itself ---------------------------------------------------------------------- */

static int call(const pli_nvml *nvml, pli_nvml_call *fn, const char *symbol)
{
    int rc;
    PLI_CALL(nvml->m, rc, fn, symbol, NO_ORDINAL, PLI_NO_OUTS, ());
    return rc;
}
#define CALL(nvml, symbol) call((nvml), (nvml)->symbol, #symbol)

int pli_nvml_init(const pli_nvml *nvml)
{
    int rc = CALL(nvml, nvmlInit_v2);
    return absent(rc) ? CALL(nvml, nvmlInit) : rc;
}

int pli_nvml_shutdown(const pli_nvml *nvml)
{
    return CALL(nvml, nvmlShutdown);
}

static int system_text(const pli_nvml *nvml, pli_nvml_system_text *fn, const char *symbol,
                       char text[PLI_NVML_TEXT])
{
    int rc;
    memset(text, 0, PLI_NVML_TEXT);
    PLI_CALL(nvml->m, rc, fn, symbol, NO_ORDINAL, PLI_OUTS({text, PLI_NVML_TEXT}),
             (text, PLI_NVML_TEXT));
    return rc;
}

int pli_nvml_driver_version(const pli_nvml *nvml, char text[PLI_NVML_TEXT])
{
    return system_text(nvml, nvml->nvmlSystemGetDriverVersion, "nvmlSystemGetDriverVersion", text);
}

int pli_nvml_library_version(const pli_nvml *nvml, char text[PLI_NVML_TEXT])
{
    return system_text(nvml, nvml->nvmlSystemGetNVMLVersion, "nvmlSystemGetNVMLVersion", text);
}

/* ---- handles --------------------------------------------------------------------------------- */

static int count(const pli_nvml *nvml, pli_nvml_count *fn, const char *symbol, uint32_t *n)
{
    int rc;
    *n = 0;
    PLI_CALL(nvml->m, rc, fn, symbol, NO_ORDINAL, PLI_OUTS({n, sizeof *n}), (n));
    return rc;
}

int pli_nvml_device_count(const pli_nvml *nvml, uint32_t *n)
{
    int rc = count(nvml, nvml->nvmlDeviceGetCount_v2, "nvmlDeviceGetCount_v2", n);
    return absent(rc) ? count(nvml, nvml->nvmlDeviceGetCount, "nvmlDeviceGetCount", n) : rc;
}

/* A handle is a pointer, which means nothing in a recording: the journal knows the device by its
 * ordinal. */
static int by_index(const pli_nvml *nvml, pli_nvml_by_index *fn, const char *symbol, uint32_t index,
                    pli_nvml_device *out)
{
    int rc;
    PLI_CALL(nvml->m, rc, fn, symbol, out->ordinal, PLI_NO_OUTS, (index, &out->handle));
    return rc;
}

int pli_nvml_device_at(const pli_nvml *nvml, uint32_t index, pli_nvml_device *out)
{
    *out = (pli_nvml_device){NULL, ""};
    (void)snprintf(out->ordinal, sizeof out->ordinal, "%u", (unsigned)index);
    int rc = by_index(nvml, nvml->nvmlDeviceGetHandleByIndex_v2, "nvmlDeviceGetHandleByIndex_v2",
                      index, out);
    if (absent(rc))
        rc = by_index(nvml, nvml->nvmlDeviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex", index,
                      out);
    return rc;
}

static int by_name(const pli_nvml *nvml, pli_nvml_by_name *fn, const char *symbol, const char *name,
                   pli_nvml_device *out)
{
    int rc;
    PLI_CALL(nvml->m, rc, fn, symbol, out->ordinal, PLI_NO_OUTS, (name, &out->handle));
    return rc;
}

int pli_nvml_device_by_pci(const pli_nvml *nvml, const char *address, pli_nvml_device *out)
{
    *out = (pli_nvml_device){NULL, ""};
    (void)snprintf(out->ordinal, sizeof out->ordinal, "%s", address);
    int rc = by_name(nvml, nvml->nvmlDeviceGetHandleByPciBusId_v2,
                     "nvmlDeviceGetHandleByPciBusId_v2", address, out);
    if (absent(rc))
        rc = by_name(nvml, nvml->nvmlDeviceGetHandleByPciBusId, "nvmlDeviceGetHandleByPciBusId",
                     address, out);
    return rc;
}

int pli_nvml_mig_at(const pli_nvml *nvml, const pli_nvml_device *parent, uint32_t index,
                    pli_nvml_device *out)
{
    int rc;
    *out = (pli_nvml_device){NULL, ""};
    (void)snprintf(out->ordinal, sizeof out->ordinal, "%.24s/mig%u", parent->ordinal,
                   (unsigned)index);
    PLI_CALL(nvml->m, rc, nvml->nvmlDeviceGetMigDeviceHandleByIndex,
             "nvmlDeviceGetMigDeviceHandleByIndex", out->ordinal, PLI_NO_OUTS,
             (parent->handle, index, &out->handle));
    return rc;
}

/* ---- calls by shape -------------------------------------------------------------------------- */

int pli_nvml_get_text(const pli_nvml *nvml, pli_nvml_text *fn, const char *symbol,
                      const pli_nvml_device *d, char text[PLI_NVML_TEXT])
{
    int rc;
    memset(text, 0, PLI_NVML_TEXT);
    PLI_CALL(nvml->m, rc, fn, symbol, d->ordinal, PLI_OUTS({text, PLI_NVML_TEXT}),
             (d->handle, text, PLI_NVML_TEXT));
    return rc;
}

int pli_nvml_get_u32(const pli_nvml *nvml, pli_nvml_u32 *fn, const char *symbol,
                     const pli_nvml_device *d, uint32_t *value)
{
    int rc;
    *value = PLI_NVML_NO_U32;
    PLI_CALL(nvml->m, rc, fn, symbol, d->ordinal, PLI_OUTS({value, sizeof *value}),
             (d->handle, value));
    return rc;
}

int pli_nvml_get_two(const pli_nvml *nvml, pli_nvml_two *fn, const char *symbol,
                     const pli_nvml_device *d, uint32_t *first, uint32_t *second)
{
    int rc;
    *first = *second = PLI_NVML_NO_U32;
    PLI_CALL(nvml->m, rc, fn, symbol, d->ordinal,
             PLI_OUTS({first, sizeof *first}, {second, sizeof *second}),
             (d->handle, first, second));
    return rc;
}

int pli_nvml_get_typed_u32(const pli_nvml *nvml, pli_nvml_typed_u32 *fn, const char *symbol,
                           const pli_nvml_device *d, uint32_t type, uint32_t *value)
{
    char ordinal[sizeof d->ordinal + 16];
    int rc;
    *value = PLI_NVML_NO_U32;
    (void)snprintf(ordinal, sizeof ordinal, "%s/type%u", d->ordinal, (unsigned)type);
    PLI_CALL(nvml->m, rc, fn, symbol, ordinal, PLI_OUTS({value, sizeof *value}),
             (d->handle, type, value));
    return rc;
}

int pli_nvml_get_struct(const pli_nvml *nvml, pli_nvml_struct *fn, const char *symbol,
                        const pli_nvml_device *d, void *out, size_t size)
{
    int rc;
    PLI_CALL(nvml->m, rc, fn, symbol, d->ordinal, PLI_OUTS({out, size}), (d->handle, out));
    return rc;
}

/* ---- structs with a history ------------------------------------------------------------------ */

int pli_nvml_pci(const pli_nvml *nvml, const pli_nvml_device *d, struct pli_nvml_pci *out)
{
    memset(out, 0, sizeof *out);
    int rc = PLI_NVML_GET(nvml, struct, nvmlDeviceGetPciInfo_v3, d, out, sizeof *out);
    if (absent(rc))
        rc = PLI_NVML_GET(nvml, struct, nvmlDeviceGetPciInfo_v2, d, out, sizeof *out);
    if (absent(rc))
        rc = PLI_NVML_GET(nvml, struct, nvmlDeviceGetPciInfo, d, out, sizeof *out);
    return rc;
}

/* The header's comment asks for version 2; drivers want the version word and refuse the other. */
static int memory_v2(const pli_nvml *nvml, const pli_nvml_device *d, struct pli_nvml_memory_v2 *out)
{
    memset(out, 0, sizeof *out);
    out->version = PLI_NVML_MEMORY_V2;
    return PLI_NVML_GET(nvml, struct, nvmlDeviceGetMemoryInfo_v2, d, out, sizeof *out);
}

int pli_nvml_memory(const pli_nvml *nvml, const pli_nvml_device *d, struct pli_nvml_memory_v2 *out)
{
    struct pli_nvml_memory v1 = {0, 0, 0};
    int rc = memory_v2(nvml, d, out);
    if (!absent(rc) && rc != PLI_NVML_ARGUMENT_VERSION_MISMATCH &&
        rc != PLI_NVML_INVALID_ARGUMENT && rc != PLI_NVML_NOT_SUPPORTED)
        return rc;
    rc = PLI_NVML_GET(nvml, struct, nvmlDeviceGetMemoryInfo, d, &v1, sizeof v1);
    *out = (struct pli_nvml_memory_v2){PLI_NVML_MEMORY_V2, v1.total, PLI_NVML_NO_U64, v1.free,
                                       v1.used};
    return rc;
}

int pli_nvml_temperature(const pli_nvml *nvml, const pli_nvml_device *d, int32_t *celsius)
{
    struct pli_nvml_temperature t = {PLI_NVML_TEMPERATURE_V1, PLI_NVML_SENSOR_GPU, INT32_MAX};
    uint32_t old;
    int rc = PLI_NVML_GET(nvml, struct, nvmlDeviceGetTemperatureV, d, &t, sizeof t);
    *celsius = t.celsius;
    if (rc == PLI_NVML_SUCCESS)
        return rc;
    rc = PLI_NVML_GET(nvml, typed_u32, nvmlDeviceGetTemperature, d, PLI_NVML_SENSOR_GPU, &old);
    *celsius = old <= INT32_MAX ? (int32_t)old : INT32_MAX;
    return rc;
}
