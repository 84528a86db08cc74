/* Built where libcurl's headers were absent. */
#include "transfer.h"

#include <stdio.h>

plim_status cli_transfer_open(cli_transfer **out, char *why, size_t size)
{
    *out = NULL;
    (void)snprintf(why, size,
                   "this plimsoll was built without libcurl and reads files alone: fetch the "
                   "header, or build it where libcurl's headers are");
    return PLIM_UNSUPPORTED;
}

bool cli_transfer_get(cli_transfer *transfer, const cli_request *request, cli_reply *reply)
{
    (void)transfer;
    (void)request;
    *reply = (cli_reply){.status = PLIM_UNSUPPORTED};
    return false;
}

void cli_transfer_close(cli_transfer *transfer)
{
    (void)transfer;
}

void cli_reply_free(cli_reply *reply)
{
    (void)reply;
}
