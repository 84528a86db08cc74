/* Option tables and their parser. An option is one row; parsing, --help, the man page and the shell
 * completion are loops over the rows.
 *
 * Spellings are the engines' own: "-c 4096", "-c4096", "-ngl 99", "--ctx-size 4096" and
 * "--ctx-size=4096"; "--" ends the options. The last of several values counts, but for lists, which
 * collect. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_type {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char *: NULL where not given */
    CLI_UINT,   /* uint64_t */
    CLI_INT,    /* int64_t */
    CLI_REAL,   /* double */
    CLI_CHOICE, /* cli_choice: position in the row's choices */
    CLI_LIST,   /* cli_list: repeatable, and split at commas */
} cli_type;

typedef struct cli_choice {
    int index; /* -1 where neither given nor initial */
} cli_choice;

typedef struct cli_list {
    const char **items; /* NULL-terminated; NULL where not given */
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *names; /* all spellings by blanks, the usual one first: "-c --ctx-size" */
    cli_type type;
    size_t offset;       /* of the member in the struct that the table fills: CLI_MEMBER() */
    const char *metavar; /* what the help calls the value; NULL for a flag */
    const char *initial; /* the value where none is given, as text; NULL: zero, NULL or -1 */
    const char *choices; /* "on,true,1|off,false,0": by '|', further spellings by ',' */
    double min, max;     /* of a number; both 0: any */
    bool bare;           /* of a choice: the option without a value means the first one */
    const char *help;    /* one sentence without a full stop */
} cli_option;

/* .type and .offset of a row from the member alone, so that they cannot disagree. */
#define CLI_MEMBER(args, member)                                                                   \
    .type = _Generic(((args *)0)->member,                                                          \
        bool: CLI_FLAG,                                                                            \
        const char *: CLI_TEXT,                                                                    \
        uint64_t: CLI_UINT,                                                                        \
        int64_t: CLI_INT,                                                                          \
        double: CLI_REAL,                                                                          \
        cli_choice: CLI_CHOICE,                                                                    \
        cli_list: CLI_LIST),                                                                       \
    .offset = offsetof(args, member)

/* One table and the struct that it fills. */
typedef struct cli_target {
    const cli_option *options;
    size_t count;
    void *args;
} cli_target;

typedef struct cli_args {
    const cli_target *targets;
    size_t target_count;
    const char **operands; /* words that are no options */
    size_t operand_count;
    void *blocks;    /* memory of the operands and lists */
    char error[512]; /* what is wrong with the command line */
} cli_args;

/* Fills the targets from argv[0..argc). argv must live as long as the results. False: args->error
 * says why. Always followed by cli_args_free(). */
bool cli_args_parse(cli_args *args, const cli_target *targets, size_t target_count, int argc,
                    char *const *argv);
void cli_args_free(cli_args *args);

/* Copies spelling number i of "-c --ctx-size" (or, with '|' and ',', of a list of choices) into
 * buf. False past the last. */
bool cli_word_at(const char *words, char separator, size_t i, char *buf, size_t size);

/* The candidate that `word` was probably meant to be, or NULL; candidates end with NULL. */
const char *cli_nearest(const char *word, const char *const *candidates);

#endif
