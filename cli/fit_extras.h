/* What `plimsoll fit` is told of the files beside the model: drafts, projectors, adapters. */
#ifndef CLI_FIT_EXTRAS_H
#define CLI_FIT_EXTRAS_H

#include "cli.h"

typedef struct cli_fit_extras {
    const char *draft, *draft_devices, *draft_type_k, *draft_type_v, *projector;
    int64_t draft_gpu_layers, cache_ram;
    uint64_t draft_tokens;
    bool no_projector_offload;
    cli_list speculation, adapters, adapters_scaled, controls, controls_scaled;
} cli_fit_extras;

/* Rows of a table whose struct has a member `extras`. */
#define CLI_EXTRA(args, part, spelling, value, text)                                               \
    {                                                                                              \
        .names = spelling, CLI_MEMBER(args, extras.part), .metavar = value, .help = text           \
    }
#define CLI_FIT_EXTRA_OPTIONS(args)                                                                \
    CLI_EXTRA(args, projector, "-mm --mmproj", "FILE", "encoder of images or sound, loaded too"),  \
        CLI_EXTRA(args, no_projector_offload, "--no-mmproj-offload", NULL,                         \
                  "the encoder stays on the host"),                                                \
        CLI_EXTRA(args, draft, "-md --model-draft --spec-draft-model", "FILE",                     \
                  "model that drafts tokens, loaded too"),                                         \
        CLI_EXTRA(args, speculation, "--spec-type", "TYPE,...",                                    \
                  "draft-mtp: the model's own next-token heads draft"),                            \
        CLI_EXTRA(args, draft_tokens, "--spec-draft-n-max", "N",                                   \
                  "tokens drafted at a time (default: 3)"),                                        \
        {.names = "-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl",                \
         CLI_MEMBER(args, extras.draft_gpu_layers),                                                \
         .metavar = "N",                                                                           \
         .initial = "-1",                                                                          \
         .help = "layers of the draft on accelerators (default: all)"},                            \
        CLI_EXTRA(args, draft_devices, "-devd --device-draft --spec-draft-device", "DEV,...",      \
                  "devices of the draft: CUDA1, none (default: all)"),                             \
        CLI_EXTRA(args, draft_type_k, "-ctkd --cache-type-k-draft --spec-draft-type-k", "TYPE",    \
                  "type of the draft's cached keys (default: f16)"),                               \
        CLI_EXTRA(args, draft_type_v, "-ctvd --cache-type-v-draft --spec-draft-type-v", "TYPE",    \
                  "type of the draft's cached values (default: f16)"),                             \
        CLI_EXTRA(args, adapters, "--lora", "FILE,...", "LoRA adapters"),                          \
        CLI_EXTRA(args, adapters_scaled, "--lora-scaled", "FILE:SCALE,...",                        \
                  "the same, with a scale each"),                                                  \
        CLI_EXTRA(args, controls, "--control-vector", "FILE,...", "control vectors"),              \
        CLI_EXTRA(args, controls_scaled, "--control-vector-scaled", "FILE:SCALE,...",              \
                  "the same, with a scale each"),                                                  \
    {                                                                                              \
        .names = "-cram --cache-ram", CLI_MEMBER(args, extras.cache_ram), .metavar = "MIB",        \
        .initial = "-2",                                                                           \
        .help = "host memory of the server's prompt cache, counted when given "                    \
                "(its default of 8192 is named only)"                                              \
    }

/* The files behind the options, opened; freed with cli_fit_extras_close(), also after a failure. */
typedef struct cli_fit_files {
    plim_model *draft, *projector;
    plim_model **adapters, **controls; /* NULL-terminated */
} cli_fit_files;
cli_exit cli_fit_extras_open(const cli_call *call, const cli_fit_extras *extras,
                             cli_fit_files *files, plim_fit_options *with);
void cli_fit_extras_close(cli_fit_files *files);

#endif
