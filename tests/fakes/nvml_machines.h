/* The machines that the fake libnvidia-ml pretends to be. Figures of real devices are those that
 * nvidia-smi printed on one; identities are made up. */
#ifndef FAKE_NVML_MACHINES_H
#define FAKE_NVML_MACHINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OK, UNINITIALIZED, INVALID, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 6, BAD_VERSION = 25 };
#define NO_U32 UINT32_MAX
#define MIB ((uint64_t)1 << 20)
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct slice {
    const char *profile;
    uint32_t place, gpu_instance, compute_instance, multiprocessors, gpu_slices, compute_slices;
    uint64_t total, free;
} slice;

typedef struct gpu {
    const char *name, *bus_id, *uuid, *vbios;
    uint32_t device_id, subsystem_id, major, minor, architecture, cores, bus_bits;
    uint32_t clocks[2], max_clocks[2]; /* graphics, memory */
    uint32_t pcie_gen, pcie_width, celsius, milliwatts, limit_milliwatts, busy;
    uint64_t total, reserved, free, used; /* used 0: total - reserved - free */
    uint32_t ecc, mig, max_slices, addressing, compute_mode, virtualization;
    int memory_rc;
    bool integrated; /* NVML knows neither bus nor clocks of its memory */
    const slice *slices;
    size_t slice_count;
} gpu;

typedef struct machine {
    const char *name, *driver, *library;
    const gpu *gpus;
    uint32_t count, claimed; /* claimed 0: count */
} machine;

#define UUID(n) "GPU-6f3a1d0" #n "-4c2e-9b57-d1a8-0e5b7c94f21" #n
#define H100_FIGURES(product, n, bus)                                                              \
    .name = product, .bus_id = bus, .uuid = UUID(n), .vbios = "96.00.A5.00.01",                    \
    .device_id = 0x233010de, .subsystem_id = 0x16c110de, .major = 9, .minor = 0,                   \
    .architecture = 9, .cores = 16896, .bus_bits = 5120, .clocks = {345, 2619},                    \
    .max_clocks = {1980, 2619}, .pcie_gen = 5, .pcie_width = 16, .celsius = 41,                    \
    .milliwatts = 69850, .limit_milliwatts = 700000, .total = 81559 * MIB, .reserved = 479 * MIB,  \
    .free = 81079 * MIB, .ecc = 1
#define H100(n, bus)                                                                               \
    {                                                                                              \
        H100_FIGURES("NVIDIA H100 80GB HBM3", n, bus)                                              \
    }
static const gpu h100[] = {H100(0, "00000000:00:09.0")};
static const gpu prohibited[] = {
    {H100_FIGURES("NVIDIA H100 80GB HBM3", 0, "00000000:00:09.0"), .compute_mode = 2}};
static const gpu h100x8[] = {
    H100(0, "00000000:0E:00.0"), H100(1, "00000000:15:00.0"), H100(2, "00000000:1B:00.0"),
    H100(3, "00000000:67:00.0"), H100(4, "00000000:8E:00.0"), H100(5, "00000000:95:00.0"),
    H100(6, "00000000:9B:00.0"), H100(7, "00000000:E7:00.0"),
};
static const gpu mixed[] = {
    H100(0, "00000000:0E:00.0"),
    {H100_FIGURES("NVIDIA H100 PCIe", 1, "00000000:15:00.0")},
};

/* Two compute instances in GPU instance 2, and holes among the places. */
static const slice h200_slices[] = {
    {"1c.3g.71gb", 0, 2, 0, 16, 3, 1, 71424 * MIB, 71402 * MIB},
    {"2c.3g.71gb", 1, 2, 1, 32, 3, 2, 71424 * MIB, 71402 * MIB},
    {"2g.35gb", 3, 3, 0, 32, 2, 2, 33280 * MIB, 33263 * MIB},
    {"1g.18gb", 4, 9, 0, 16, 1, 1, 16384 * MIB, 16375 * MIB},
    {"1g.18gb", 6, 10, 0, 16, 1, 1, 16384 * MIB, 16375 * MIB},
};
static const gpu h200_mig[] = {{
    .name = "NVIDIA H200",
    .bus_id = "00000000:83:00.0",
    .uuid = UUID(0),
    .vbios = "96.00.A5.00.03",
    .device_id = 0x233510de,
    .subsystem_id = 0x18be10de,
    .major = 9,
    .minor = 0,
    .architecture = 9,
    .cores = 16896,
    .bus_bits = 6144,
    .clocks = {345, 3201},
    .max_clocks = {1980, 3201},
    .pcie_gen = 5,
    .pcie_width = 16,
    .celsius = 28,
    .milliwatts = 78000,
    .limit_milliwatts = 700000,
    .busy = NO_U32,
    .total = 143771 * MIB,
    .reserved = 610 * MIB,
    .free = 143105 * MIB,
    .ecc = 1,
    .mig = 1,
    .max_slices = 7,
    .slices = h200_slices,
    .slice_count = COUNT(h200_slices),
}};

#define GB10(product)                                                                              \
    .name = product, .bus_id = "0000000F:01:00.0", .uuid = UUID(0), .vbios = "9A.0B.0B.00.01",     \
    .device_id = 0x2e1210de, .subsystem_id = 0x21ec10de, .major = 12, .minor = 1,                  \
    .architecture = 10, .cores = 6144, .clocks = {208, NO_U32}, .max_clocks = {3003, NO_U32},      \
    .pcie_gen = 1, .pcie_width = 1, .celsius = 45, .milliwatts = 12000,                            \
    .limit_milliwatts = NO_U32, .memory_rc = NOT_SUPPORTED, .addressing = 2, .ecc = NO_U32,        \
    .integrated = true
static const gpu gb10[] = {{GB10("NVIDIA GB10")}};
static const gpu ats[] = {{GB10("NVIDIA Graphics Device")}};

#define RTX4090                                                                                    \
    .name = "NVIDIA GeForce RTX 4090", .bus_id = "00000000:01:00.0", .uuid = UUID(0),              \
    .vbios = "95.02.3C.00.8C", .device_id = 0x268410de, .subsystem_id = 0x889a1043, .major = 8,    \
    .minor = 9, .architecture = 8, .cores = 16384, .bus_bits = 384, .clocks = {210, 405},          \
    .max_clocks = {3120, 10501}, .pcie_gen = 4, .pcie_width = 16, .celsius = 35,                   \
    .milliwatts = 21340, .limit_milliwatts = 450000, .busy = 3, .ecc = 0
static const gpu rtx4090[] = {
    {RTX4090, .total = 24564 * MIB, .reserved = 386 * MIB, .free = 23028 * MIB}};
static const gpu liar[] = {
    {RTX4090, .total = 24564 * MIB, .reserved = 386 * MIB, .free = 1024 * MIB, .used = UINT64_MAX}};
static const gpu vgpu[] = {{.name = "GRID A100-10C",
                            .bus_id = "00000000:02:00.0",
                            .uuid = UUID(0),
                            .vbios = "00.00.00.00.00",
                            .device_id = 0x20f110de,
                            .major = 8,
                            .architecture = 7,
                            .ecc = NO_U32,
                            .virtualization = 2,
                            .busy = NO_U32,
                            .memory_rc = NOT_SUPPORTED}};

static const gpu k20[] = {{.name = "Tesla K20m",
                           .bus_id = "0000:02:00.0",
                           .uuid = UUID(0),
                           .vbios = "80.10.11.00.0B",
                           .device_id = 0x102810de,
                           .subsystem_id = 0x101510de,
                           .major = 3,
                           .minor = 5,
                           .clocks = {324, 324},
                           .max_clocks = {758, 2600},
                           .pcie_gen = 2,
                           .pcie_width = 16,
                           .celsius = 27,
                           .milliwatts = 26430,
                           .limit_milliwatts = 225000,
                           .total = 4799 * MIB,
                           .free = 4787 * MIB}};

/* No terminator within 96 bytes, and what a terminal would obey. */
static const char bad_text[97] = "\x1b[31mNVIDIA\x07 H100\xff\x1b]0;pwned\x07\x7f"
                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
static const gpu bad_name[] = {{.name = bad_text,
                                .bus_id = "00000000:00:09.0",
                                .uuid = bad_text,
                                .vbios = bad_text,
                                .device_id = 0x233010de,
                                .major = 9,
                                .total = 81559 * MIB,
                                .reserved = 479 * MIB,
                                .free = 81079 * MIB}};

/* Every figure is out of this world. */
static const gpu four_billion[] = {{.name = "NVIDIA H100 80GB HBM3",
                                    .bus_id = "00000000:00:09.0",
                                    .uuid = UUID(0),
                                    .vbios = "",
                                    .device_id = 0x233010de,
                                    .major = 4000000000u,
                                    .minor = 4000000000u,
                                    .architecture = 4000000000u,
                                    .cores = 4000000000u,
                                    .bus_bits = 4000000000u,
                                    .clocks = {4000000000u, 4000000000u},
                                    .max_clocks = {4000000000u, 4000000000u},
                                    .pcie_gen = 4000000000u,
                                    .pcie_width = 4000000000u,
                                    .celsius = 4000000000u,
                                    .milliwatts = 4000000000u,
                                    .limit_milliwatts = 4000000000u,
                                    .busy = 4000000000u,
                                    .total = 81559 * MIB,
                                    .reserved = 479 * MIB,
                                    .free = 81079 * MIB,
                                    .ecc = 4000000000u,
                                    .mig = 1,
                                    .max_slices = 4000000000u,
                                    .compute_mode = 4000000000u,
                                    .virtualization = 4000000000u}};

static const machine machines[] = {
    {"h100", "590.48.01", "13.590.48.01", h100, COUNT(h100), 0},
    {"h100x8", "570.195.03", "12.570.195.03", h100x8, COUNT(h100x8), 0},
    {"h200-mig", "590.48.01", "13.590.48.01", h200_mig, COUNT(h200_mig), 0},
    {"gb10", "580.95.05", "13.580.95.05", gb10, COUNT(gb10), 0},
    {"ats", "580.95.05", "13.580.95.05", ats, COUNT(ats), 0},
    {"h100x2-mixed", "570.195.03", "12.570.195.03", mixed, COUNT(mixed), 0},
    {"prohibited", "590.48.01", "13.590.48.01", prohibited, COUNT(prohibited), 0},
    {"rtx4090", "566.36", "12.566.36", rtx4090, COUNT(rtx4090), 0},
    {"vgpu", "550.54.14", "12.550.54.14", vgpu, COUNT(vgpu), 0},
    {"k20", "304.137", "4.304.137", k20, COUNT(k20), 0},
    {"liar", "566.36", "12.566.36", liar, COUNT(liar), 0},
    {"bad-name", bad_text, bad_text, bad_name, COUNT(bad_name), 0},
    {"four-billion", "590.48.01", "13.590.48.01", four_billion, COUNT(four_billion), 4000000000u},
    {"none", "590.48.01", "13.590.48.01", NULL, 0, 0},
};

#endif
