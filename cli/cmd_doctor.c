#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "documents.h"
#include "paint.h"
#include "report.h"
#include "table.h"

static const cli_column probe_columns[] = {
    {"probe", "{name}", CLI_LEFT, CLI_FIXED},
    {"stage", "{stage}", CLI_LEFT, CLI_FIXED},
    {"time", "{time_us}", CLI_RIGHT, CLI_FIXED},
    {"what it looks for", "{title}[ ({isolated?in a process of its own})]", CLI_LEFT, CLI_NARROWS},
};

/* Microseconds that a probe took; false where it did not run. */
static bool time_of(const plim_machine *machine, const char *probe, uint64_t *us)
{
    const plim_timing *timing = machine->timing;
    if (!PLIM_KNOWN(machine, machine, timing) || !PLIM_KNOWN(timing, timing, probes))
        return false;
    for (size_t i = 0; i < timing->probes.count; i++)
        if (strcmp(timing->probes.items[i].name, probe) == 0) {
            *us = timing->probes.items[i].value;
            return true;
        }
    return false;
}

static size_t count_probes(void)
{
    size_t n = 0;
    while (plim_probe_at(n))
        n++;
    return n;
}

static void fill_probes(const plim_machine *machine, plim_doctor_probe *probes, const void **items,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const plim_probe_info *info = plim_probe_at(i);
        plim_doctor_probe *probe = &probes[i];
        uint64_t us;
        CLI_SET(doctor_probe, probe, name, info->name);
        CLI_SET(doctor_probe, probe, stage, info->stage);
        CLI_SET(doctor_probe, probe, title, info->title);
        CLI_SET(doctor_probe, probe, isolated, info->isolated);
        CLI_SET(doctor_probe, probe, ran, time_of(machine, info->name, &us));
        if (probe->ran)
            CLI_SET(doctor_probe, probe, time_us, us);
        items[i] = probe;
    }
}

static size_t count_usable(const plim_items *devices)
{
    size_t n = 0;
    for (size_t i = 0; i < devices->count; i++) {
        const plim_device *device = devices->items[i];
        n += PLIM_KNOWN(device, device, available) && device->available;
    }
    return n;
}

static void print_text(cli_term term, const plim_machine *machine, const plim_items *probes)
{
    char line[96];
    cli_table(term, 0, probe_columns, CLI_COUNT(probe_columns), &plim_record_doctor_probe, probes);
    if (PLIM_KNOWN(machine, machine, timing) && PLIM_KNOWN(timing, machine->timing, total_us))
        (void)printf("\n%llu us in all\n", (unsigned long long)machine->timing->total_us);
    (void)snprintf(line, sizeof line, "%zu of %zu accelerators can be used",
                   count_usable(&machine->devices), machine->devices.count);
    (void)puts(machine->devices.count ? line : "no accelerators");
    if (machine->notes.count == 0)
        (void)puts("nothing is missing");
    cli_report_notes(term, &machine->notes);
}

static cli_exit print_document(const cli_call *call, const plim_machine *machine,
                               const plim_items *probes)
{
    plim_doctor_document document = {0};
    CLI_SET(doctor_document, &document, schema, "plimsoll.doctor/1");
    CLI_SET(doctor_document, &document, version, plim_version());
    if (PLIM_KNOWN(machine, machine, timing) && PLIM_KNOWN(timing, machine->timing, total_us))
        CLI_SET(doctor_document, &document, total_us, machine->timing->total_us);
    CLI_SET(doctor_document, &document, probes, *probes);
    CLI_SET(doctor_document, &document, devices_found, machine->devices.count);
    CLI_SET(doctor_document, &document, devices_usable, count_usable(&machine->devices));
    CLI_SET(doctor_document, &document, notes, machine->notes);
    return cli_print_record(call, &plim_record_doctor_document, &document);
}

static cli_exit report(const cli_call *call, const plim_machine *machine)
{
    size_t count = count_probes();
    plim_doctor_probe *probes = calloc(count + 1, sizeof *probes);
    const void **items = calloc(count + 1, sizeof *items);
    cli_exit status = CLI_OK;
    if (!probes || !items) {
        status = cli_error(call, CLI_INTERNAL, "out of memory");
    } else {
        fill_probes(machine, probes, items, count);
        plim_items list = {items, count};
        if (call->common.json)
            status = print_document(call, machine, &list);
        else
            print_text(call->term, machine, &list);
    }
    free(probes);
    free(items);
    return status;
}

static cli_exit run(cli_call *call)
{
    plim_machine *machine;
    cli_exit status = cli_look(call, NULL, NULL, &machine);
    if (status != CLI_OK)
        return status;
    status = report(call, machine);
    plim_machine_free(machine);
    return status;
}

const cli_body cli_body_doctor = {
    .run = run,
    .details = "Lists the probes that looked, how long each took, and what they noticed: what is "
               "there but could not be read or used, and behind the arrow what would help.",
};
