/* A loadable ggml backend of GPUs that do not exist, so that a real llama.cpp plans memory for any
 * machine.
 *
 * It behaves like CUDA wherever memory depends on it: 128-byte alignment, rows of quantised tensors
 * padded to 512 elements, a pinned host buffer type, streams with events (llama.cpp then keeps four
 * copies of the inputs when it pipelines over several devices), and weights in host memory copied
 * over for batches of 32 and more. It claims to run every operation and runs none. Loaded by
 * GGML_BACKEND_PATH.
 *
 *   FAKE_GPUS=N            how many devices (default 1)
 *   FAKE_GPU_MIB=A,B,...   their memory, all of it free; the last counts for those that follow
 *                          (default 65536)
 *   FAKE_GPU_BLOCKING=1    no asynchronous copies and no events: llama.cpp does not pipeline */
#define _DEFAULT_SOURCE /* mmap without a file */
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_GPUS = 16, ALIGNMENT = 128, ROW_PADDING = 512, OFFLOAD_BATCH = 32 };

struct gpu {
    struct plugin_device device;
    struct plugin_buffer_type memory;
    char name[16];
    size_t bytes;
};

static struct gpu gpus[MAX_GPUS];
static struct plugin_buffer_type pinned;
static struct plugin_registry registry;
static size_t gpu_count;
static bool blocking;

static struct gpu *gpu_of(ggml_backend_dev_t device)
{
    return (struct gpu *)((struct plugin_device *)device)->context;
}

/* Buffers: address space alone. Nothing is read or written on a device; host memory is real when
 * it is touched. */

static void *buffer_base(ggml_backend_buffer_t buffer)
{
    return *(void **)((char *)buffer + sizeof(struct plugin_buffer_calls) + sizeof(void *));
}

static void buffer_release(ggml_backend_buffer_t buffer)
{
    munmap(buffer_base(buffer), ggml_backend_buffer_get_size(buffer));
}

static void buffer_fill(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
                        size_t at, size_t size)
{
    (void)buffer, (void)tensor, (void)value, (void)at, (void)size;
}

static void buffer_write(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
                         size_t at, size_t size)
{
    (void)buffer, (void)tensor, (void)data, (void)at, (void)size;
}

static void buffer_read(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
                        size_t at, size_t size)
{
    (void)buffer, (void)tensor, (void)data, (void)at, (void)size;
}

static void buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    (void)buffer, (void)value;
}

static ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, size_t size)
{
    static const struct plugin_buffer_calls calls = {.release = buffer_release,
                                                     .base = buffer_base,
                                                     .fill = buffer_fill,
                                                     .write = buffer_write,
                                                     .read = buffer_read,
                                                     .clear = buffer_clear};
    size = size ? size : 1;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : ggml_backend_buffer_init(type, calls, base, size);
}

static const char *memory_name(ggml_backend_buffer_type_t type)
{
    return ((struct gpu *)((struct plugin_buffer_type *)type)->context)->name;
}

static size_t memory_alignment(ggml_backend_buffer_type_t type)
{
    (void)type;
    return ALIGNMENT;
}

static size_t memory_tensor_size(ggml_backend_buffer_type_t type, const struct ggml_tensor *tensor)
{
    (void)type;
    int64_t over = tensor->ne[0] % ROW_PADDING;
    size_t padding = ggml_is_quantized(tensor->type) && over
                         ? ggml_row_size(tensor->type, ROW_PADDING - over)
                         : 0;
    return ggml_nbytes(tensor) + padding;
}

static const char *pinned_name(ggml_backend_buffer_type_t type)
{
    (void)type;
    return "CUDA_Host";
}

static size_t pinned_alignment(ggml_backend_buffer_type_t type)
{
    (void)type;
    return 32; /* the CPU's */
}

static size_t pinned_tensor_size(ggml_backend_buffer_type_t type, const struct ggml_tensor *tensor)
{
    (void)type;
    return ggml_nbytes(tensor);
}

static bool pinned_is_host(ggml_backend_buffer_type_t type)
{
    (void)type;
    return true;
}

/* Streams and events. */

static const char *stream_name(ggml_backend_t stream)
{
    return gpu_of(((struct plugin_stream *)stream)->device)->name;
}

static void stream_release(ggml_backend_t stream)
{
    free(stream);
}

static bool stream_copy(ggml_backend_t from, ggml_backend_t to, const struct ggml_tensor *source,
                        struct ggml_tensor *target)
{
    (void)from, (void)to, (void)source, (void)target;
    return true;
}

static void stream_synchronize(ggml_backend_t stream)
{
    (void)stream;
}

static enum ggml_status stream_run(ggml_backend_t stream, struct ggml_cgraph *graph)
{
    (void)stream, (void)graph;
    return GGML_STATUS_SUCCESS;
}

static void stream_event(ggml_backend_t stream, ggml_backend_event_t event)
{
    (void)stream, (void)event;
}

static ggml_backend_t device_open(ggml_backend_dev_t device, const char *parameters)
{
    (void)parameters;
    static ggml_guid guid = {'p', 'l', 'i', 'm', 's', 'o', 'l', 'l',
                             '-', 'f', 'a', 'k', 'e', 'g', 'p', 'u'};
    struct plugin_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->guid = &guid;
    stream->device = device;
    stream->calls = (struct plugin_stream_calls){.name = stream_name,
                                                 .release = stream_release,
                                                 .copy = blocking ? NULL : stream_copy,
                                                 .synchronize = stream_synchronize,
                                                 .run = stream_run,
                                                 .record = blocking ? NULL : stream_event,
                                                 .wait = blocking ? NULL : stream_event};
    return (ggml_backend_t)stream;
}

static ggml_backend_event_t event_new(ggml_backend_dev_t device)
{
    struct plugin_event *event = calloc(1, sizeof *event);
    if (event)
        event->device = device;
    return (ggml_backend_event_t)event;
}

static void event_free(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    (void)device;
    free(event);
}

static void event_synchronize(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    (void)device, (void)event;
}

/* Devices. */

static const char *device_name(ggml_backend_dev_t device)
{
    return gpu_of(device)->name;
}

static const char *device_description(ggml_backend_dev_t device)
{
    (void)device;
    return "no such GPU";
}

static void device_memory(ggml_backend_dev_t device, size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = gpu_of(device)->bytes;
}

static enum ggml_backend_dev_type device_type(ggml_backend_dev_t device)
{
    (void)device;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void device_properties(ggml_backend_dev_t device, struct ggml_backend_dev_props *out)
{
    out->name = device_name(device);
    out->description = device_description(device);
    out->type = device_type(device);
    out->device_id = NULL;
    device_memory(device, &out->memory_free, &out->memory_total);
    out->caps = (struct ggml_backend_dev_caps){
        .async = !blocking, .host_buffer = true, .events = !blocking};
}

static ggml_backend_buffer_type_t device_buffer_type(ggml_backend_dev_t device)
{
    return (ggml_backend_buffer_type_t)&gpu_of(device)->memory;
}

static ggml_backend_buffer_type_t device_host_buffer_type(ggml_backend_dev_t device)
{
    (void)device;
    return (ggml_backend_buffer_type_t)&pinned;
}

static bool device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device, (void)op;
    return true;
}

static bool device_supports_buffer_type(ggml_backend_dev_t device, ggml_backend_buffer_type_t type)
{
    return type == (ggml_backend_buffer_type_t)&gpu_of(device)->memory;
}

/* Tokens an operation works on: copying its weights over pays for many. */
static int64_t batch_of(const struct ggml_tensor *op)
{
    switch (op->op) {
    case GGML_OP_GET_ROWS:
        return 0;
    case GGML_OP_MUL_MAT:
        return op->ne[1];
    case GGML_OP_MUL_MAT_ID:
    case GGML_OP_ROPE:
    case GGML_OP_ROPE_BACK:
        return op->ne[2];
    default:
        return ggml_nrows(op);
    }
}

static bool device_offloads_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    return batch_of(op) >= OFFLOAD_BATCH;
}

/* The registry. */

static const char *registry_name(ggml_backend_reg_t self)
{
    (void)self;
    return "CUDA";
}

static size_t registry_device_count(ggml_backend_reg_t self)
{
    (void)self;
    return gpu_count;
}

static ggml_backend_dev_t registry_device(ggml_backend_reg_t self, size_t index)
{
    (void)self;
    return (ggml_backend_dev_t)&gpus[index].device;
}

static void *registry_symbol(ggml_backend_reg_t self, const char *name)
{
    (void)self, (void)name;
    return NULL;
}

static const struct plugin_device device_template = {.name = device_name,
                                                     .description = device_description,
                                                     .memory = device_memory,
                                                     .type = device_type,
                                                     .properties = device_properties,
                                                     .open = device_open,
                                                     .buffer_type = device_buffer_type,
                                                     .host_buffer_type = device_host_buffer_type,
                                                     .supports_op = device_supports_op,
                                                     .supports_buffer_type =
                                                         device_supports_buffer_type,
                                                     .offloads_op = device_offloads_op,
                                                     .event_new = event_new,
                                                     .event_free = event_free,
                                                     .event_synchronize = event_synchronize};

static void add_gpu(size_t index, size_t mib)
{
    struct gpu *gpu = &gpus[index];
    snprintf(gpu->name, sizeof gpu->name, "CUDA%zu", index);
    gpu->bytes = mib << 20;
    gpu->device = device_template;
    gpu->device.registry = (ggml_backend_reg_t)&registry;
    gpu->device.context = gpu;
    gpu->memory = (struct plugin_buffer_type){.name = memory_name,
                                              .allocate = allocate,
                                              .alignment = memory_alignment,
                                              .tensor_size = memory_tensor_size,
                                              .device = (ggml_backend_dev_t)&gpu->device,
                                              .context = gpu};
}

static void add_gpus(void)
{
    const char *count = getenv("FAKE_GPUS"), *sizes = getenv("FAKE_GPU_MIB");
    size_t mib = 65536;
    gpu_count = count ? strtoul(count, NULL, 10) : 1;
    gpu_count = gpu_count < MAX_GPUS ? gpu_count : MAX_GPUS;
    for (size_t i = 0; i < gpu_count; i++) {
        char *end = NULL;
        if (sizes && *sizes) {
            mib = strtoul(sizes, &end, 10);
            sizes = *end == ',' ? end + 1 : end;
        }
        add_gpu(i, mib);
    }
}

/* The revision that ggml expects is the one its own CPU backend, loaded before us, carries. */
static int revision(void)
{
    struct plugin_registry *cpu = (struct plugin_registry *)ggml_backend_reg_by_name("CPU");
    return cpu ? cpu->version : 2;
}

__attribute__((visibility("default"))) ggml_backend_reg_t ggml_backend_init(void);

ggml_backend_reg_t ggml_backend_init(void)
{
    const char *block = getenv("FAKE_GPU_BLOCKING");
    blocking = block && *block == '1';
    registry = (struct plugin_registry){.version = revision(),
                                        .name = registry_name,
                                        .device_count = registry_device_count,
                                        .device = registry_device,
                                        .symbol = registry_symbol};
    pinned = (struct plugin_buffer_type){.name = pinned_name,
                                         .allocate = allocate,
                                         .alignment = pinned_alignment,
                                         .tensor_size = pinned_tensor_size,
                                         .is_host = pinned_is_host,
                                         .device = (ggml_backend_dev_t)&gpus[0].device};
    add_gpus();
    return (ggml_backend_reg_t)&registry;
}
