/* plimsoll: how large an AI model may this machine carry? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "help.h"

/* "plimsoll --json" shows, "plimsoll --help" helps: without a command the options are show's. */
static const cli_command *command_of(const char *word)
{
    if (!word)
        return cli_command_find("show");
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return cli_command_find("version");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return cli_command_find("help");
    return cli_command_find(word[0] == '-' ? "show" : word);
}

/* Are these words options of the command, and nothing else? */
static bool are_options_of(const cli_command *command, int count, char *const *words)
{
    cli_call call = {.command = command};
    cli_args args;
    cli_target targets[3];
    void *own = calloc(1, command->body->args_size + 1);
    if (!own)
        return false;
    size_t n = cli_targets(command, &call, own, targets);
    bool alone = cli_args_parse(&args, targets, n, count, words) && args.operand_count == 0;
    cli_args_free(&args);
    free(own);
    return alone;
}

/* "plimsoll --root DIR capture FILE": options may come first. Moves the command before them. */
static void command_first(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const cli_command *command = cli_command_find(argv[i]);
        if (!command || !are_options_of(command, i - 1, argv + 1))
            continue;
        char *word = argv[i];
        memmove(argv + 2, argv + 1, (size_t)(i - 1) * sizeof *argv);
        argv[1] = word;
        return;
    }
}

static cli_exit unknown_command(const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (; n < CLI_COUNT(names) - 1 && cli_command_at(n); n++)
        names[n] = cli_command_at(n)->name;
    names[n] = NULL;
    const char *nearest = cli_nearest(word, names);
    return cli_error(NULL, CLI_USAGE, "unknown command '%.64s'%s%s%s", word,
                     nearest ? "; did you mean '" : ", 'plimsoll help' lists them",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

static cli_exit check_operands(const cli_call *call)
{
    const cli_body *body = call->command->body;
    if (call->operand_count < body->min_operands)
        return cli_error(call, CLI_USAGE, "needs %s", call->command->operands);
    if (call->operand_count <= body->max_operands)
        return CLI_OK;
    const char *extra = call->operands[body->max_operands];
    if (cli_command_find(extra))
        return cli_error(call, CLI_USAGE, "'%s' comes first: plimsoll %s [OPTION...]", extra,
                         extra);
    return cli_error(call, CLI_USAGE, "does not know what to do with '%.256s'", extra);
}

static cli_exit run(cli_call *call)
{
    cli_exit status = check_operands(call);
    if (status != CLI_OK)
        return status;
    call->term = cli_term_of_stdout((cli_color)call->common.color.index);
    if (plim_open(NULL, &call->context) != PLIM_OK)
        return cli_error(call, CLI_INTERNAL, "out of memory");
    status = call->command->body->run(call);
    plim_close(call->context);
    return status;
}

static cli_exit parse_and_run(const cli_command *command, int argc, char *const *argv)
{
    cli_call call = {.command = command};
    cli_args args;
    cli_target targets[3];
    call.args = calloc(1, command->body->args_size + 1);
    if (!call.args)
        return cli_error(&call, CLI_INTERNAL, "out of memory");
    size_t n = cli_targets(command, &call, call.args, targets);
    cli_exit status;
    if (!cli_args_parse(&args, targets, n, argc, argv)) {
        status = cli_error(&call, CLI_USAGE, "%s", args.error);
    } else if (call.common.help) {
        cli_help_command(command, cli_term_of_stdout((cli_color)call.common.color.index));
        status = CLI_OK;
    } else {
        call.operands = args.operands;
        call.operand_count = args.operand_count;
        status = run(&call);
    }
    cli_args_free(&args);
    free(call.args);
    return status;
}

/* A full disk must not look like success. A reader that left knows that it did. */
static cli_exit finish_output(cli_exit status)
{
    errno = 0;
    bool failed = ferror(stdout) != 0;
    failed = fclose(stdout) != 0 || failed;
    if (!failed)
        return status;
    if (errno != EPIPE)
        (void)cli_error(NULL, CLI_INTERNAL, "the output could not be written: %s",
                        errno ? strerror(errno) : "an earlier write failed");
    return CLI_INTERNAL;
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[1][0] == '-')
        command_first(argc, argv);
    const char *word = argc > 1 ? argv[1] : NULL;
    const cli_command *command = command_of(word);
    /* Words after the command; an option in its place belongs to show, except the two that name a
     * command themselves. */
    int skip =
        word && (word[0] != '-' || strcmp(command ? command->name : "", "show") != 0) ? 2 : 1;
    cli_exit status = command ? parse_and_run(command, argc > skip ? argc - skip : 0, argv + skip)
                              : unknown_command(word);
    return (int)finish_output(status);
}
