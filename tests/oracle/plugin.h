/* The tables by which ggml calls a loadable backend, in our own words: ggml installs no header for
 * them.
 *
 * Every table is a row of function pointers; a row that stays null is an ability the backend has
 * not. Two revisions differ in length, and the public header of the same ggml tells which one is
 * meant (setup.sh passes the two macros):
 *   PLUGIN_COPIES_2D  strided copies in buffers and streams (2026)
 *   PLUGIN_LISTS      buffer types that allocate lists of tensors (ggml 0.27)
 * The layouts were read off ggml 0.25.3 and, for 0.27, off the offsets that libggml-base.so itself
 * uses. */
#ifndef ORACLE_PLUGIN_H
#define ORACLE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggml-backend.h>
#include <ggml.h>

typedef void (*plugin_unused)(void);

struct plugin_buffer_type {
    const char *(*name)(ggml_backend_buffer_type_t);
    ggml_backend_buffer_t (*allocate)(ggml_backend_buffer_type_t, size_t);
#if PLUGIN_LISTS
    plugin_unused allocate_list;
#endif
    size_t (*alignment)(ggml_backend_buffer_type_t);
    plugin_unused largest;
    size_t (*tensor_size)(ggml_backend_buffer_type_t, const struct ggml_tensor *);
#if PLUGIN_LISTS
    plugin_unused list_size;
#endif
    bool (*is_host)(ggml_backend_buffer_type_t);
    ggml_backend_dev_t device;
    void *context;
};

struct plugin_buffer_calls {
    void (*release)(ggml_backend_buffer_t);
    void *(*base)(ggml_backend_buffer_t);
    plugin_unused init_tensor;
    void (*fill)(ggml_backend_buffer_t, struct ggml_tensor *, uint8_t, size_t, size_t);
    void (*write)(ggml_backend_buffer_t, struct ggml_tensor *, const void *, size_t, size_t);
    void (*read)(ggml_backend_buffer_t, const struct ggml_tensor *, void *, size_t, size_t);
#if PLUGIN_COPIES_2D
    plugin_unused write_2d, read_2d;
#endif
    plugin_unused copy;
    void (*clear)(ggml_backend_buffer_t, uint8_t);
    plugin_unused reset;
};

struct plugin_stream_calls {
    const char *(*name)(ggml_backend_t);
    void (*release)(ggml_backend_t);
    plugin_unused write, read;
#if PLUGIN_COPIES_2D
    plugin_unused write_2d, read_2d;
#endif
    bool (*copy)(ggml_backend_t, ggml_backend_t, const struct ggml_tensor *, struct ggml_tensor *);
    void (*synchronize)(ggml_backend_t);
    plugin_unused plan_new, plan_free, plan_update, plan_run;
    enum ggml_status (*run)(ggml_backend_t, struct ggml_cgraph *);
    void (*record)(ggml_backend_t, ggml_backend_event_t);
    void (*wait)(ggml_backend_t, ggml_backend_event_t);
    plugin_unused optimize;
};

struct plugin_stream {
    ggml_guid_t guid;
    struct plugin_stream_calls calls;
    ggml_backend_dev_t device;
    void *context;
};

struct plugin_event {
    ggml_backend_dev_t device;
    void *context;
};

struct plugin_device {
    const char *(*name)(ggml_backend_dev_t);
    const char *(*description)(ggml_backend_dev_t);
    void (*memory)(ggml_backend_dev_t, size_t *, size_t *);
    enum ggml_backend_dev_type (*type)(ggml_backend_dev_t);
    void (*properties)(ggml_backend_dev_t, struct ggml_backend_dev_props *);
    ggml_backend_t (*open)(ggml_backend_dev_t, const char *);
    ggml_backend_buffer_type_t (*buffer_type)(ggml_backend_dev_t);
    ggml_backend_buffer_type_t (*host_buffer_type)(ggml_backend_dev_t);
    plugin_unused from_host_pointer;
    bool (*supports_op)(ggml_backend_dev_t, const struct ggml_tensor *);
    bool (*supports_buffer_type)(ggml_backend_dev_t, ggml_backend_buffer_type_t);
    bool (*offloads_op)(ggml_backend_dev_t, const struct ggml_tensor *);
    ggml_backend_event_t (*event_new)(ggml_backend_dev_t);
    void (*event_free)(ggml_backend_dev_t, ggml_backend_event_t);
    void (*event_synchronize)(ggml_backend_dev_t, ggml_backend_event_t);
    ggml_backend_reg_t registry;
    void *context;
};

struct plugin_registry {
    int version;
    const char *(*name)(ggml_backend_reg_t);
    size_t (*device_count)(ggml_backend_reg_t);
    ggml_backend_dev_t (*device)(ggml_backend_reg_t, size_t);
    void *(*symbol)(ggml_backend_reg_t, const char *);
    void *context;
};

/* Exported by libggml-base, though declared in no public header. */
ggml_backend_buffer_t ggml_backend_buffer_init(ggml_backend_buffer_type_t,
                                               struct plugin_buffer_calls, void *context,
                                               size_t size);

#endif
