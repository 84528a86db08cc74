/* plimsoll check: what an engine printed when it loaded a model, against what plimsoll says. */
#include <stdlib.h>
#include <string.h>

#include "check_text.h"
#include "cli.h"

enum { MAX_LOG_FILE = 1 << 29 };

typedef struct check_args {
    const char *engine;
} check_args;

static const cli_option options[] = {
    {.names = "--engine",
     CLI_MEMBER(check_args, engine),
     .metavar = "NAME",
     .help = "llama.cpp@VERSION or ik_llama.cpp (default: by the log)"},
};

typedef struct bytes {
    const char *at;
    size_t count;
} bytes;

static plim_status read_bytes(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    const bytes *all = user;
    size_t left = offset < all->count ? all->count - (size_t)offset : 0;
    *got = n < left ? n : left;
    if (*got)
        memcpy(buf, all->at + offset, *got);
    return PLIM_OK;
}

static cli_exit print(cli_call *call, const plim_check *check)
{
    if (call->common.json) {
        char *text = NULL;
        plim_status status = plim_check_to_json(check, PLIM_JSON_PRETTY, &text, NULL);
        cli_exit printed = cli_print_json(call, status, text);
        if (printed != CLI_OK)
            return printed;
    } else {
        cli_check_text(call->term, check);
    }
    return check->differing ? CLI_NO : CLI_OK;
}

static cli_exit compare(cli_call *call, const bytes *log, const plim_model *model)
{
    const check_args *args = call->args;
    plim_error error = PLIM_ERROR_INIT;
    plim_check *check = NULL;
    plim_reader reader = {sizeof reader, call->operands[0], log->count, (void *)(uintptr_t)log,
                          read_bytes};
    plim_status status =
        plim_check_log(call->context, &reader, model, args->engine, &error, &check);
    cli_exit exit = status == PLIM_OK ? print(call, check) : cli_failed(call, status, &error);
    plim_check_free(check);
    return exit;
}

static cli_exit run(cli_call *call)
{
    plim_model *model = NULL;
    char *text = NULL;
    bytes log = {NULL, 0};
    cli_exit exit = cli_read_file(call, call->operands[0], MAX_LOG_FILE, &text, &log.count);
    if (exit == CLI_OK && call->operand_count > 1)
        exit = cli_open_model(call, call->operands[1], &model);
    log.at = text;
    if (exit == CLI_OK)
        exit = compare(call, &log, model);
    plim_model_free(model);
    free(text);
    return exit;
}

const cli_body cli_body_check = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(check_args),
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
    .details =
        "LOG is what llama.cpp, ollama or ik_llama.cpp print while they load a model (llama.cpp "
        "says all of it when it is verbose); - is standard input. MODEL is the model's file; "
        "without "
        "it the keys that the log itself lists are used, and weights are not predicted. A sum that "
        "plimsoll calls exact and that differs from the log's gives exit status 1.",
};
