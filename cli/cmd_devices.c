#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "documents.h"
#include "report.h"

typedef struct devices_args {
    const char *family, *vendor, *min_memory;
    bool available, best;
} devices_args;

static const cli_option options[] = {
    {.names = "--family",
     CLI_MEMBER(devices_args, family),
     .metavar = "NAME",
     .help = "gpu, npu, tpu, asic, or what programs them: cuda, rocm, intel ..."},
    {.names = "--vendor",
     CLI_MEMBER(devices_args, vendor),
     .metavar = "NAME",
     .help = "NVIDIA, AMD, Intel, Apple ..."},
    {.names = "--min-memory",
     CLI_MEMBER(devices_args, min_memory),
     .metavar = "SIZE",
     .help = "only those of which a program could use as much: 24GiB"},
    {.names = "--available",
     CLI_MEMBER(devices_args, available),
     .help = "only those that a program here can use"},
    {.names = "--best",
     CLI_MEMBER(devices_args, best),
     .help = "the one with most memory, among equals the fastest"},
};

static bool is_kind(const char *name)
{
    static const char *const kinds[] = {"gpu", "npu", "tpu", "asic"};
    for (size_t i = 0; name && i < CLI_COUNT(kinds); i++)
        if (strcmp(name, kinds[i]) == 0)
            return true;
    return false;
}

static bool is_asked(const devices_args *args)
{
    return args->family || args->vendor || args->min_memory || args->available || args->best;
}

/* What is asked for leaves out what no program can use, and a card that is used by its parts. */
static cli_exit read_query(const cli_call *call, plim_device_query *query)
{
    const devices_args *args = call->args;
    *(is_kind(args->family) ? &query->kind : &query->family) = args->family;
    query->vendor = args->vendor;
    query->unavailable = query->parts = !is_asked(args);
    if (args->min_memory && !plim_bytes_parse(args->min_memory, &query->min_memory))
        return cli_error(call, CLI_USAGE, "--min-memory: %s is no size such as 24GiB",
                         args->min_memory);
    return CLI_OK;
}

/* The chosen devices; `chosen` has room for all. */
static plim_items choose(const cli_call *call, const plim_machine *machine,
                         const plim_device_query *query, const void **chosen)
{
    const devices_args *args = call->args;
    const plim_device *device;
    size_t count = 0, position = 0;
    if (args->best) {
        device = plim_machine_best(machine, query);
        if (device)
            chosen[count++] = device;
    } else {
        while ((device = plim_device_next(machine, query, &position)) != NULL)
            chosen[count++] = device;
    }
    return (plim_items){chosen, count};
}

static cli_exit print_document(const cli_call *call, const plim_machine *machine)
{
    plim_devices_document document = {0};
    CLI_SET(devices_document, &document, schema, "plimsoll.devices/1");
    CLI_SET(devices_document, &document, version, plim_version());
    CLI_SET(devices_document, &document, devices, machine->devices);
    CLI_SET(devices_document, &document, links, machine->links);
    return cli_print_record(call, &plim_record_devices_document, &document);
}

static cli_exit print(const cli_call *call, const plim_machine *machine,
                      const plim_device_query *query)
{
    const void **chosen = calloc(machine->devices.count + 1, sizeof *chosen);
    cli_exit exit = CLI_OK;
    plim_machine shown = *machine;
    if (!chosen)
        return cli_error(call, CLI_INTERNAL, "out of memory");
    shown.devices = choose(call, machine, query, chosen);
    if (is_asked(call->args))
        shown.links =
            (plim_items){NULL, 0}; /* they name devices by their place in the whole list */
    if (call->common.json)
        exit = print_document(call, &shown);
    else
        cli_report_devices(call->term, &shown, true);
    if (exit == CLI_OK && is_asked(call->args) && shown.devices.count == 0)
        exit = CLI_NO;
    free(chosen);
    return exit;
}

static cli_exit run(cli_call *call)
{
    plim_device_query query = PLIM_DEVICE_QUERY_INIT;
    plim_machine *machine;
    cli_exit exit = read_query(call, &query);
    if (exit == CLI_OK)
        exit = cli_look(call, NULL, NULL, &machine);
    if (exit != CLI_OK)
        return exit;
    exit = print(call, machine, &query);
    plim_machine_free(machine);
    return exit;
}

const cli_body cli_body_devices = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(devices_args),
    .run = run,
    .details = "With an option that asks for something, devices that no program here can use and "
               "cards that are used by their parts are left out, and exit status 1 says that there "
               "is none.",
};
