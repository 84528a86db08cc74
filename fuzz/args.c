/* A command line of anything at all: words end with a zero byte, the first byte is the command. */
#include "target.h"

#include <string.h>

#include "cli/cli.h"

enum { MAX_WORDS = 64 };

static int split(char *bytes, size_t size, char **words)
{
    int count = 0;
    for (size_t at = 0; at < size && count < MAX_WORDS; at += strlen(bytes + at) + 1)
        words[count++] = bytes + at;
    return count;
}

/* What the parser hands out can be read. */
static void check(const cli_args *args, const cli_call *call)
{
    size_t bytes = 0;
    for (size_t i = 0; i < args->operand_count; i++)
        bytes += strlen(args->operands[i]);
    for (size_t i = 0; i < call->look.only.count; i++)
        bytes += strlen(call->look.only.items[i]);
    FUZZ_CHECK(!call->look.only.items || !call->look.only.items[call->look.only.count]);
    FUZZ_CHECK(call->look.timeout >= 0 && call->look.timeout <= 3600);
    FUZZ_CHECK(call->common.color.index >= 0 && call->common.color.index < 3);
    FUZZ_CHECK(bytes < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MAX_WORDS];
    size_t commands = 0;
    while (cli_command_at(commands))
        commands++;
    if (size == 0)
        return 0;
    const cli_command *command = cli_command_at(data[0] % commands);
    char *bytes = calloc(1, size);
    void *own = calloc(1, command->body->args_size + 1);
    FUZZ_CHECK(bytes && own);
    memcpy(bytes, data + 1, size - 1); /* the last byte stays zero */
    cli_call call = {.command = command};
    cli_target targets[3];
    cli_args args;
    size_t n = cli_targets(command, &call, own, targets);
    if (cli_args_parse(&args, targets, n, split(bytes, size, words), words))
        check(&args, &call);
    else
        FUZZ_CHECK(args.error[0] && strlen(args.error) < sizeof args.error);
    cli_args_free(&args);
    free(own);
    free(bytes);
    return 0;
}
