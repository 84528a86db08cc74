/* The command line's own contract: what a command is, what it is given, how it answers.
 *
 * A command is a row of commands.def and a `const cli_body cli_body_NAME` in cmd_NAME.c: the table
 * of its options and run(). run() gets parsed options and operands, prints its result on stdout and
 * messages with cli_error(), and returns an exit status; everything is freed when it returns. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <plimsoll/plimsoll.h>
#include <stdio.h>

#include "args.h"
#include "term.h"

/* Exit statuses, one row each: name, value, meaning. Values are part of the interface. */
#define CLI_EXIT_MAP(X)                                                                            \
    X(OK, 0, "done; the model fits")                                                               \
    X(NO, 1, "the model does not fit, or the difference that was asked about exists")              \
    X(USAGE, 2, "the command line is wrong")                                                       \
    X(INPUT, 3, "an input could not be read, or does not say enough for a verdict")                \
    X(INTERNAL, 4, "out of memory, or the output could not be written")

typedef enum cli_exit {
#define X(name, value, text) CLI_##name = (value),
    CLI_EXIT_MAP(X)
#undef X
} cli_exit;

/* Options of every command. */
struct cli_common {
    bool help, json;
    cli_choice color;
};

/* Options of the commands that look at a machine. */
struct cli_look {
    const char *machine, *root, *on;
    cli_list only, skip;
    double timeout;
    bool explain;
    bool wake;
};

typedef struct cli_call {
    const struct cli_command *command;
    struct cli_common common;
    struct cli_look look;
    void *args; /* the struct that the command's own table fills */
    const char *const *operands;
    size_t operand_count;
    double http_timeout; /* seconds; set by commands that read models */
    plimsoll *context;
    cli_term term; /* of stdout */
} cli_call;

typedef struct cli_body {
    const cli_option *options;
    size_t option_count;
    size_t args_size; /* of the struct behind the options */
    size_t min_operands, max_operands;
    cli_exit (*run)(cli_call *call);
    const char *details; /* paragraphs of the manual, "" for none */
} cli_body;
#define CLI_COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct cli_command {
    const char *name;
    const char *group;    /* heading in the list of commands */
    const char *operands; /* "MODEL", "A B", "[FILE]" */
    bool looks;           /* takes the options of struct cli_look */
    const char *summary;
    const cli_body *body;
} cli_command;

/* Command number i in the order of commands.def, or NULL past the last. */
const cli_command *cli_command_at(size_t i);
const cli_command *cli_command_find(const char *name);
/* Targets of a command's options; returns how many (at most 3). call may be NULL: no place to
 * write. */
size_t cli_targets(const cli_command *command, cli_call *call, void *args, cli_target out[3]);
/* Heading of target number i: "Options", "Where to look", "Common options". */
const char *cli_target_title(const cli_target *target);

/* "plimsoll COMMAND: message" on stderr. Returns status, so that it ends a command. */
cli_exit cli_error(const cli_call *call, cli_exit status, const char *format, ...)
    PLIM_PRINTF(3, 4);
/* The same from a library call that failed; INPUT, USAGE or INTERNAL by the library's status. */
cli_exit cli_failed(const cli_call *call, plim_status status, const plim_error *error);

/* The machine that the options name: this one, --machine, --root or --on. `extra` (may be NULL)
 * sets options that no command-line option has. CLI_OK: *out is freed with plim_machine_free(). */
cli_exit cli_look(const cli_call *call, const plim_detect_options *extra, char **recording,
                  plim_machine **out);
/* Reads a machine from a file: a .machine recording or a plimsoll.machine/1 document (begins with
 * '{'). */
cli_exit cli_machine_of_file(const cli_call *call, const char *path,
                             const plim_detect_options *options, char **recording,
                             plim_machine **out);
/* The model at a path, a URL of http or https, or hf:OWNER/REPO[...]. CLI_OK: *out is freed with
 * plim_model_free(). */
cli_exit cli_open_model(const cli_call *call, const char *from, plim_model **out);
/* The option of commands that read models; `args` has a double http_timeout. */
#define CLI_HTTP_OPTION(args)                                                                      \
    {                                                                                              \
        .names = "--http-timeout", CLI_MEMBER(args, http_timeout), .metavar = "SECONDS",           \
        .initial = "30", .min = 1, .max = 3600,                                                    \
        .help = "how long the server of a URL may say nothing (default: 30)"                       \
    }
/* A whole file into memory (freed by the caller with free()). */
cli_exit cli_read_file(const cli_call *call, const char *path, size_t max, char **text,
                       size_t *length);

/* Prints text that a plim_*_to_json() made, with a line end, and frees it. */
cli_exit cli_print_json(const cli_call *call, plim_status status, char *text);
/* Prints any record as JSON. */
cli_exit cli_print_record(const cli_call *call, const plim_record *record, const void *r);

#endif
