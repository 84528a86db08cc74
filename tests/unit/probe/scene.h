/* A machine made of a few files: what a test writes down, and the document that detection makes of
 * it. */
#ifndef PLI_SCENE_H
#define PLI_SCENE_H

#include <plimsoll/plimsoll.h>

#include "../test.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#define MiB (UINT64_C(1) << 20)
#define GiB (UINT64_C(1) << 30)

typedef struct scene {
    pli_buf text;          /* of a .machine file */
    plim_machine *machine; /* what was detected */
} scene;

static inline void scene_begin(scene *s)
{
    pli_buf_init(&s->text, NULL, 64u << 20);
    s->machine = NULL;
}

/* An entry: "file /proc/meminfo", "query - host.amx hex", "env HOME" ... */
static inline void put(scene *s, const char *entry, const char *body)
{
    assert_int_equal(pli_buf_printf(&s->text, "-- %s --\n%s\n", entry, body), PLIM_OK);
}

static inline void put_file(scene *s, const char *path, const char *body)
{
    char entry[512];
    (void)snprintf(entry, sizeof entry, "file %s", path);
    put(s, entry, body);
}

/* A file of one CPU: put_cpu(s, 3, "topology/core_id", "1"). */
static inline void put_cpu(scene *s, unsigned cpu, const char *file, const char *body)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
    put_file(s, path, body);
}

static inline const plim_machine *detect_with(scene *s, plim_detect_options options)
{
    plim_error error = PLIM_ERROR_INIT;
    plimsoll *context;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    options.machine_text = s->text.p ? s->text.p : "";
    options.machine_text_length = s->text.n;
    plim_status status = plim_machine_detect(context, &options, &error, NULL, &s->machine);
    if (status != PLIM_OK)
        print_error("%s at %llu\n", error.what, (unsigned long long)error.offset);
    assert_int_equal(status, PLIM_OK);
    plim_close(context);
    return s->machine;
}

static inline const plim_machine *detect(scene *s)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    return detect_with(s, options);
}

static inline void scene_end(scene *s)
{
    plim_machine_free(s->machine);
    pli_buf_free(&s->text);
}

#define assert_known(record, r, member, value)                                                     \
    do {                                                                                           \
        const plim_##record *r_ = (r);                                                             \
        assert_true(r_ &&PLIM_KNOWN(record, r_, member));                                          \
        assert_int_equal(r_->member, (value));                                                     \
    } while (0)
#define assert_text(record, r, member, value)                                                      \
    do {                                                                                           \
        const plim_##record *r_ = (r);                                                             \
        assert_true(r_ &&PLIM_KNOWN(record, r_, member));                                          \
        assert_string_equal(r_->member, (value));                                                  \
    } while (0)
#define assert_unknown(record, r, member)                                                          \
    do {                                                                                           \
        const plim_##record *r_ = (r);                                                             \
        assert_false(r_ &&PLIM_KNOWN(record, r_, member));                                         \
    } while (0)

static inline bool has_isa(const plim_machine *m, const char *name)
{
    for (size_t i = 0; m->cpu && i < m->cpu->isa.count; i++)
        if (strcmp(m->cpu->isa.items[i], name) == 0)
            return true;
    return false;
}

/* Is there a note of this probe that speaks of this subject, with a hint? */
static inline bool has_note(const plim_machine *m, const char *probe, const char *subject)
{
    for (size_t i = 0; i < m->notes.count; i++) {
        const plim_note *n = m->notes.items[i];
        if (strcmp(n->probe, probe) == 0 && n->subject && strstr(n->subject, subject) && n->hint)
            return true;
    }
    return false;
}

#endif
