/* Holds src/vendor/nvml.h against the real nvml.h (package nvidia-nvml-dev). It need only compile:
 * sizes, offsets, version words and codes are compared, and every function is called in the shape
 * that our table gives it. */
#include "vendor/nvml.h"

#define NVML_NO_UNVERSIONED_FUNC_DEFS /* leave the names without a suffix as they are */
#include <nvml.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, a, theirs, b)                                                             \
    _Static_assert(offsetof(struct ours, a) == offsetof(theirs, b) &&                              \
                       sizeof(((struct ours *)0)->a) == sizeof(((theirs *)0)->b),                  \
                   #theirs "." #b)
#define SAME_VALUE(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME_SIZE(pli_nvml_memory, nvmlMemory_t);
SAME_PLACE(pli_nvml_memory, total, nvmlMemory_t, total);
SAME_PLACE(pli_nvml_memory, free, nvmlMemory_t, free);
SAME_PLACE(pli_nvml_memory, used, nvmlMemory_t, used);

SAME_SIZE(pli_nvml_memory_v2, nvmlMemory_v2_t);
SAME_VALUE(PLI_NVML_MEMORY_V2, nvmlMemory_v2);
SAME_PLACE(pli_nvml_memory_v2, version, nvmlMemory_v2_t, version);
SAME_PLACE(pli_nvml_memory_v2, total, nvmlMemory_v2_t, total);
SAME_PLACE(pli_nvml_memory_v2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(pli_nvml_memory_v2, free, nvmlMemory_v2_t, free);
SAME_PLACE(pli_nvml_memory_v2, used, nvmlMemory_v2_t, used);

SAME_SIZE(pli_nvml_pci, nvmlPciInfo_t);
SAME_PLACE(pli_nvml_pci, legacy_bus_id, nvmlPciInfo_t, busIdLegacy);
SAME_PLACE(pli_nvml_pci, domain, nvmlPciInfo_t, domain);
SAME_PLACE(pli_nvml_pci, bus, nvmlPciInfo_t, bus);
SAME_PLACE(pli_nvml_pci, device, nvmlPciInfo_t, device);
SAME_PLACE(pli_nvml_pci, device_id, nvmlPciInfo_t, pciDeviceId);
SAME_PLACE(pli_nvml_pci, subsystem_id, nvmlPciInfo_t, pciSubSystemId);
SAME_PLACE(pli_nvml_pci, bus_id, nvmlPciInfo_t, busId);

SAME_SIZE(pli_nvml_attributes, nvmlDeviceAttributes_t);
SAME_PLACE(pli_nvml_attributes, multiprocessors, nvmlDeviceAttributes_t, multiprocessorCount);
SAME_PLACE(pli_nvml_attributes, gpu_instance_slices, nvmlDeviceAttributes_t, gpuInstanceSliceCount);
SAME_PLACE(pli_nvml_attributes, compute_instance_slices, nvmlDeviceAttributes_t,
           computeInstanceSliceCount);
SAME_PLACE(pli_nvml_attributes, memory_mib, nvmlDeviceAttributes_t, memorySizeMB);

SAME_SIZE(pli_nvml_utilization, nvmlUtilization_t);
SAME_PLACE(pli_nvml_utilization, gpu, nvmlUtilization_t, gpu);
SAME_PLACE(pli_nvml_utilization, memory, nvmlUtilization_t, memory);

/* Not in the headers of CUDA 11 and 12.0. */
#ifdef nvmlTemperature_v1
SAME_SIZE(pli_nvml_temperature, nvmlTemperature_t);
SAME_VALUE(PLI_NVML_TEMPERATURE_V1, nvmlTemperature_v1);
SAME_PLACE(pli_nvml_temperature, sensor, nvmlTemperature_t, sensorType);
SAME_PLACE(pli_nvml_temperature, celsius, nvmlTemperature_t, temperature);
#endif
#ifdef nvmlDeviceAddressingMode_v1
SAME_SIZE(pli_nvml_addressing_mode, nvmlDeviceAddressingMode_t);
SAME_VALUE(PLI_NVML_ADDRESSING_MODE_V1, nvmlDeviceAddressingMode_v1);
SAME_PLACE(pli_nvml_addressing_mode, value, nvmlDeviceAddressingMode_t, value);
SAME_VALUE(PLI_NVML_ADDRESSING_ATS, NVML_DEVICE_ADDRESSING_MODE_ATS);
#endif

SAME_VALUE(PLI_NVML_SUCCESS, NVML_SUCCESS);
SAME_VALUE(PLI_NVML_UNINITIALIZED, NVML_ERROR_UNINITIALIZED);
SAME_VALUE(PLI_NVML_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
SAME_VALUE(PLI_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME_VALUE(PLI_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME_VALUE(PLI_NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND);
SAME_VALUE(PLI_NVML_INSUFFICIENT_POWER, NVML_ERROR_INSUFFICIENT_POWER);
SAME_VALUE(PLI_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
SAME_VALUE(PLI_NVML_IRQ_ISSUE, NVML_ERROR_IRQ_ISSUE);
SAME_VALUE(PLI_NVML_LIBRARY_NOT_FOUND, NVML_ERROR_LIBRARY_NOT_FOUND);
SAME_VALUE(PLI_NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME_VALUE(PLI_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST);
SAME_VALUE(PLI_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED);
SAME_VALUE(PLI_NVML_OPERATING_SYSTEM, NVML_ERROR_OPERATING_SYSTEM);
SAME_VALUE(PLI_NVML_LIB_RM_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME_VALUE(PLI_NVML_ARGUMENT_VERSION_MISMATCH, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME_VALUE(PLI_NVML_DEPRECATED, NVML_ERROR_DEPRECATED);
SAME_VALUE(PLI_NVML_UNKNOWN, NVML_ERROR_UNKNOWN);
SAME_VALUE(PLI_NVML_CLOCK_GRAPHICS, NVML_CLOCK_GRAPHICS);
SAME_VALUE(PLI_NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
SAME_VALUE(PLI_NVML_SENSOR_GPU, NVML_TEMPERATURE_GPU);
SAME_VALUE(PLI_NVML_VIRTUALIZATION_VGPU, NVML_GPU_VIRTUALIZATION_MODE_VGPU);
SAME_VALUE(PLI_NVML_COMPUTE_PROHIBITED, NVML_COMPUTEMODE_PROHIBITED);
SAME_VALUE(PLI_NVML_COMPUTE_EXCLUSIVE_PROCESS, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS);
_Static_assert(PLI_NVML_TEXT >= NVML_DEVICE_NAME_V2_BUFFER_SIZE &&
                   PLI_NVML_TEXT >= NVML_DEVICE_UUID_V2_BUFFER_SIZE &&
                   PLI_NVML_TEXT >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE &&
                   PLI_NVML_TEXT >= NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE &&
                   PLI_NVML_TEXT >= NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE,
               "a buffer is too small");

/* A void * fits every pointer, so that these calls compile exactly when number and kind of the
 * parameters do. */
#define CALL_call() ()
#define CALL_count() (p)
#define CALL_system_text() (p, 0)
#define CALL_by_index() (0, p)
#define CALL_by_name() ("", p)
#define CALL_part() (d, 0, p)
#define CALL_text() (d, p, 0)
#define CALL_u32() (d, p)
#define CALL_two() (d, p, p)
#define CALL_typed_u32() (d, 0, p)
#define CALL_struct() (d, p)
#define X(shape, symbol, required)                                                                 \
    int call_##symbol(nvmlDevice_t d, void *p);                                                    \
    int call_##symbol(nvmlDevice_t d, void *p)                                                     \
    {                                                                                              \
        (void)d, (void)p;                                                                          \
        return (int)symbol CALL_##shape();                                                         \
    }
PLI_NVML_MAP(X)
