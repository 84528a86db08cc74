/* The model that a command is given. */
#include "cli.h"

cli_exit cli_open_model(const cli_call *call, const char *path, plim_model **out)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_status status = plim_model_open(call->context, path, &error, out);
    if (status == PLIM_OK)
        return CLI_OK;
    /* a pipe, or a directory of several models: not the command line is wrong but what it names */
    if (status == PLIM_INVALID)
        error.status = status = PLIM_UNSUPPORTED;
    return cli_failed(call, status, &error);
}
