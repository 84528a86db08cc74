#include "cli.h"
#include "documents.h"

static cli_exit run(cli_call *call)
{
    plim_version_document document = {0};
    if (!call->common.json) {
        (void)printf("plimsoll %s\n", plim_version());
        return CLI_OK;
    }
    CLI_SET(version_document, &document, schema, "plimsoll.version/1");
    CLI_SET(version_document, &document, version, plim_version());
    return cli_print_record(call, &plim_record_version_document, &document);
}

const cli_body cli_body_version = {.run = run, .details = ""};
