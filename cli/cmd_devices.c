#include "cli.h"
#include "documents.h"
#include "report.h"

static cli_exit print_document(const cli_call *call, const plim_machine *machine)
{
    plim_devices_document document = {0};
    CLI_SET(devices_document, &document, schema, "plimsoll.devices/1");
    CLI_SET(devices_document, &document, version, plim_version());
    CLI_SET(devices_document, &document, devices, machine->devices);
    CLI_SET(devices_document, &document, links, machine->links);
    return cli_print_record(call, &plim_record_devices_document, &document);
}

static cli_exit run(cli_call *call)
{
    plim_machine *machine;
    cli_exit status = cli_look(call, NULL, NULL, &machine);
    if (status != CLI_OK)
        return status;
    if (call->common.json)
        status = print_document(call, machine);
    else
        cli_report_devices(call->term, machine, true);
    plim_machine_free(machine);
    return status;
}

const cli_body cli_body_devices = {.run = run, .details = ""};
