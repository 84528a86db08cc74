/* plimsoll fit: does this model fit that machine? Options are llama.cpp's own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "best.h"
#include "check_text.h"
#include "cli.h"
#include "documents.h"
#include "fit_extras.h"
#include "fit_text.h"

enum { VERIFY_TIMEOUT_MS = 120000 }; /* it reads a model's header, and a slow disk */

typedef struct fit_args {
    const char *engine;
    uint64_t context, batch, ubatch, sequences, main_gpu;
    int64_t gpu_layers;
    const char *kv_type_k, *kv_type_v, *split_mode;
    cli_list tensor_split, overrides;
    cli_choice flash_attention;
    bool kv_unified, no_kv_unified, swa_full, no_kv_offload, no_op_offload, no_mmap, no_repack,
        cpu_moe;
    uint64_t cpu_moe_layers;
    int64_t latent_attention;
    bool verify, markdown, html;
    cli_choice load_mode;
    cli_list line;
    double http_timeout;
    cli_list fit_target;
    uint64_t fit_context;
    cli_list bandwidth;
    cli_fit_extras extras;
} fit_args;

static const cli_option options[] = {
    {.names = "--engine",
     CLI_MEMBER(fit_args, engine),
     .metavar = "NAME",
     .help = "llama.cpp, llama.cpp@VERSION or ik_llama.cpp (default: the newest llama.cpp known)"},
    {.names = "-c --ctx-size",
     CLI_MEMBER(fit_args, context),
     .metavar = "N",
     .help = "tokens of context (default: as trained)"},
    {.names = "-ngl --gpu-layers --n-gpu-layers",
     CLI_MEMBER(fit_args, gpu_layers),
     .metavar = "N",
     .initial = "-1",
     .help = "layers on accelerators (default: all)"},
    {.names = "-ts --tensor-split",
     CLI_MEMBER(fit_args, tensor_split),
     .metavar = "N,N,...",
     .help = "shares of the devices (default: by free memory)"},
    {.names = "-sm --split-mode",
     CLI_MEMBER(fit_args, split_mode),
     .metavar = "MODE",
     .help = "none, layer or row"},
    {.names = "-mg --main-gpu",
     CLI_MEMBER(fit_args, main_gpu),
     .metavar = "N",
     .help = "the one device of -sm none"},
    {.names = "-ot --override-tensor",
     CLI_MEMBER(fit_args, overrides),
     .metavar = "PATTERN=BUFFER,...",
     .help = "where tensors of these names lie: exps=CPU"},
    {.names = "-cmoe --cpu-moe", CLI_MEMBER(fit_args, cpu_moe), .help = "all experts on the host"},
    {.names = "-ncmoe --n-cpu-moe",
     CLI_MEMBER(fit_args, cpu_moe_layers),
     .metavar = "N",
     .max = 10000,
     .help = "experts of the first N layers on the host"},
    {.names = "-b --batch-size",
     CLI_MEMBER(fit_args, batch),
     .metavar = "N",
     .help = "tokens of a logical batch (default: 2048)"},
    {.names = "-ub --ubatch-size",
     CLI_MEMBER(fit_args, ubatch),
     .metavar = "N",
     .help = "tokens of a physical batch (default: 512)"},
    {.names = "-np --parallel",
     CLI_MEMBER(fit_args, sequences),
     .metavar = "N",
     .help = "conversations at a time (default: as the engine's server)"},
    {.names = "-ctk --cache-type-k",
     CLI_MEMBER(fit_args, kv_type_k),
     .metavar = "TYPE",
     .help = "type of cached keys (default: f16)"},
    {.names = "-ctv --cache-type-v",
     CLI_MEMBER(fit_args, kv_type_v),
     .metavar = "TYPE",
     .help = "type of cached values (default: f16)"},
    {.names = "-fa --flash-attn",
     CLI_MEMBER(fit_args, flash_attention),
     .metavar = "on|off|auto",
     .choices = "on,1,true,enabled|off,0,false,disabled|auto,-1",
     .bare = true,
     .help = "flash attention (default: auto)"},
    {.names = "-kvu --kv-unified",
     CLI_MEMBER(fit_args, kv_unified),
     .help = "all conversations share one cache"},
    {.names = "-no-kvu --no-kv-unified",
     CLI_MEMBER(fit_args, no_kv_unified),
     .help = "each conversation has a cache of its own"},
    {.names = "--swa-full",
     CLI_MEMBER(fit_args, swa_full),
     .help = "sliding layers keep the whole context"},
    {.names = "-nkvo --no-kv-offload",
     CLI_MEMBER(fit_args, no_kv_offload),
     .help = "the cache stays on the host"},
    {.names = "--no-op-offload",
     CLI_MEMBER(fit_args, no_op_offload),
     .help = "large operations of the host stay there"},
    {.names = "--no-mmap", CLI_MEMBER(fit_args, no_mmap), .help = "read the file, do not map it"},
    {.names = "-lm --load-mode",
     CLI_MEMBER(fit_args, load_mode),
     .metavar = "MODE",
     .choices = "auto|none|mmap|mlock|mmap+mlock|dio",
     .initial = "auto",
     .help = "the same as newer builds say it: none, dio and mlock do not map"},
    {.names = "-nr --no-repack",
     CLI_MEMBER(fit_args, no_repack),
     .help = "the host's weights stay as the file has them"},
    {.names = "-mla --mla-use",
     CLI_MEMBER(fit_args, latent_attention),
     .metavar = "0..3",
     .initial = "-1",
     .help = "what ik_llama.cpp caches of latent attention (default: 3)"},
    {.names = "--line",
     CLI_MEMBER(fit_args, line),
     .metavar = "[PASSED,]WARNING",
     .help = "the lines, as parts of the budget (default: 0.70,0.85)"},
    {.names = "--verify",
     CLI_MEMBER(fit_args, verify),
     .help = "ask llama-fit-params (of llama.cpp) too, and compare"},
    {.names = "--markdown", CLI_MEMBER(fit_args, markdown), .help = "answer in Markdown"},
    {.names = "--html", CLI_MEMBER(fit_args, html), .help = "answer as one HTML page"},
    CLI_FIT_EXTRA_OPTIONS(fit_args),
    CLI_HTTP_OPTION(fit_args),
    {.names = "-fitt --fit-target",
     CLI_MEMBER(fit_args, fit_target),
     .metavar = "MIB,...",
     .help = "what the engine's own --fit leaves free on each device (default: 1024)"},
    {.names = "-fitc --fit-ctx",
     CLI_MEMBER(fit_args, fit_context),
     .metavar = "N",
     .help = "the least context that it may choose (default: 4096)"},
    {.names = "--bandwidth",
     CLI_MEMBER(fit_args, bandwidth),
     .metavar = "host=GB/S",
     .help = "how fast the host reads its memory, as measured: for the speed"},
};

/* Numbers of a list; llama.cpp takes "3/1" for "3,1". Freed by the caller. */
static double *numbers_of(const cli_list *list, size_t *count)
{
    size_t room = list->count;
    for (size_t i = 0; i < list->count; i++)
        for (const char *c = list->items[i]; *c; c++)
            room += *c == '/';
    double *numbers = calloc(room + 1, sizeof *numbers);
    *count = 0;
    for (size_t i = 0; numbers && i < list->count; i++) {
        const char *at = list->items[i];
        do {
            char *end;
            numbers[(*count)++] = strtod(at, &end);
            if (end == at || (*end && *end != '/')) {
                free(numbers);
                *count = 0;
                return NULL;
            }
            at = *end ? end + 1 : NULL;
        } while (at);
    }
    return numbers;
}

/* -ot first, then what -ncmoe and -cmoe stand for; a NULL-terminated array in one block. */
static const char **overrides_of(const fit_args *args)
{
    enum { ROOM = 80 };
    size_t extra = args->cpu_moe ? 1 : (size_t)args->cpu_moe_layers, count = args->overrides.count;
    size_t table = (count + extra + 1) * sizeof(char *);
    char *block = calloc(1, table + extra * ROOM);
    const char **list = (const char **)(void *)block;
    for (size_t i = 0; block && i < count; i++)
        list[i] = args->overrides.items[i];
    for (size_t i = 0; block && i < extra; i++) {
        char *text = block + table + i * ROOM;
        if (args->cpu_moe)
            (void)snprintf(text, ROOM, "\\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU");
        else
            (void)snprintf(text, ROOM, "blk\\.%zu\\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU", i);
        list[count + i] = text;
    }
    return list;
}

static cli_exit set_lines(const cli_call *call, const cli_list *line, plim_fit_options *to)
{
    size_t count;
    if (line->count == 0)
        return CLI_OK;
    double *numbers = numbers_of(line, &count);
    bool good = numbers && (count == 1 || count == 2);
    for (size_t i = 0; good && i < count; i++)
        good = numbers[i] > 0 && numbers[i] <= 1;
    if (good) {
        to->line_warning = numbers[count - 1];
        to->line_passed = count == 2 ? numbers[0] : numbers[0] < 0.70 ? numbers[0] : 0.70;
    }
    free(numbers);
    return good
               ? CLI_OK
               : cli_error(call, CLI_USAGE, "--line: one or two parts of the budget, such as 0.85");
}

/* "host=38.4". */
static bool set_bandwidth(const cli_list *list, plim_fit_options *to)
{
    static const char host[] = "host=";
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i];
        char *end;
        if (strncmp(text, host, sizeof host - 1) != 0)
            return false;
        text += sizeof host - 1;
        double gigabytes = strtod(text, &end);
        if (end == text || *end || !(gigabytes > 0 && gigabytes < 1e6))
            return false;
        to->host_bandwidth = gigabytes * 1e9;
    }
    return true;
}

/* --fit-target; freed by the caller. */
static uint64_t *targets_of(const cli_list *list, size_t *count)
{
    double *numbers = numbers_of(list, count);
    uint64_t *targets = numbers ? calloc(*count + 1, sizeof *targets) : NULL;
    for (size_t i = 0; targets && i < *count; i++) {
        if (!(numbers[i] >= 0 && numbers[i] < 4294967296.0)) {
            free(targets);
            targets = NULL;
        } else {
            targets[i] = (uint64_t)numbers[i];
        }
    }
    free(numbers);
    return targets;
}

static void print_words(const cli_call *call, const plim_fit_options *with, const plim_fit *fit)
{
    const fit_args *args = call->args;
    const double marks[] = {with->line_passed > 0 ? with->line_passed : 0.70,
                            with->line_warning > 0 ? with->line_warning : 0.85};
    if (args->html) {
        cli_fit_html(fit, marks, call->look.explain);
    } else if (args->markdown) {
        cli_fit_markdown(fit, marks, call->look.explain);
    } else {
        cli_fit_text(fit, marks, call->term, call->look.explain);
        if (PLIM_KNOWN(fit, fit, verify)) {
            (void)printf(
                "\nwhat llama-fit-params says on this machine (log), and plimsoll of it\n");
            cli_check_terms(call->term, 2, fit->verify);
        }
    }
}

static cli_exit print(cli_call *call, const plim_fit_options *with, const plim_fit *fit)
{
    if (call->common.json) {
        char *text = NULL;
        plim_status status = plim_fit_to_json(fit, PLIM_JSON_PRETTY, &text, NULL);
        cli_exit printed = cli_print_json(call, status, text);
        if (printed != CLI_OK)
            return printed;
    } else {
        print_words(call, with, fit);
    }
    if (strcmp(fit->verdict, "failed") == 0)
        return CLI_NO;
    return strcmp(fit->verdict, "unknown") == 0 ? CLI_INPUT : CLI_OK;
}

/* Prints the fit and, where it was asked, the engine's own answer beside it. */
static cli_exit print_verified(cli_call *call, const plim_fit_options *with,
                               const plim_model *model, const plim_fit *fit)
{
    const fit_args *args = call->args;
    plim_error error = PLIM_ERROR_INIT;
    plim_check *check;
    if (!args->verify)
        return print(call, with, fit);
    plim_status status = plim_verify_fit(call->context, call->operands[0], model, fit, with,
                                         VERIFY_TIMEOUT_MS, &error, &check);
    if (status != PLIM_OK)
        return cli_failed(call, status, &error);
    plim_fit verified = *fit;
    CLI_SET(fit, &verified, verify, check);
    cli_exit exit = print(call, with, &verified);
    if (exit == CLI_OK && check->differing)
        exit = CLI_NO;
    plim_check_free(check);
    return exit;
}

static cli_exit judge(cli_call *call, const plim_fit_options *with)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine = NULL;
    plim_model *model = NULL;
    plim_fit *fit = NULL;
    plim_status status = PLIM_OK;
    cli_exit exit = cli_open_model(call, call->operands[0], &model);
    if (exit != CLI_OK)
        return exit;
    exit = cli_look(call, NULL, NULL, &machine);
    if (exit == CLI_OK && PLIM_KNOWN(model, model, catalogue))
        exit = cli_take_best(call, machine, with, &model);
    if (exit == CLI_OK)
        status = plim_fit_model(call->context, machine, model, with, &error, &fit);
    if (status != PLIM_OK)
        exit = cli_failed(call, status, &error);
    else if (exit == CLI_OK)
        exit = print_verified(call, with, model, fit);
    plim_fit_free(fit);
    plim_machine_free(machine);
    plim_model_free(model);
    return exit;
}

static plim_choice choice_of(cli_choice choice)
{
    return choice.index == 0 ? PLIM_ON : choice.index == 1 ? PLIM_OFF : PLIM_AUTO;
}

/* auto, mmap, mmap+mlock */
static bool maps(cli_choice mode)
{
    return mode.index == 0 || mode.index == 2 || mode.index == 4;
}

static cli_exit run(cli_call *call)
{
    const fit_args *args = call->args;
    plim_fit_options with = PLIM_FIT_OPTIONS_INIT;
    with.engine = args->engine;
    with.context = args->context;
    with.batch = args->batch;
    with.ubatch = args->ubatch;
    with.sequences = args->sequences;
    with.gpu_layers = args->gpu_layers;
    with.kv_type_k = args->kv_type_k;
    with.kv_type_v = args->kv_type_v;
    with.flash_attention = choice_of(args->flash_attention);
    with.kv_unified = args->no_kv_unified ? PLIM_OFF : args->kv_unified ? PLIM_ON : PLIM_AUTO;
    with.swa_full = args->swa_full;
    with.no_kv_offload = args->no_kv_offload;
    with.no_op_offload = args->no_op_offload;
    with.no_mmap = args->no_mmap || !maps(args->load_mode);
    with.no_repack = args->no_repack;
    with.split_mode = args->split_mode;
    with.main_gpu = args->main_gpu;
    cli_fit_files files = {NULL, NULL, NULL, NULL};
    call->http_timeout = args->http_timeout;
    with.latent_attention = args->latent_attention;
    if (call->common.json + args->markdown + args->html > 1)
        return cli_error(call, CLI_USAGE, "--json, --markdown and --html: one at a time");
    cli_exit exit = set_lines(call, &args->line, &with);
    if (exit != CLI_OK)
        return exit;
    double *split = numbers_of(&args->tensor_split, &with.tensor_split_count);
    const char **overrides = overrides_of(args);
    uint64_t *targets = targets_of(&args->fit_target, &with.fit_target_count);
    with.fit_target = targets;
    with.fit_context = args->fit_context;
    with.tensor_split = split;
    with.overrides = overrides;
    if (!overrides)
        exit = cli_error(call, CLI_INTERNAL, "out of memory");
    else if (!split)
        exit = cli_error(call, CLI_USAGE, "-ts: not numbers");
    else if (!targets)
        exit = cli_error(call, CLI_USAGE, "--fit-target: not numbers of MiB");
    else if (!set_bandwidth(&args->bandwidth, &with))
        exit = cli_error(call, CLI_USAGE, "--bandwidth: such as host=38.4");
    else
        exit = cli_fit_extras_open(call, &args->extras, &files, &with);
    if (exit == CLI_OK)
        exit = judge(call, &with);
    cli_fit_extras_close(&files);
    free(split);
    free(targets);
    free((void *)overrides);
    return exit;
}

const cli_body cli_body_fit = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(fit_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
    .details =
        "The verdict compares what the engine would allocate on each memory with what is "
        "free there, less a buffer for the system: up to 70 % of it passes, up to 85 % is "
        "a warning, more fails. MODEL is what `plimsoll model` takes: a file, a URL, or a name of "
        "the built-in catalogue, such as qwen3-30b-a3b:q4_k_m.",
};
