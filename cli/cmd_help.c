#include <string.h>

#include "cli.h"
#include "help.h"
#include "schema.h"

struct help_args {
    bool man;
    cli_choice completion;
    const char *schema;
    cli_choice list;
};

static const cli_option options[] = {
    {.names = "--man", CLI_MEMBER(struct help_args, man), .help = "print the manual page, as mdoc"},
    {.names = "--completion",
     CLI_MEMBER(struct help_args, completion),
     .metavar = "SHELL",
     .choices = "bash",
     .help = "print the completion script of a shell: bash"},
    {.names = "--schema",
     CLI_MEMBER(struct help_args, schema),
     .metavar = "DOCUMENT",
     .help = "print the JSON Schema of a document: machine, model, fit, devices, doctor, diff or "
             "version"},
    {.names = "--list",
     CLI_MEMBER(struct help_args, list),
     .metavar = "WHAT",
     .choices = "commands|documents|probes",
     .help = "print names, a line each: of commands, documents or probes"},
};

static const char *command_name(size_t i)
{
    const cli_command *command = cli_command_at(i);
    return command ? command->name : NULL;
}

static const char *probe_name(size_t i)
{
    const plim_probe_info *probe = plim_probe_at(i);
    return probe ? probe->name : NULL;
}

/* In the order of the choices of --list. */
static const char *(*const lists[])(size_t i) = {command_name, cli_schema_at, probe_name};

static void print_list(int what)
{
    for (size_t i = 0; lists[what](i); i++)
        (void)puts(lists[what](i));
}

static cli_exit run(cli_call *call)
{
    const struct help_args *args = call->args;
    const cli_command *about = NULL;
    if (call->operand_count) {
        about = cli_command_find(call->operands[0]);
        if (!about)
            return cli_error(call, CLI_USAGE, "no command '%.64s'", call->operands[0]);
    }
    if (args->schema && !cli_schema_print(args->schema))
        return cli_error(call, CLI_USAGE, "--schema: no document '%.64s'", args->schema);
    if (args->schema)
        return CLI_OK;
    if (args->list.index >= 0)
        print_list(args->list.index);
    else if (args->completion.index >= 0)
        cli_completion_bash();
    else if (args->man && about)
        cli_man_command(about);
    else if (args->man)
        cli_man_all();
    else if (about)
        cli_help_command(about, call->term);
    else
        cli_help_all(call->term);
    return CLI_OK;
}

const cli_body cli_body_help = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(struct help_args),
    .max_operands = 1,
    .run = run,
    .details = "",
};
