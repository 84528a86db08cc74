#include "cli.h"

static cli_exit run(cli_call *call)
{
    plim_machine *machine;
    char *text = NULL;
    cli_exit status = cli_look(call, NULL, NULL, &machine);
    if (status != CLI_OK)
        return status;
    unsigned flags = PLIM_JSON_PRETTY | (call->look.explain ? PLIM_JSON_SOURCES : 0);
    plim_status result = plim_machine_to_json(machine, flags, &text, NULL);
    plim_machine_free(machine);
    return cli_print_json(call, result, text);
}

const cli_body cli_body_show = {.run = run, .details = ""};
