/* plimsoll bench: how fast this host moves its memory. */
#include "cli.h"

typedef struct bench_args {
    uint64_t threads, megabytes;
    double seconds;
} bench_args;

static const cli_option options[] = {
    {.names = "--threads",
     CLI_MEMBER(bench_args, threads),
     .metavar = "N",
     .max = 4096,
     .help = "threads at once (default: the processors that may be used)"},
    {.names = "--size",
     CLI_MEMBER(bench_args, megabytes),
     .metavar = "MIB",
     .max = 1 << 20,
     .help = "memory to move (default: four times the last caches, at least 256)"},
    {.names = "--seconds",
     CLI_MEMBER(bench_args, seconds),
     .metavar = "S",
     .help = "how long to measure (default: 1.5)"},
};

static void print_text(const plim_bench *bench)
{
    char size[32];
    const plim_bench_stream *read = NULL;
    (void)printf("%-10s %s\n", "processor", PLIM_KNOWN(bench, bench, cpu) ? bench->cpu : "-");
    (void)printf("%-10s %llu thread%s over %s\n", "by", (unsigned long long)bench->threads,
                 bench->threads == 1 ? "" : "s",
                 plim_bytes_text(bench->array_bytes, size, sizeof size));
    for (size_t i = 0; i < bench->streams.count; i++) {
        const plim_bench_stream *s = bench->streams.items[i];
        read = read ? read : s;
        (void)printf("%-10s %.1f GB/s\n", s->what, s->bytes_per_s / 1e9);
    }
    if (read)
        (void)printf("%-10s plimsoll fit MODEL --bandwidth host=%.1f\n", "use",
                     read->bytes_per_s / 1e9);
}

static cli_exit print(const cli_call *call, const plim_bench *bench)
{
    if (call->common.json) {
        char *text = NULL;
        plim_status status = plim_bench_to_json(bench, PLIM_JSON_PRETTY, &text, NULL);
        return cli_print_json(call, status, text);
    }
    print_text(bench);
    return CLI_OK;
}

static cli_exit run(cli_call *call)
{
    const bench_args *args = call->args;
    plim_detect_options look = PLIM_DETECT_OPTIONS_INIT;
    plim_bench_options with = PLIM_BENCH_OPTIONS_INIT;
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine = NULL;
    plim_bench *bench = NULL;
    with.threads = args->threads;
    with.bytes = args->megabytes << 20;
    with.seconds = args->seconds;
    plim_status status = plim_machine_detect(call->context, &look, &error, NULL, &machine);
    if (status == PLIM_OK)
        status = plim_bench_host(call->context, machine, &with, &error, &bench);
    cli_exit exit = status == PLIM_OK ? print(call, bench) : cli_failed(call, status, &error);
    plim_bench_free(bench);
    plim_machine_free(machine);
    return exit;
}

const cli_body cli_body_bench = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(bench_args),
    .run = run,
    .details =
        "Reads, copies and adds arrays that no cache holds, with all processors at once, like "
        "STREAM; the best pass counts. A token that a model without accelerator decodes reads "
        "all its weights: the first figure bounds it.",
};
