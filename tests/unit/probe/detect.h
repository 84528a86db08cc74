/* A machine written down as text, and what is found in it. */
#ifndef PLI_TEST_DETECT_H
#define PLI_TEST_DETECT_H

#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <string.h>

#include "../test.h"

/* One PCI function. driver: "DRIVER=amdgpu\n" or "". */
#define PCI(address, class, id, subsystem, driver)                                                 \
    "-- file /sys/bus/pci/devices/" address "/uevent --\n" driver                                  \
    "PCI_CLASS=" class "\nPCI_ID=" id "\nPCI_SUBSYS_ID=" subsystem "\nPCI_SLOT_NAME=" address "\n"
#define ATTRIBUTE(address, name, value)                                                            \
    "-- file /sys/bus/pci/devices/" address "/" name " --\n" value "\n"
#define LINK(address, name, target)                                                                \
    "-- link /sys/bus/pci/devices/" address "/" name " --\n" target "\n"
#define DEV "-- stat /dev/null --\nchar dev=0:6 rdev=1:3 access=rw\n"
#define NODE(path, access) "-- stat " path " --\nchar dev=0:6 rdev=226:128 access=" access "\n"

static inline plim_machine *detect(const char *text)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine = NULL;
    char why[1024];
    options.machine_text = text;
    options.machine_text_length = strlen(text);
    if (plim_machine_detect(NULL, &options, &error, NULL, &machine) != PLIM_OK)
        fail_msg("%s", plim_error_text(&error, why, sizeof why));
    return machine;
}

static inline const plim_device *device(const plim_machine *m, size_t i)
{
    assert_true(i < m->devices.count);
    return m->devices.items[i];
}

/* The first note about a subject, NULL if there is none. */
static inline const plim_note *note_about(const plim_machine *m, const char *subject)
{
    for (size_t i = 0; i < m->notes.count; i++) {
        const plim_note *n = m->notes.items[i];
        if (n->subject && strcmp(n->subject, subject) == 0)
            return n;
    }
    return NULL;
}

#define assert_unknown(rec, ptr, member) assert_false(PLIM_KNOWN(rec, ptr, member))
#define assert_number(rec, ptr, member, value)                                                     \
    do {                                                                                           \
        assert_true(PLIM_KNOWN(rec, ptr, member));                                                 \
        assert_int_equal((ptr)->member, value);                                                    \
    } while (0)
#define assert_text(rec, ptr, member, value)                                                       \
    do {                                                                                           \
        assert_true(PLIM_KNOWN(rec, ptr, member));                                                 \
        assert_string_equal((ptr)->member, value);                                                 \
    } while (0)

#endif
