/* The table of commands and the options that commands share. */
#include <string.h>

#include "cli.h"

#define CMD(name, group, looks, operands, summary) extern const cli_body cli_body_##name;
#include "commands.def"
#undef CMD

enum { STAYS = false, LOOKS = true };

static const cli_command commands[] = {
#define CMD(name, group, looks, operands, summary)                                                 \
    {#name, group, operands, looks, summary, &cli_body_##name},
#include "commands.def"
#undef CMD
};

static const cli_option common_options[] = {
    {.names = "--json",
     CLI_MEMBER(struct cli_common, json),
     .help = "print a JSON document instead of text"},
    {.names = "--color",
     CLI_MEMBER(struct cli_common, color),
     .metavar = "WHEN",
     .choices = "auto|always|never",
     .initial = "auto",
     .help = "colour the text: auto, always or never"},
    {.names = "-h --help",
     CLI_MEMBER(struct cli_common, help),
     .help = "explain the command and its options"},
};

static const cli_option look_options[] = {
    {.names = "--machine",
     CLI_MEMBER(struct cli_look, machine),
     .metavar = "FILE",
     .help = "a recording or a JSON document of a machine, instead of this one"},
    {.names = "--root",
     CLI_MEMBER(struct cli_look, root),
     .metavar = "DIR",
     .help = "the files below this directory, instead of this machine"},
    {.names = "--on",
     CLI_MEMBER(struct cli_look, on),
     .metavar = "SPEC",
     .help = "a machine one does not have: cuda:24GiB*2, cpu:64GiB, 2x RTX 4090, M4 Max 64GB"},
    {.names = "--only",
     CLI_MEMBER(struct cli_look, only),
     .metavar = "PROBE",
     .help = "run these probes alone; may be repeated"},
    {.names = "--skip",
     CLI_MEMBER(struct cli_look, skip),
     .metavar = "PROBE",
     .help = "leave these probes out; may be repeated"},
    {.names = "--timeout",
     CLI_MEMBER(struct cli_look, timeout),
     .metavar = "SECONDS",
     .min = 0,
     .max = 3600,
     .help = "deadline of a probe that enters a vendor's library; 0: 10 s and 2 s for each device"},
    {.names = "--wake",
     CLI_MEMBER(struct cli_look, wake),
     .help = "wake sleeping GPUs to ask them for their memory"},
    {.names = "--explain",
     CLI_MEMBER(struct cli_look, explain),
     .help = "say where every figure comes from"},
};

const cli_command *cli_command_at(size_t i)
{
    return i < CLI_COUNT(commands) ? &commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

size_t cli_targets(const cli_command *command, cli_call *call, void *args, cli_target out[3])
{
    size_t n = 0;
    if (command->body->option_count)
        out[n++] = (cli_target){command->body->options, command->body->option_count, args};
    if (command->looks)
        out[n++] = (cli_target){look_options, CLI_COUNT(look_options), call ? &call->look : NULL};
    out[n++] = (cli_target){common_options, CLI_COUNT(common_options), call ? &call->common : NULL};
    return n;
}

const char *cli_target_title(const cli_target *target)
{
    return target->options == common_options ? "Common options"
           : target->options == look_options ? "Where to look"
                                             : "Options";
}
