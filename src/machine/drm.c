/* Layouts and numbers are those of the kernel's include/uapi/drm, declared here so that no header
 * of a newer kernel is needed to build. */
#define _DEFAULT_SOURCE /* major */
#include "drm.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files_posix.h"
#include "query.h"

#define MAX_REGIONS 64 /* of one device */
#define DRM_MAJOR 226
#define ACCEL_MAJOR 261

/* ---- every DRM driver ------------------------------------------------------------------------ */

struct drm_version {
    int major, minor, patch;
    size_t name_size;
    char *name;
    size_t date_size;
    char *date;
    size_t description_size;
    char *description;
};
#define DRM_VERSION _IOWR('d', 0x00, struct drm_version)

struct asked {
    pli_ioctl ioctl;
    void *file;
    void *out;
    size_t out_size, *length;
};

static plim_status ask(const struct asked *a, unsigned long request, void *argument)
{
    int failed;
    for (int tries = 0; tries < 100; tries++) {
        failed = a->ioctl(a->file, request, argument);
        if (failed != EINTR && failed != EAGAIN)
            break;
    }
    return failed ? pli_status_of_errno(failed) : PLIM_OK;
}

static plim_status answer(const struct asked *a, const void *bytes, size_t n)
{
    if (n > a->out_size)
        return PLIM_LIMIT;
    memcpy(a->out, bytes, n);
    *a->length = n;
    return PLIM_OK;
}

static plim_status driver_name(const struct asked *a, char name[64], size_t *n)
{
    struct drm_version version = {.name_size = 64, .name = name};
    plim_status status = ask(a, DRM_VERSION, &version);
    *n = version.name_size < 64 ? version.name_size : 64; /* the kernel tells the full length */
    return status;
}

static plim_status ask_driver(const struct asked *a)
{
    char name[64];
    size_t n;
    plim_status status = driver_name(a, name, &n);
    return status == PLIM_OK ? answer(a, name, n) : status;
}

/* ---- amdgpu ---------------------------------------------------------------------------------- */

struct amdgpu_info {
    uint64_t answer; /* pointer */
    uint32_t size;
    uint32_t what;
    uint32_t parameters[4];
};
#define AMDGPU_INFO _IOW('d', 0x45, struct amdgpu_info)
#define AMDGPU_INFO_DEVICE 0x16u
#define AMDGPU_INFO_MEMORY 0x19u
#define AMDGPU_IDS_FLAGS_FUSION 1u

struct amdgpu_device {
    uint32_t device_id, chip_revision, external_revision, pci_revision, family;
    uint32_t shader_engines, shader_arrays, counter_frequency;
    uint64_t max_engine_clock, max_memory_clock; /* kHz */
    uint32_t compute_units, compute_units_always_on, compute_unit_map[16];
    uint32_t render_backend_mask, render_backends, contexts, pcie_generation;
    uint64_t flags;
    uint64_t address_offset, address_max;
    uint32_t address_alignment, fragment_size, gart_page_size, constant_engine_ram;
    uint32_t vram_type, vram_bits;
    uint32_t more[64]; /* what newer kernels add */
};
_Static_assert(sizeof(struct amdgpu_info) == 32, "drm_amdgpu_info");
_Static_assert(offsetof(struct amdgpu_device, max_engine_clock) == 32, "drm_amdgpu_info_device");
_Static_assert(offsetof(struct amdgpu_device, compute_units) == 48, "drm_amdgpu_info_device");
_Static_assert(offsetof(struct amdgpu_device, flags) == 136, "drm_amdgpu_info_device");
_Static_assert(offsetof(struct amdgpu_device, vram_type) == 176, "drm_amdgpu_info_device");
_Static_assert(sizeof(struct amdgpu_device) == 440, "drm_amdgpu_info_device");
_Static_assert(sizeof(struct pli_amdgpu_memory) == 96, "drm_amdgpu_memory_info has this layout");

/* An older kernel writes less than it is asked for: the rest stays 0. */
static plim_status amdgpu_info(const struct asked *a, uint32_t what, void *out, uint32_t size)
{
    struct amdgpu_info info = {.answer = (uintptr_t)out, .size = size, .what = what};
    return ask(a, AMDGPU_INFO, &info);
}

static plim_status ask_amdgpu_memory(const struct asked *a)
{
    struct pli_amdgpu_memory memory = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    plim_status status = amdgpu_info(a, AMDGPU_INFO_MEMORY, &memory, sizeof memory);
    return status == PLIM_OK ? answer(a, &memory, sizeof memory) : status;
}

static plim_status ask_amdgpu_device(const struct asked *a)
{
    struct amdgpu_device d = {.device_id = 0};
    plim_status status = amdgpu_info(a, AMDGPU_INFO_DEVICE, &d, sizeof d);
    struct pli_amdgpu_device out = {
        .device_id = d.device_id,
        .family = d.family,
        .compute_units = d.compute_units,
        .vram_type = d.vram_type,
        .vram_bus_bits = d.vram_bits,
        .apu = (d.flags & AMDGPU_IDS_FLAGS_FUSION) != 0,
        .max_engine_clock_khz = d.max_engine_clock,
        .max_memory_clock_khz = d.max_memory_clock,
    };
    return status == PLIM_OK ? answer(a, &out, sizeof out) : status;
}

/* ---- i915 ------------------------------------------------------------------------------------ */

struct i915_query {
    uint32_t item_count, flags;
    uint64_t items; /* pointer */
};
struct i915_item {
    uint64_t what;
    int32_t length; /* 0: how long is it? negative: an errno */
    uint32_t flags;
    uint64_t data; /* pointer */
};
#define I915_QUERY _IOWR('d', 0x79, struct i915_query)
#define I915_QUERY_MEMORY_REGIONS 4u

struct i915_region {
    uint16_t class, instance;
    uint32_t reserved;
    uint64_t total, free, cpu_visible, cpu_visible_free; /* all ones: not told */
    uint64_t more[6];
};
struct i915_regions {
    uint32_t count, reserved[3];
    struct i915_region regions[MAX_REGIONS];
};
_Static_assert(sizeof(struct i915_item) == 24, "drm_i915_query_item");
_Static_assert(sizeof(struct i915_region) == 88, "drm_i915_memory_region_info");
_Static_assert(offsetof(struct i915_regions, regions) == 16, "drm_i915_query_memory_regions");

static plim_status i915_query(const struct asked *a, struct i915_item *item)
{
    struct i915_query query = {.item_count = 1, .items = (uintptr_t)item};
    plim_status status = ask(a, I915_QUERY, &query);
    if (status == PLIM_OK && item->length < 0)
        status = pli_status_of_errno(-item->length);
    return status;
}

static uint64_t told(uint64_t size)
{
    return size == UINT64_MAX ? 0 : size;
}

static plim_status ask_i915_memory(const struct asked *a)
{
    struct i915_regions all = {.count = 0};
    struct i915_item item = {.what = I915_QUERY_MEMORY_REGIONS};
    struct pli_intel_region out[MAX_REGIONS];
    plim_status status = i915_query(a, &item);
    if (status == PLIM_OK && (size_t)item.length > sizeof all)
        status = PLIM_LIMIT;
    item.data = (uintptr_t)&all;
    if (status == PLIM_OK)
        status = i915_query(a, &item);
    if (status != PLIM_OK)
        return status;
    if (all.count > MAX_REGIONS)
        return PLIM_LIMIT;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct i915_region *r = &all.regions[i];
        out[i] = (struct pli_intel_region){r->class == 1, r->instance, told(r->total), r->free};
        if (r->free == UINT64_MAX)
            out[i].free = out[i].total;
    }
    return answer(a, out, all.count * sizeof *out);
}

/* ---- xe -------------------------------------------------------------------------------------- */

struct xe_query {
    uint64_t extensions; /* pointer */
    uint32_t what;
    uint32_t size; /* 0: how long is it? */
    uint64_t data; /* pointer */
    uint64_t reserved[2];
};
#define XE_DEVICE_QUERY _IOWR('d', 0x40, struct xe_query)
#define XE_QUERY_MEMORY_REGIONS 1u

struct xe_region {
    uint16_t class, instance;
    uint32_t min_page_size;
    uint64_t total, used, cpu_visible, cpu_visible_used; /* used: 0 without CAP_PERFMON */
    uint64_t reserved[6];
};
struct xe_regions {
    uint32_t count, padding;
    struct xe_region regions[MAX_REGIONS];
};
_Static_assert(sizeof(struct xe_query) == 40, "drm_xe_device_query");
_Static_assert(sizeof(struct xe_region) == 88, "drm_xe_mem_region");
_Static_assert(offsetof(struct xe_regions, regions) == 8, "drm_xe_query_mem_regions");

static plim_status ask_xe_memory(const struct asked *a)
{
    struct xe_regions all = {.count = 0};
    struct xe_query query = {.what = XE_QUERY_MEMORY_REGIONS};
    struct pli_intel_region out[MAX_REGIONS];
    plim_status status = ask(a, XE_DEVICE_QUERY, &query);
    if (status == PLIM_OK && query.size > sizeof all)
        status = PLIM_LIMIT;
    query.data = (uintptr_t)&all;
    if (status == PLIM_OK)
        status = ask(a, XE_DEVICE_QUERY, &query);
    if (status != PLIM_OK)
        return status;
    if (all.count > MAX_REGIONS)
        return PLIM_LIMIT;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct xe_region *r = &all.regions[i];
        out[i] = (struct pli_intel_region){r->class == 1, r->instance, r->total,
                                           r->total - (r->used < r->total ? r->used : r->total)};
    }
    return answer(a, out, all.count * sizeof *out);
}

/* ---- by name --------------------------------------------------------------------------------- */

static const struct question {
    const char *what;
    const char *driver; /* NULL: any */
    plim_status (*ask)(const struct asked *);
} questions[] = {
    {"drm.driver", NULL, ask_driver},
    {"amdgpu.memory", "amdgpu", ask_amdgpu_memory},
    {"amdgpu.device", "amdgpu", ask_amdgpu_device},
    {"i915.memory", "i915", ask_i915_memory},
    {"xe.memory", "xe", ask_xe_memory},
};

static const struct question *find_question(const char *what)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (strcmp(questions[i].what, what) == 0)
            return &questions[i];
    return NULL;
}

plim_status pli_drm_ask(pli_ioctl how, void *file, const char *what, void *out, size_t out_size,
                        size_t *length)
{
    const struct asked a = {how, file, out, out_size, length};
    const struct question *question = find_question(what);
    char name[64];
    size_t n;
    if (!question)
        return PLIM_UNSUPPORTED;
    if (question->driver) {
        plim_status status = driver_name(&a, name, &n);
        if (status != PLIM_OK)
            return status;
        if (!pli_eq((pli_str){name, n}, question->driver))
            return PLIM_UNSUPPORTED;
    }
    return question->ask(&a);
}

static int real_ioctl(void *file, unsigned long request, void *argument)
{
    return ioctl(*(const int *)file, request, argument) == 0 ? 0 : errno;
}

plim_status pli_drm_query(const char *node, const char *what, void *out, size_t out_size,
                          size_t *length)
{
    struct stat st;
    if (!find_question(what))
        return PLIM_UNSUPPORTED;
    if (stat(node, &st) != 0)
        return pli_status_of_errno(errno);
    /* Opening some other device could do anything. */
    if (!S_ISCHR(st.st_mode) ||
        (major(st.st_rdev) != DRM_MAJOR && major(st.st_rdev) != ACCEL_MAJOR))
        return PLIM_UNSUPPORTED;
    int fd = open(node, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return pli_status_of_errno(errno);
    plim_status status = pli_drm_ask(real_ioctl, &fd, what, out, out_size, length);
    (void)close(fd);
    return status;
}
