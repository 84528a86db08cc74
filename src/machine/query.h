/* The named questions of pli_machine_ops.query: what they ask, and the shape of the answer. All
 * structs have fixed layouts, so that their bytes can be recorded. A query that a machine cannot
 * answer is NOT_FOUND or UNSUPPORTED. */
#ifndef PLI_QUERY_H
#define PLI_QUERY_H

#include <stdint.h>

/* "host.uname", node "-": NUL-separated sysname, release, version, machine (no host name). */
/* "host.affinity", node "-": bytes of the CPU mask, bit 0 of byte 0 is CPU 0. */
/* "host.auxv", node "-": */
struct pli_auxv {
    uint64_t hwcap, hwcap2;
};
/* "host.xcr0", node "-": uint64_t, XGETBV(0). "host.amx", node "-": uint64_t,
 * ARCH_GET_XCOMP_SUPP; UNSUPPORTED where the kernel has no such call: it then permits no tiles. */
/* "host.rlimit", node "-": soft limits, UINT64_MAX none. */
struct pli_rlimits {
    uint64_t address_space, data, memlock;
};
/* "fs.space", node a path: */
struct pli_fs_space {
    uint64_t type; /* statfs f_type */
    uint64_t total_bytes, available_bytes;
    uint64_t dev_major, dev_minor;
};
/* "host.time", node "-": uint64_t, seconds since 1970 UTC. */

/* DRM render and accel nodes. The driver's name is checked (DRM_IOCTL_VERSION) before any ioctl of
 * its own. "drm.driver": its name, no NUL. */
/* "amdgpu.memory": */
struct pli_drm_heap {
    uint64_t total, usable, used, max_allocation;
};
struct pli_amdgpu_memory {
    struct pli_drm_heap vram, visible, gtt;
};
/* "amdgpu.device": */
struct pli_amdgpu_device {
    uint32_t device_id, family, compute_units, vram_type, vram_bus_bits, apu; /* apu: FUSION bit */
    uint64_t max_engine_clock_khz, max_memory_clock_khz;
};
/* "i915.memory", "xe.memory": an array of regions, count = length / size. */
struct pli_intel_region {
    uint32_t device; /* 1 device memory, 0 system memory */
    uint32_t instance;
    uint64_t total, free; /* free == total may mean "not told" without CAP_PERFMON */
};

#endif
