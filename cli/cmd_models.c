/* What can this machine run, best first? Or, with a name: in which quantizations. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "table.h"
#include "text.h"

enum { SHOWN = 24 };

typedef struct models_args {
    const char *engine;
    uint64_t context, sequences;
    const char *kv_type_k, *kv_type_v;
    bool all;
} models_args;

static const cli_option options[] = {
    {.names = "--engine",
     CLI_MEMBER(models_args, engine),
     .metavar = "NAME",
     .help = "llama.cpp or llama.cpp@VERSION (default: the newest known)"},
    {.names = "-c --ctx-size",
     CLI_MEMBER(models_args, context),
     .metavar = "N",
     .help = "tokens of context that must fit (default: 16384)"},
    {.names = "-np --parallel",
     CLI_MEMBER(models_args, sequences),
     .metavar = "N",
     .help = "conversations at a time (default: as the engine's server)"},
    {.names = "-ctk --cache-type-k",
     CLI_MEMBER(models_args, kv_type_k),
     .metavar = "TYPE",
     .help = "type of cached keys (default: f16)"},
    {.names = "-ctv --cache-type-v",
     CLI_MEMBER(models_args, kv_type_v),
     .metavar = "TYPE",
     .help = "type of cached values (default: f16)"},
    {.names = "-a --all", CLI_MEMBER(models_args, all), .help = "the whole list, not its head"},
};

static const cli_column columns[] = {
    {"model", "{name}", CLI_LEFT, CLI_FIXED},
    {"quantization", "{quantization}", CLI_LEFT, CLI_FIXED},
    {"size", "{tensor_bytes}", CLI_RIGHT, CLI_FIXED},
    {"verdict", "{verdict}[ {best?(best)}]", CLI_LEFT, CLI_FIXED},
    {"where", "{placement}[ ({flags})]", CLI_LEFT, CLI_NARROWS},
    {"context", "{max_context}", CLI_RIGHT, CLI_FIXED},
    {"tokens/s", "{decode_tokens_per_s}", CLI_RIGHT, CLI_FIXED},
    {"released", "{released}", CLI_LEFT, CLI_DROPS},
};

static void print_end(const cli_call *call, const plim_models *models, size_t shown)
{
    char text[512];
    if (call->operand_count)
        return;
    if (!models->models.count)
        (void)printf("none of the catalogue's models stays under the line here\n");
    if (shown < models->models.count)
        (void)printf("\n%zu more with --all\n", models->models.count - shown);
    if (!models->models.count)
        return;
    (void)snprintf(text, sizeof text, "best first: %s", models->order);
    (void)putchar('\n');
    cli_wrap(stdout, text, 0, 0, call->term.width);
}

static cli_exit print(const cli_call *call, const plim_models *models)
{
    const models_args *args = call->args;
    plim_items head = models->models;
    if (call->common.json) {
        char *text = NULL;
        plim_status status = plim_models_to_json(models, PLIM_JSON_PRETTY, &text, NULL);
        return cli_print_json(call, status, text);
    }
    if (!args->all && head.count > SHOWN)
        head.count = SHOWN;
    cli_table(call->term, 0, columns, CLI_COUNT(columns), &plim_record_ranked_model, &head);
    print_end(call, models, head.count);
    return CLI_OK;
}

static cli_exit run(cli_call *call)
{
    const models_args *args = call->args;
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    plim_machine *machine;
    plim_models *models = NULL;
    with.engine = args->engine;
    with.context = args->context;
    with.sequences = args->sequences;
    with.kv_type_k = args->kv_type_k;
    with.kv_type_v = args->kv_type_v;
    cli_exit exit = cli_look(call, NULL, NULL, &machine);
    if (exit != CLI_OK)
        return exit;
    plim_status status =
        plim_models_rank(call->context, machine, &with,
                         call->operand_count ? call->operands[0] : NULL, &error, &models);
    exit = status == PLIM_OK ? print(call, models) : cli_failed(call, status, &error);
    plim_models_free(models);
    plim_machine_free(machine);
    return exit;
}

const cli_body cli_body_models = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(models_args),
    .max_operands = 1,
    .run = run,
    .details =
        "Without MODEL: the models of the built-in catalogue that stay under the line, each in the "
        "best quantization that does, the best first; the last line says what best means. "
        "`context` is the largest that stays under the line, `tokens/s` an upper bound by the "
        "bytes that a token reads. With MODEL, a name of the catalogue: each of its quantizations.",
};
