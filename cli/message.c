/* Messages and documents: what every command prints alike. */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

cli_exit cli_error(const cli_call *call, cli_exit status, const char *format, ...)
{
    va_list args;
    /* The order of both streams on one terminal is the order of what happened. */
    (void)fflush(stdout);
    (void)fprintf(stderr, "plimsoll%s%s: ", call ? " " : "", call ? call->command->name : "");
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    return status;
}

static cli_exit exit_of(plim_status status)
{
    switch (status) {
    case PLIM_OK:
        return CLI_OK;
    case PLIM_INVALID:
        return CLI_USAGE;
    case PLIM_NOMEM:
    case PLIM_INTERNAL:
        return CLI_INTERNAL;
    default:
        return CLI_INPUT;
    }
}

cli_exit cli_failed(const cli_call *call, plim_status status, const plim_error *error)
{
    char text[sizeof error->subject + sizeof error->what + 64];
    if (error && error->status != PLIM_OK)
        (void)plim_error_text(error, text, sizeof text);
    else
        (void)snprintf(text, sizeof text, "%s", plim_status_text(status));
    return cli_error(call, exit_of(status), "%s", text);
}

cli_exit cli_print_json(const cli_call *call, plim_status status, char *text)
{
    if (status != PLIM_OK)
        return cli_failed(call, status, NULL);
    (void)fputs(text, stdout);
    (void)fputc('\n', stdout);
    plim_text_free(text);
    return CLI_OK;
}

cli_exit cli_print_record(const cli_call *call, const plim_record *record, const void *r)
{
    char *text = NULL;
    plim_status status = plim_record_to_json(record, r, PLIM_JSON_PRETTY, &text, NULL);
    return cli_print_json(call, status, text);
}
