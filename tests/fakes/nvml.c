/* A libnvidia-ml.so.1 without a GPU. FAKE_NVML names the machine that it pretends to be
 * (nvml_machines.h). FAKE_NVML_FAULT lists what goes wrong where: FAULT:SYMBOL[:GPU], by commas.
 * FAULT is rcN (answer with code N), hang, crash, exit, print or fork (a process that lives on with
 * every descriptor open). With FAKE_NVML_OLD defined the library has none of the symbols that came
 * later. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml_machines.h"

/* ---- faults ---------------------------------------------------------------------------------- */

static unsigned init_count;

static void hang(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* only SIGKILL ends it */
    for (;;)
        pause();
}

static void fork_one(void)
{
    if (fork() == 0) {
        setsid();
        sleep(20);
        _exit(0);
    }
}

static int act(const char *fault)
{
    if (strncmp(fault, "rc", 2) == 0)
        return atoi(fault + 2);
    if (strncmp(fault, "hang", 4) == 0)
        hang();
    if (strncmp(fault, "crash", 5) == 0)
        raise(SIGSEGV);
    if (strncmp(fault, "exit", 4) == 0)
        exit(3);
    if (strncmp(fault, "print", 5) == 0) {
        printf("libnvidia-ml says hello\n");
        fflush(stdout);
        fprintf(stderr, "libnvidia-ml complains\n");
    }
    if (strncmp(fault, "fork", 4) == 0)
        fork_one();
    return OK;
}

/* gpu: -1 for calls about no GPU. */
static int fault_at(const char *symbol, long number)
{
    const char *list = getenv("FAKE_NVML_FAULT");
    while (list && *list) {
        size_t fault = strcspn(list, ":,"), n = strlen(symbol);
        const char *where = list + fault + (list[fault] == ':');
        size_t named = strcspn(where, ":,");
        if (named == n && strncmp(where, symbol, n) == 0 &&
            (where[n] != ':' || atol(where + n + 1) == number)) {
            int rc = act(list);
            if (rc != OK)
                return rc;
        }
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return OK;
}

static const machine *current(void)
{
    const char *name = getenv("FAKE_NVML");
    for (size_t i = 0; i < COUNT(machines); i++)
        if (strcmp(machines[i].name, name ? name : "h100") == 0)
            return &machines[i];
    return &machines[COUNT(machines) - 1];
}

/* ---- handles: a GPU, or a slice of one ------------------------------------------------------- */

typedef struct handle {
    const gpu *gpu;
    const slice *slice;
    long number;
} handle;
static handle handles[64];

static handle *handle_of(const gpu *g, const slice *s)
{
    size_t i = 0;
    while (i + 1 < COUNT(handles) && handles[i].gpu &&
           (handles[i].gpu != g || handles[i].slice != s))
        i++;
    handles[i] = (handle){g, s, (long)(g - current()->gpus)};
    return &handles[i];
}

static int enter(const char *symbol, const handle *h)
{
    int rc = fault_at(symbol, h ? h->number : -1);
    if (rc != OK)
        return rc;
    return init_count == 0 ? UNINITIALIZED : OK;
}

#define EXPORT __attribute__((visibility("default")))
#define ENTER(handle)                                                                              \
    do {                                                                                           \
        int rc_ = enter(__func__, (handle));                                                       \
        if (rc_ != OK)                                                                             \
            return rc_;                                                                            \
    } while (0)

/* As drivers do: what does not fit is cut without a NUL. */
static int text(const char *value, char *out, uint32_t size)
{
    strncpy(out, value, size);
    return OK;
}

static int number(uint32_t value, uint32_t *out)
{
    if (value == NO_U32)
        return NOT_SUPPORTED;
    *out = value;
    return OK;
}

/* Slices have memory, a name and attributes, and none of the rest. */
static int number_of_gpu(const handle *h, uint32_t value, uint32_t *out)
{
    return h->slice ? NOT_SUPPORTED : number(value, out);
}

/* ---- the library ----------------------------------------------------------------------------- */

static int init(const char *symbol)
{
    int rc = fault_at(symbol, -1);
    if (rc == OK)
        init_count++;
    return rc;
}

EXPORT int nvmlInit(void)
{
    return init(__func__);
}

EXPORT int nvmlShutdown(void)
{
    ENTER(NULL);
    init_count--;
    return OK;
}

EXPORT int nvmlSystemGetDriverVersion(char *out, uint32_t size)
{
    ENTER(NULL);
    return text(current()->driver, out, size);
}

EXPORT int nvmlSystemGetNVMLVersion(char *out, uint32_t size)
{
    return text(current()->library, out, size);
}

static int count(uint32_t *out)
{
    const machine *m = current();
    *out = m->claimed ? m->claimed : m->count;
    return OK;
}

EXPORT int nvmlDeviceGetCount(uint32_t *out)
{
    ENTER(NULL);
    return count(out);
}

static int by_index(const char *symbol, uint32_t index, handle **out)
{
    const machine *m = current();
    if (index >= m->count)
        return INVALID;
    handle *h = handle_of(&m->gpus[index], NULL);
    int rc = enter(symbol, h);
    if (rc == OK)
        *out = h;
    return rc;
}

EXPORT int nvmlDeviceGetHandleByIndex(uint32_t index, handle **out)
{
    return by_index(__func__, index, out);
}

static int by_bus_id(const char *symbol, const char *bus_id, handle **out)
{
    const machine *m = current();
    unsigned a[4], b[4];
    if (sscanf(bus_id, "%x:%x:%x.%x", &a[0], &a[1], &a[2], &a[3]) != 4)
        return INVALID;
    for (uint32_t i = 0; i < m->count; i++)
        if (sscanf(m->gpus[i].bus_id, "%x:%x:%x.%x", &b[0], &b[1], &b[2], &b[3]) == 4 &&
            memcmp(a, b, sizeof a) == 0)
            return by_index(symbol, i, out);
    return enter(symbol, NULL) == OK ? NOT_FOUND : enter(symbol, NULL);
}

EXPORT int nvmlDeviceGetHandleByPciBusId(const char *bus_id, handle **out)
{
    return by_bus_id(__func__, bus_id, out);
}

struct pci {
    char legacy[16];
    uint32_t domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

static int pci(const handle *h, struct pci *out, size_t size)
{
    unsigned a[4];
    if (sscanf(h->gpu->bus_id, "%x:%x:%x.%x", &a[0], &a[1], &a[2], &a[3]) != 4)
        return NOT_SUPPORTED;
    (void)snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.%X", a[0] & 0xffff, a[1], a[2],
                   a[3]);
    out->domain = a[0];
    out->bus = a[1];
    out->device = a[2];
    out->device_id = h->gpu->device_id;
    out->subsystem_id = h->gpu->subsystem_id;
    if (size == sizeof *out)
        strncpy(out->bus_id, h->gpu->bus_id, sizeof out->bus_id);
    return OK;
}

EXPORT int nvmlDeviceGetPciInfo(handle *h, struct pci *out)
{
    ENTER(h);
    return pci(h, out, offsetof(struct pci, bus_id));
}

EXPORT int nvmlDeviceGetName(handle *h, char *out, uint32_t size)
{
    char whole[128];
    ENTER(h);
    if (!h->slice)
        return text(h->gpu->name, out, size);
    (void)snprintf(whole, sizeof whole, "%s MIG %s", h->gpu->name, h->slice->profile);
    return text(whole, out, size);
}

EXPORT int nvmlDeviceGetUUID(handle *h, char *out, uint32_t size)
{
    char whole[128];
    ENTER(h);
    if (!h->slice)
        return text(h->gpu->uuid, out, size);
    (void)snprintf(whole, sizeof whole, "MIG-1b9f4a7%x-52c6-5d03-8e1f-c0a94d7b63e%x",
                   (unsigned)h->slice->place, (unsigned)h->slice->place);
    return text(whole, out, size);
}

EXPORT int nvmlDeviceGetVbiosVersion(handle *h, char *out, uint32_t size)
{
    ENTER(h);
    return h->slice ? NOT_SUPPORTED : text(h->gpu->vbios, out, size);
}

EXPORT int nvmlDeviceGetMemoryInfo(handle *h, uint64_t out[3])
{
    const gpu *g = h->gpu;
    ENTER(h);
    if (g->memory_rc)
        return g->memory_rc;
    out[0] = h->slice ? h->slice->total : g->total;
    out[1] = h->slice ? h->slice->free : g->free;
    out[2] = g->used ? g->used : out[0] - out[1];
    return OK;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(handle *h, uint32_t *major, uint32_t *minor)
{
    ENTER(h);
    *major = h->gpu->major;
    *minor = h->gpu->minor;
    return OK;
}

static int clock_of(const handle *h, const uint32_t clocks[2], uint32_t type, uint32_t *out)
{
    if (type != 0 && type != 2)
        return NOT_SUPPORTED;
    return number_of_gpu(h, clocks[type / 2], out);
}

EXPORT int nvmlDeviceGetClockInfo(handle *h, uint32_t type, uint32_t *out)
{
    ENTER(h);
    return clock_of(h, h->gpu->clocks, type, out);
}

EXPORT int nvmlDeviceGetMaxClockInfo(handle *h, uint32_t type, uint32_t *out)
{
    ENTER(h);
    return clock_of(h, h->gpu->max_clocks, type, out);
}

EXPORT int nvmlDeviceGetUtilizationRates(handle *h, uint32_t out[2])
{
    ENTER(h);
    out[1] = 0;
    return number_of_gpu(h, h->gpu->busy, &out[0]);
}

EXPORT int nvmlDeviceGetTemperature(handle *h, uint32_t sensor, uint32_t *out)
{
    ENTER(h);
    return sensor == 0 ? number_of_gpu(h, h->gpu->celsius, out) : INVALID;
}

/* Calls that answer with one number of the GPU. */
#define NUMBER(symbol, value)                                                                      \
    EXPORT int symbol(handle *h, uint32_t *out)                                                    \
    {                                                                                              \
        ENTER(h);                                                                                  \
        return number_of_gpu(h, (value), out);                                                     \
    }
NUMBER(nvmlDeviceGetPowerUsage, h->gpu->milliwatts)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, h->gpu->pcie_gen)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, h->gpu->pcie_width)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, h->gpu->pcie_gen)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, h->gpu->pcie_width)
NUMBER(nvmlDeviceGetComputeMode, h->gpu->compute_mode)

EXPORT int nvmlDeviceGetEccMode(handle *h, uint32_t *now, uint32_t *pending)
{
    ENTER(h);
    *pending = h->gpu->ecc;
    return number_of_gpu(h, h->gpu->ecc, now);
}

#ifndef FAKE_NVML_OLD

EXPORT int nvmlInit_v2(void)
{
    return init(__func__);
}

EXPORT int nvmlDeviceGetCount_v2(uint32_t *out)
{
    ENTER(NULL);
    return count(out);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(uint32_t index, handle **out)
{
    return by_index(__func__, index, out);
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, handle **out)
{
    return by_bus_id(__func__, bus_id, out);
}

EXPORT int nvmlDeviceGetPciInfo_v2(handle *h, struct pci *out)
{
    ENTER(h);
    return pci(h, out, offsetof(struct pci, bus_id));
}

EXPORT int nvmlDeviceGetPciInfo_v3(handle *h, struct pci *out)
{
    ENTER(h);
    return pci(h, out, sizeof *out);
}

struct memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used;
};

EXPORT int nvmlDeviceGetMemoryInfo_v2(handle *h, struct memory_v2 *out)
{
    const gpu *g = h->gpu;
    ENTER(h);
    if (out->version != (sizeof *out | 2u << 24))
        return BAD_VERSION;
    if (g->memory_rc)
        return g->memory_rc;
    out->total = h->slice ? h->slice->total : g->total;
    out->reserved = h->slice ? 0 : g->reserved;
    out->free = h->slice ? h->slice->free : g->free;
    out->used = g->used ? g->used : out->total - out->reserved - out->free;
    return OK;
}

struct temperature {
    uint32_t version, sensor;
    int32_t celsius;
};

EXPORT int nvmlDeviceGetTemperatureV(handle *h, struct temperature *out)
{
    ENTER(h);
    if (out->version != (sizeof *out | 1u << 24))
        return BAD_VERSION;
    if (h->slice)
        return NOT_SUPPORTED;
    out->celsius = (int32_t)h->gpu->celsius;
    return OK;
}

NUMBER(nvmlDeviceGetArchitecture, h->gpu->architecture)
NUMBER(nvmlDeviceGetNumGpuCores, h->gpu->cores)
NUMBER(nvmlDeviceGetMemoryBusWidth, h->gpu->integrated ? NO_U32 : h->gpu->bus_bits)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, h->gpu->limit_milliwatts)
NUMBER(nvmlDeviceGetVirtualizationMode, h->gpu->virtualization)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, h->gpu->max_slices)
NUMBER(nvmlDeviceGetNumaNodeId, NO_U32)

EXPORT int nvmlDeviceGetAddressingMode(handle *h, uint32_t out[2])
{
    ENTER(h);
    if (out[0] != (8 | 1u << 24))
        return BAD_VERSION;
    return number_of_gpu(h, h->gpu->addressing, &out[1]);
}

EXPORT int nvmlDeviceGetMigMode(handle *h, uint32_t *now, uint32_t *pending)
{
    ENTER(h);
    *pending = h->gpu->mig;
    return number_of_gpu(h, h->gpu->mig, now);
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(handle *h, uint32_t index, handle **out)
{
    ENTER(h);
    for (size_t i = 0; i < h->gpu->slice_count; i++)
        if (h->gpu->slices[i].place == index) {
            *out = handle_of(h->gpu, &h->gpu->slices[i]);
            return OK;
        }
    return NOT_FOUND;
}

EXPORT int nvmlDeviceGetGpuInstanceId(handle *h, uint32_t *out)
{
    ENTER(h);
    return h->slice ? number(h->slice->gpu_instance, out) : INVALID;
}

EXPORT int nvmlDeviceGetComputeInstanceId(handle *h, uint32_t *out)
{
    ENTER(h);
    return h->slice ? number(h->slice->compute_instance, out) : INVALID;
}

struct attributes {
    uint32_t multiprocessors, engines[5], gpu_slices, compute_slices;
    uint64_t memory_mib;
};

EXPORT int nvmlDeviceGetAttributes_v2(handle *h, struct attributes *out)
{
    ENTER(h);
    if (!h->slice)
        return NOT_SUPPORTED;
    *out = (struct attributes){.multiprocessors = h->slice->multiprocessors,
                               .gpu_slices = h->slice->gpu_slices,
                               .compute_slices = h->slice->compute_slices,
                               .memory_mib = h->slice->total / MIB};
    return OK;
}

#endif
