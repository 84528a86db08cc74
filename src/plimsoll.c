/* The context and the public glue over the floors. */
#include <plimsoll/plimsoll.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/date.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/reader.h"
#include "base/status.h"
#include "inventory/inventory.h"
#include "machine/machine.h"
#include "machine/query.h"
#include "probe/probe.h"

struct plimsoll {
    plim_allocator allocator;
};

const plim_allocator *pli_context_allocator(const plimsoll *context)
{
    return context ? &context->allocator : NULL;
}

plim_status plim_open(const plim_config *config, plimsoll **out)
{
    plim_config with = PLIM_CONFIG_INIT;
    *out = NULL;
    if (!pli_options_take(&with, sizeof with, config))
        return PLIM_INVALID;
    plimsoll *context = pli_hook_resize(&with.allocator, NULL, 0, sizeof *context);
    if (!context)
        return PLIM_NOMEM;
    *context = (plimsoll){with.allocator};
    *out = context;
    return PLIM_OK;
}

void plim_close(plimsoll *context)
{
    if (!context)
        return;
    plim_allocator allocator = context->allocator;
    pli_hook_resize(&allocator, context, sizeof *context, 0);
}

/* ---- detection ------------------------------------------------------------------------------- */

/* A recording read into *text (freed by the caller). */
static plim_status load_recording(const plim_allocator *allocator, const char *path,
                                  plim_error *error, pli_buf *text)
{
    plim_reader reader;
    pli_buf_init(text, allocator, PLI_MAX_RECORDING);
    plim_status status = pli_reader_open(path, allocator, error, &reader);
    if (status != PLIM_OK)
        return status;
    if (reader.size > PLI_MAX_RECORDING)
        status = pli_fail(error, PLIM_LIMIT, path, PLIM_NO_OFFSET,
                          "a recording of more than %u bytes", PLI_MAX_RECORDING);
    else if (pli_buf_reserve(text, (size_t)reader.size) != PLIM_OK)
        status = pli_fail(error, PLIM_NOMEM, path, PLIM_NO_OFFSET, "out of memory");
    else
        status = pli_reader_exact(&reader, 0, text->p, (size_t)reader.size, error);
    if (status == PLIM_OK)
        pli_buf_added(text, (size_t)reader.size);
    pli_reader_close(&reader);
    return status;
}

static plim_status machine_of(const plim_allocator *allocator, const plim_detect_options *options,
                              plim_error *error, pli_machine **out)
{
    if (options->root)
        return pli_machine_root(allocator, options->root, error, out);
    if (options->machine_text)
        return pli_machine_text(allocator,
                                (pli_str){options->machine_text, options->machine_text_length},
                                "recording", error, out);
    if (!options->machine_file)
        return pli_machine_live(allocator, out);
    pli_buf text;
    plim_status status = load_recording(allocator, options->machine_file, error, &text);
    if (status == PLIM_OK)
        status = pli_machine_text(allocator, pli_buf_str(&text), options->machine_file, error, out);
    pli_buf_free(&text);
    return status;
}

/* Passes on to the context's allocator what a machine asks for, and remembers whether it was ever
 * refused: what a probe then takes for absent is only not seen, and no result at all is better. */
typedef struct refusals {
    const plim_allocator *allocator;
    bool any;
} refusals;

static void *note_refusal(void *user, void *ptr, size_t old_size, size_t new_size)
{
    refusals *noted = user;
    void *moved = pli_hook_resize(noted->allocator, ptr, old_size, new_size);
    noted->any |= !moved && new_size;
    return moved;
}

/* The time comes from the machine, so that a recording tells when it was made. */
static void stamp(pli_machine *m, pli_inventory *inv)
{
    uint64_t seconds;
    char text[PLI_DATE_SIZE];
    if (pli_query(m, "-", "host.time", NULL, 0, &seconds, sizeof seconds, NULL) == PLIM_OK &&
        pli_date_text(seconds, text))
        PLI_SET_STR(machine, inv->machine, captured_at, pli_strdup(inv->arena, text), NULL);
}

static plim_status detect(pli_machine *m, const refusals *noted, const plim_detect_options *options,
                          plim_machine **out)
{
    pli_inventory inv;
    plim_status status = pli_inventory_new(noted->allocator, &inv);
    if (status != PLIM_OK)
        return status;
    stamp(m, &inv);
    status = pli_probe_all(m, options, &inv);
    if (status == PLIM_OK && noted->any)
        status = PLIM_NOMEM;
    if (status == PLIM_OK)
        return pli_inventory_freeze(&inv, out);
    pli_inventory_free(&inv);
    return status;
}

/* The recording as text for plim_text_free(), which uses malloc. */
static plim_status hand_out(const pli_buf *text, char **recording)
{
    *recording = pli_hook_resize(NULL, NULL, 0, text->n + 1);
    if (!*recording)
        return PLIM_NOMEM;
    pli_str s = pli_buf_str(text);
    memcpy(*recording, s.p, s.n);
    (*recording)[s.n] = '\0';
    return PLIM_OK;
}

static plim_status detect_recorded(pli_machine *m, const refusals *noted,
                                   const plim_detect_options *options, char **recording,
                                   plim_machine **out)
{
    pli_machine *recorder;
    pli_buf text;
    pli_buf_init(&text, noted->allocator, PLI_MAX_RECORDING);
    plim_status status =
        pli_machine_record(&m->allocator, m, options->keep_identities, &text, &recorder);
    if (status == PLIM_OK) {
        status = detect(recorder, noted, options, out);
        pli_machine_close(recorder);
    }
    if (status == PLIM_OK)
        status = text.failed != PLIM_OK ? text.failed : hand_out(&text, recording);
    pli_buf_free(&text);
    if (status != PLIM_OK && *out) {
        plim_machine_free(*out);
        *out = NULL;
    }
    return status;
}

plim_status plim_machine_detect(plimsoll *context, const plim_detect_options *options,
                                plim_error *error, char **recording, plim_machine **out)
{
    plim_detect_options with = PLIM_DETECT_OPTIONS_INIT;
    refusals noted = {pli_context_allocator(context), false};
    const plim_allocator scarce = {note_refusal, &noted}; /* not the result's: that outlives it */
    pli_machine *m = NULL;
    *out = NULL;
    if (recording)
        *recording = NULL;
    if (!pli_options_take(&with, sizeof with, options) || (with.capture && !recording) ||
        (with.root && (with.machine_file || with.machine_text)))
        return pli_fail(error, PLIM_INVALID, "options", PLIM_NO_OFFSET,
                        "options that do not go together");
    plim_status status = machine_of(&scarce, &with, error, &m);
    if (status != PLIM_OK)
        return status;
    status = with.capture ? detect_recorded(m, &noted, &with, recording, out)
                          : detect(m, &noted, &with, out);
    pli_machine_close(m);
    if (status != PLIM_OK)
        return pli_fail(error, status, "detection", PLIM_NO_OFFSET, "%s", plim_status_text(status));
    return PLIM_OK;
}
