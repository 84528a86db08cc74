/* Detection on a machine whose files are text and whose library is the fake libnvidia-ml of
 * tests/fakes, found through LD_LIBRARY_PATH. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include <plimsoll/machine.h>

#include "machine/machine.h"

typedef struct fake_nvml {
    const char *files;   /* entries of a .machine text */
    const char *machine; /* FAKE_NVML, NULL: the library of the text, if it tells of one */
    const char *fault;   /* FAKE_NVML_FAULT, NULL: none */
    bool isolate, wake, capture;
    uint32_t timeout_ms;
    const plim_allocator *allocator;
    char *recording; /* set if capture; freed with free() */
} fake_nvml;

/* NULL only when out of memory. Freed with plim_machine_free(). */
plim_machine *fake_nvml_detect(fake_nvml *);
/* The same, in this process and with nothing else asked for; never NULL. */
plim_machine *fake_detect(const char *files, const char *machine, const char *fault);
/* The machine of a text, libraries included, as --machine makes it. */
plim_machine *fake_nvml_replay(const char *text);

const plim_device *fake_device(const plim_machine *, size_t i);
const plim_device *fake_device_at(const plim_machine *, const char *pci_address);
/* First note whose text or subject contains this, NULL if none. */
const plim_note *fake_note(const plim_machine *, const char *part);

/* uevent of an NVIDIA GPU. */
#define FAKE_GPU(address, id, driver)                                                              \
    "-- file /sys/bus/pci/devices/" address "/uevent --\n"                                         \
    "DRIVER=" driver "\nPCI_CLASS=30200\nPCI_ID=10DE:" id "\nPCI_SLOT_NAME=" address "\n"
#define FAKE_H100_FILES FAKE_GPU("0000:00:09.0", "2330", "nvidia")
#define FAKE_H100X8_FILES                                                                          \
    FAKE_GPU("0000:0e:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:15:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:1b:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:67:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:8e:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:95:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:9b:00.0", "2330", "nvidia")                                                     \
    FAKE_GPU("0000:e7:00.0", "2330", "nvidia")

#define GB10_FILES FAKE_GPU("000f:01:00.0", "2E12", "nvidia")
#define GB10_MEMINFO                                                                               \
    "-- file /proc/meminfo --\nMemTotal: 125508468 kB\nMemFree: 67271204 kB\n"                     \
    "MemAvailable: 121737812 kB\n"

#define MODULE                                                                                     \
    "-- file /proc/driver/nvidia/version --\n"                                                     \
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n"    \
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
#define INFORMATION(address)                                                                       \
    "-- file /proc/driver/nvidia/gpus/" address "/information --\n"                                \
    "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 130\n"                                         \
    "GPU UUID: \t GPU-6f3a1d00-4c2e-9b57-d1a8-0e5b7c94f210\n"                                      \
    "Video BIOS: \t 96.00.a5.00.01\nBus Type: \t PCIe\n"

/* Shorthand for what a device says. */
#define MIB ((uint64_t)1 << 20)
#define assert_known(d, member, value)                                                             \
    do {                                                                                           \
        assert_true(PLIM_KNOWN(device, d, member));                                                \
        assert_int_equal((d)->member, value);                                                      \
    } while (0)
#define assert_text(d, member, value)                                                              \
    do {                                                                                           \
        assert_true(PLIM_KNOWN(device, d, member));                                                \
        assert_string_equal((d)->member, value);                                                   \
    } while (0)
#define assert_unknown(d, member) assert_false(PLIM_KNOWN(device, d, member))

#endif
