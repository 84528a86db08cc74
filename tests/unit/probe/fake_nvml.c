#include "fake_nvml.h"

#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/limits.h"
#include "inventory/inventory.h"
#include "probe/probe.h"

/* The text's files, this process's libraries. */
static pli_machine *mixed(const fake_nvml *f, pli_machine_ops *ops)
{
    pli_machine *m, *live;
    if (pli_machine_text(f->allocator, pli_s(f->files), "test", NULL, &m) != PLIM_OK)
        return NULL;
    if (!f->machine)
        return m;
    assert_int_equal(pli_machine_live(NULL, &live), PLIM_OK);
    *ops = *m->ops;
    ops->lib = live->ops->lib;
    ops->call_before = live->ops->call_before;
    ops->call_after = live->ops->call_after;
    ops->clock = live->ops->clock;
    ops->isolate = live->ops->isolate;
    m->ops = ops;
    pli_machine_close(live);
    return m;
}

static plim_machine *detect(pli_machine *m, const fake_nvml *f)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_machine *result = NULL;
    pli_inventory inv;
    options.isolate = f->isolate;
    options.wake = f->wake;
    options.timeout_ms = f->timeout_ms;
    if (pli_inventory_new(f->allocator, &inv) != PLIM_OK)
        return NULL;
    if (pli_probe_all(m, &options, &inv) != PLIM_OK)
        pli_inventory_free(&inv);
    else
        (void)pli_inventory_freeze(&inv, &result);
    return result;
}

static plim_machine *detect_recorded(pli_machine *m, fake_nvml *f)
{
    plim_machine *result = NULL;
    pli_machine *recorder;
    pli_buf text;
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    assert_int_equal(pli_machine_record(NULL, m, true, &text, &recorder), PLIM_OK);
    result = detect(recorder, f);
    pli_machine_close(recorder);
    assert_int_equal(text.failed, PLIM_OK);
    f->recording = strdup(pli_buf_str(&text).p);
    pli_buf_free(&text);
    return result;
}

plim_machine *fake_nvml_detect(fake_nvml *f)
{
    pli_machine_ops ops;
    (void)setenv("FAKE_NVML", f->machine ? f->machine : "", 1);
    (void)setenv("FAKE_NVML_FAULT", f->fault ? f->fault : "", 1);
    pli_machine *m = mixed(f, &ops);
    if (!m)
        return NULL;
    plim_machine *result = f->capture ? detect_recorded(m, f) : detect(m, f);
    pli_machine_close(m);
    return result;
}

plim_machine *fake_detect(const char *files, const char *machine, const char *fault)
{
    fake_nvml f = {.files = files, .machine = machine, .fault = fault};
    plim_machine *m = fake_nvml_detect(&f);
    assert_non_null(m);
    return m;
}

plim_machine *fake_nvml_replay(const char *text)
{
    fake_nvml f = {.files = text, .isolate = true};
    return fake_nvml_detect(&f);
}

const plim_device *fake_device(const plim_machine *m, size_t i)
{
    assert_true(i < m->devices.count);
    return m->devices.items[i];
}

const plim_device *fake_device_at(const plim_machine *m, const char *pci_address)
{
    for (size_t i = 0; i < m->devices.count; i++) {
        const plim_device *d = m->devices.items[i];
        if (PLIM_KNOWN(device, d, pci_address) && strcmp(d->pci_address, pci_address) == 0)
            return d;
    }
    fail_msg("no device at %s", pci_address);
    return NULL;
}

const plim_note *fake_note(const plim_machine *m, const char *part)
{
    for (size_t i = 0; i < m->notes.count; i++) {
        const plim_note *note = m->notes.items[i];
        if (strstr(note->text, part) || (note->subject && strstr(note->subject, part)))
            return note;
    }
    return NULL;
}
