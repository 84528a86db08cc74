/* NVML, the management library of NVIDIA's driver, by its binary interface: own declarations of
 * fixed width, checked against the sizes, offsets and version words of the real header (those of
 * 11.8, 12.9 and 13.5 agree; tests/vendor/nvml_header.py compares them again). Typed calls, no
 * policy: what an answer means is the probe's business.
 *
 * Every call goes through PLI_CALL, so it can be recorded, replayed and isolated. A call returns
 * NVML's code, or PLI_CALL_MISSING where the library has no such function or a recording no such
 * call. The library is loaded once and never unloaded: it leaves exit handlers behind.
 */
#ifndef PLI_NVML_H
#define PLI_NVML_H

#include <stddef.h>

#include "../machine/machine.h"

/* ---- return codes ---------------------------------------------------------------------------- */

#define PLI_NVML_RETURN_MAP(X)                                                                     \
    X(SUCCESS, 0)                                                                                  \
    X(UNINITIALIZED, 1)                                                                            \
    X(INVALID_ARGUMENT, 2)                                                                         \
    X(NOT_SUPPORTED, 3)                                                                            \
    X(NO_PERMISSION, 4)                                                                            \
    X(ALREADY_INITIALIZED, 5)                                                                      \
    X(NOT_FOUND, 6)                                                                                \
    X(INSUFFICIENT_SIZE, 7)                                                                        \
    X(INSUFFICIENT_POWER, 8)                                                                       \
    X(DRIVER_NOT_LOADED, 9)                                                                        \
    X(TIMEOUT, 10)                                                                                 \
    X(IRQ_ISSUE, 11)                                                                               \
    X(LIBRARY_NOT_FOUND, 12)                                                                       \
    X(FUNCTION_NOT_FOUND, 13)                                                                      \
    X(CORRUPTED_INFOROM, 14)                                                                       \
    X(GPU_IS_LOST, 15)                                                                             \
    X(RESET_REQUIRED, 16)                                                                          \
    X(OPERATING_SYSTEM, 17)                                                                        \
    X(LIB_RM_VERSION_MISMATCH, 18)                                                                 \
    X(IN_USE, 19)                                                                                  \
    X(MEMORY, 20)                                                                                  \
    X(NO_DATA, 21)                                                                                 \
    X(INSUFFICIENT_RESOURCES, 23)                                                                  \
    X(ARGUMENT_VERSION_MISMATCH, 25)                                                               \
    X(DEPRECATED, 26)                                                                              \
    X(NOT_READY, 27)                                                                               \
    X(GPU_NOT_FOUND, 28)                                                                           \
    X(INVALID_STATE, 29)                                                                           \
    X(UNKNOWN, 999)

enum {
#define X(name, code) PLI_NVML_##name = (code),
    PLI_NVML_RETURN_MAP(X)
#undef X
};
/* "GPU_IS_LOST"; "error" for a code that is none. Static text. */
const char *pli_nvml_error(int rc);

/* ---- values ---------------------------------------------------------------------------------- */

#define PLI_NVML_NO_U32 UINT32_MAX /* NVML_VALUE_NOT_AVAILABLE and its kin */
#define PLI_NVML_NO_U64 UINT64_MAX

#define PLI_NVML_TEXT 96 /* no name, version or UUID is longer, its NUL included */

enum { PLI_NVML_CLOCK_GRAPHICS = 0, PLI_NVML_CLOCK_SM = 1, PLI_NVML_CLOCK_MEMORY = 2 };
enum { PLI_NVML_SENSOR_GPU = 0 };
enum { PLI_NVML_ADDRESSING_NONE = 0, PLI_NVML_ADDRESSING_HMM = 1, PLI_NVML_ADDRESSING_ATS = 2 };
enum { PLI_NVML_VIRTUALIZATION_VGPU = 2 };
enum {
    PLI_NVML_COMPUTE_DEFAULT = 0,
    PLI_NVML_COMPUTE_EXCLUSIVE_THREAD = 1, /* obsolete */
    PLI_NVML_COMPUTE_PROHIBITED = 2,
    PLI_NVML_COMPUTE_EXCLUSIVE_PROCESS = 3
};

/* ---- structs --------------------------------------------------------------------------------- */

/* The first member of a versioned struct: its size and its version. */
#define PLI_NVML_VERSION(type, number) ((uint32_t)(sizeof(type) | (number) << 24))

struct pli_nvml_memory {
    uint64_t total, free, used; /* used holds what the driver reserves, too */
};
struct pli_nvml_memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used;
};
#define PLI_NVML_MEMORY_V2 PLI_NVML_VERSION(struct pli_nvml_memory_v2, 2u)

struct pli_nvml_pci {
    char legacy_bus_id[16]; /* all that drivers before _v2 fill of the two */
    uint32_t domain, bus, device;
    uint32_t device_id, subsystem_id; /* device << 16 | vendor */
    char bus_id[32];
};
struct pli_nvml_attributes { /* of a MIG device */
    uint32_t multiprocessors, copy_engines, decoders, encoders, jpeg, ofa;
    uint32_t gpu_instance_slices, compute_instance_slices;
    uint64_t memory_mib;
};
struct pli_nvml_utilization {
    uint32_t gpu, memory; /* percent of time busy; memory is the controller, not occupancy */
};
struct pli_nvml_temperature {
    uint32_t version, sensor;
    int32_t celsius;
};
#define PLI_NVML_TEMPERATURE_V1 PLI_NVML_VERSION(struct pli_nvml_temperature, 1u)
struct pli_nvml_addressing_mode {
    uint32_t version, value;
};
#define PLI_NVML_ADDRESSING_MODE_V1 PLI_NVML_VERSION(struct pli_nvml_addressing_mode, 1u)

#define PLI_NVML_LAYOUT(type, member, at)                                                          \
    _Static_assert(offsetof(struct type, member) == (at), #type "." #member)
_Static_assert(sizeof(struct pli_nvml_memory) == 24, "nvmlMemory_t");
PLI_NVML_LAYOUT(pli_nvml_memory, free, 8);
PLI_NVML_LAYOUT(pli_nvml_memory, used, 16);
_Static_assert(sizeof(struct pli_nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(PLI_NVML_MEMORY_V2 == 0x02000028, "nvmlMemory_v2");
PLI_NVML_LAYOUT(pli_nvml_memory_v2, total, 8);
PLI_NVML_LAYOUT(pli_nvml_memory_v2, reserved, 16);
PLI_NVML_LAYOUT(pli_nvml_memory_v2, free, 24);
PLI_NVML_LAYOUT(pli_nvml_memory_v2, used, 32);
_Static_assert(sizeof(struct pli_nvml_pci) == 68, "nvmlPciInfo_t");
PLI_NVML_LAYOUT(pli_nvml_pci, domain, 16);
PLI_NVML_LAYOUT(pli_nvml_pci, bus, 20);
PLI_NVML_LAYOUT(pli_nvml_pci, device, 24);
PLI_NVML_LAYOUT(pli_nvml_pci, device_id, 28);
PLI_NVML_LAYOUT(pli_nvml_pci, subsystem_id, 32);
PLI_NVML_LAYOUT(pli_nvml_pci, bus_id, 36);
_Static_assert(sizeof(struct pli_nvml_attributes) == 40, "nvmlDeviceAttributes_t");
PLI_NVML_LAYOUT(pli_nvml_attributes, gpu_instance_slices, 24);
PLI_NVML_LAYOUT(pli_nvml_attributes, compute_instance_slices, 28);
PLI_NVML_LAYOUT(pli_nvml_attributes, memory_mib, 32);
_Static_assert(sizeof(struct pli_nvml_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct pli_nvml_temperature) == 12, "nvmlTemperature_t");
_Static_assert(PLI_NVML_TEMPERATURE_V1 == 0x0100000c, "nvmlTemperature_v1");
PLI_NVML_LAYOUT(pli_nvml_temperature, celsius, 8);
_Static_assert(sizeof(struct pli_nvml_addressing_mode) == 8, "nvmlDeviceAddressingMode_t");
_Static_assert(PLI_NVML_ADDRESSING_MODE_V1 == 0x01000008, "nvmlDeviceAddressingMode_v1");

/* ---- functions ------------------------------------------------------------------------------- */

typedef struct pli_nvml_object *pli_nvml_handle;
typedef int pli_nvml_call(void);
typedef int pli_nvml_count(uint32_t *);
typedef int pli_nvml_system_text(char *, uint32_t);
typedef int pli_nvml_by_index(uint32_t, pli_nvml_handle *);
typedef int pli_nvml_by_name(const char *, pli_nvml_handle *);
typedef int pli_nvml_part(pli_nvml_handle, uint32_t, pli_nvml_handle *);
typedef int pli_nvml_text(pli_nvml_handle, char *, uint32_t);
typedef int pli_nvml_u32(pli_nvml_handle, uint32_t *);
typedef int pli_nvml_two(pli_nvml_handle, uint32_t *, uint32_t *);
typedef int pli_nvml_typed_u32(pli_nvml_handle, uint32_t, uint32_t *);
typedef int pli_nvml_struct(pli_nvml_handle, void *);

/* Every function, one row: shape, symbol, must the library have it? The names without a suffix that
 * also exist as _v2 or _v3 are the oldest form, which new libraries still have. */
#define PLI_NVML_MAP(X)                                                                            \
    X(call, nvmlInit, true)                                                                        \
    X(call, nvmlInit_v2, false)                                                                    \
    X(call, nvmlShutdown, true)                                                                    \
    X(system_text, nvmlSystemGetDriverVersion, false)                                              \
    X(system_text, nvmlSystemGetNVMLVersion, false)                                                \
    X(count, nvmlDeviceGetCount, true)                                                             \
    X(count, nvmlDeviceGetCount_v2, false)                                                         \
    X(by_index, nvmlDeviceGetHandleByIndex, true)                                                  \
    X(by_index, nvmlDeviceGetHandleByIndex_v2, false)                                              \
    X(by_name, nvmlDeviceGetHandleByPciBusId, false)                                               \
    X(by_name, nvmlDeviceGetHandleByPciBusId_v2, false)                                            \
    X(struct, nvmlDeviceGetPciInfo, false)                                                         \
    X(struct, nvmlDeviceGetPciInfo_v2, false)                                                      \
    X(struct, nvmlDeviceGetPciInfo_v3, false)                                                      \
    X(text, nvmlDeviceGetName, true)                                                               \
    X(text, nvmlDeviceGetUUID, false)                                                              \
    X(text, nvmlDeviceGetVbiosVersion, false)                                                      \
    X(struct, nvmlDeviceGetMemoryInfo, false)                                                      \
    X(struct, nvmlDeviceGetMemoryInfo_v2, false)                                                   \
    X(two, nvmlDeviceGetCudaComputeCapability, false)                                              \
    X(u32, nvmlDeviceGetArchitecture, false)                                                       \
    X(u32, nvmlDeviceGetNumGpuCores, false)                                                        \
    X(u32, nvmlDeviceGetMemoryBusWidth, false)                                                     \
    X(typed_u32, nvmlDeviceGetClockInfo, false)                                                    \
    X(typed_u32, nvmlDeviceGetMaxClockInfo, false)                                                 \
    X(struct, nvmlDeviceGetUtilizationRates, false)                                                \
    X(typed_u32, nvmlDeviceGetTemperature, false)                                                  \
    X(struct, nvmlDeviceGetTemperatureV, false)                                                    \
    X(u32, nvmlDeviceGetPowerUsage, false)                                                         \
    X(u32, nvmlDeviceGetEnforcedPowerLimit, false)                                                 \
    X(u32, nvmlDeviceGetCurrPcieLinkGeneration, false)                                             \
    X(u32, nvmlDeviceGetCurrPcieLinkWidth, false)                                                  \
    X(u32, nvmlDeviceGetMaxPcieLinkGeneration, false)                                              \
    X(u32, nvmlDeviceGetMaxPcieLinkWidth, false)                                                   \
    X(u32, nvmlDeviceGetNumaNodeId, false)                                                         \
    X(two, nvmlDeviceGetEccMode, false)                                                            \
    X(u32, nvmlDeviceGetComputeMode, false)                                                        \
    X(u32, nvmlDeviceGetVirtualizationMode, false)                                                 \
    X(struct, nvmlDeviceGetAddressingMode, false)                                                  \
    X(two, nvmlDeviceGetMigMode, false)                                                            \
    X(u32, nvmlDeviceGetMaxMigDeviceCount, false)                                                  \
    X(part, nvmlDeviceGetMigDeviceHandleByIndex, false)                                            \
    X(u32, nvmlDeviceGetGpuInstanceId, false)                                                      \
    X(u32, nvmlDeviceGetComputeInstanceId, false)                                                  \
    X(struct, nvmlDeviceGetAttributes_v2, false)

typedef struct pli_nvml {
    pli_machine *m;
#define X(shape, symbol, required) pli_nvml_##shape *symbol;
    PLI_NVML_MAP(X)
#undef X
} pli_nvml;

/* A device: the library's handle (NULL on a recording) and what the journal calls it. */
typedef struct pli_nvml_device {
    pli_nvml_handle handle;
    char ordinal[48]; /* "0000:01:00.0", "3", "0000:01:00.0/mig2" */
} pli_nvml_device;

/* The statuses of pli_machine_ops.lib. */
plim_status pli_nvml_load(pli_machine *, pli_nvml *out);

/* nvmlInit_v2 looks at no GPU yet, so that a dead one cannot keep it from starting, which is what
 * nvmlInitWithFlags(NO_ATTACH) would be for; asking for the handle of a GPU is what wakes it.
 * Whoever got 0 calls pli_nvml_shutdown(). */
int pli_nvml_init(const pli_nvml *);
int pli_nvml_shutdown(const pli_nvml *);

/* Texts are at most PLI_NVML_TEXT bytes and may lack their NUL: read them with pli_field_str(). */
int pli_nvml_driver_version(const pli_nvml *, char text[PLI_NVML_TEXT]);
int pli_nvml_library_version(const pli_nvml *, char text[PLI_NVML_TEXT]); /* before init, too */
int pli_nvml_device_count(const pli_nvml *, uint32_t *count);
int pli_nvml_device_at(const pli_nvml *, uint32_t index, pli_nvml_device *out);
int pli_nvml_device_by_pci(const pli_nvml *, const char *address, pli_nvml_device *out);
/* Entries may be holes: NOT_FOUND. */
int pli_nvml_mig_at(const pli_nvml *, const pli_nvml_device *parent, uint32_t index,
                    pli_nvml_device *out);
int pli_nvml_pci(const pli_nvml *, const pli_nvml_device *, struct pli_nvml_pci *out);
/* PLI_NVML_NO_U64 in `reserved` where only the first version of the call is there. */
int pli_nvml_memory(const pli_nvml *, const pli_nvml_device *, struct pli_nvml_memory_v2 *out);
int pli_nvml_temperature(const pli_nvml *, const pli_nvml_device *, int32_t *celsius);

/* The rest by shape: PLI_NVML_GET(nvml, u32, nvmlDeviceGetNumGpuCores, &device, &cores). */
#define PLI_NVML_GET(nvml, shape, symbol, ...)                                                     \
    pli_nvml_get_##shape((nvml), (nvml)->symbol, #symbol, __VA_ARGS__)
int pli_nvml_get_text(const pli_nvml *, pli_nvml_text *, const char *symbol,
                      const pli_nvml_device *, char text[PLI_NVML_TEXT]);
int pli_nvml_get_u32(const pli_nvml *, pli_nvml_u32 *, const char *symbol, const pli_nvml_device *,
                     uint32_t *value);
int pli_nvml_get_two(const pli_nvml *, pli_nvml_two *, const char *symbol, const pli_nvml_device *,
                     uint32_t *first, uint32_t *second);
int pli_nvml_get_typed_u32(const pli_nvml *, pli_nvml_typed_u32 *, const char *symbol,
                           const pli_nvml_device *, uint32_t type, uint32_t *value);
/* size bytes at out, which hold what the call wants to find there (a version word). */
int pli_nvml_get_struct(const pli_nvml *, pli_nvml_struct *, const char *symbol,
                        const pli_nvml_device *, void *out, size_t size);

#endif
