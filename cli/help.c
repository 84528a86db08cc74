#include "help.h"

#include <string.h>

#include "text.h"

enum { OPTION_COLUMN = 28, MAX_HELP_WIDTH = 100 };

static size_t help_width(cli_term term)
{
    return !term.width || term.width > MAX_HELP_WIDTH ? MAX_HELP_WIDTH : term.width;
}

/* "-c, --ctx-size N" */
static void spell(const cli_option *option, char *buf, size_t size)
{
    char name[64];
    size_t n = 0;
    for (size_t i = 0; n < size && cli_word_at(option->names, ' ', i, name, sizeof name); i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "", name);
    if (option->metavar && n < size)
        (void)snprintf(buf + n, size - n, " %s", option->metavar);
}

/* The help of an option with what else its row says. */
static void explain(const cli_option *option, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s", option->help);
    if (option->initial && option->type != CLI_CHOICE && n > 0 && (size_t)n < size)
        (void)snprintf(buf + n, size - (size_t)n, " (default: %s)", option->initial);
}

/* ---- --help ---------------------------------------------------------------------------------- */

static void print_item(const char *left, size_t column, const char *right, size_t width)
{
    size_t n = cli_width(left);
    (void)printf("  %s", left);
    if (n + 4 > column) {
        (void)putchar('\n');
        n = 0;
        cli_repeat(stdout, " ", column);
    } else {
        cli_repeat(stdout, " ", column - n - 2);
    }
    cli_wrap(stdout, right, column, column, width);
}

void cli_help_command(const cli_command *command, cli_term term)
{
    cli_target targets[3];
    char left[256], right[512];
    (void)printf("usage: plimsoll %s%s%s [OPTION...]\n\n", command->name,
                 *command->operands ? " " : "", command->operands);
    cli_wrap(stdout, command->summary, 0, 0, help_width(term));
    size_t n = cli_targets(command, NULL, NULL, targets);
    for (size_t t = 0; t < n; t++) {
        (void)printf("\n%s:\n", cli_target_title(&targets[t]));
        for (size_t i = 0; i < targets[t].count; i++) {
            spell(&targets[t].options[i], left, sizeof left);
            explain(&targets[t].options[i], right, sizeof right);
            print_item(left, OPTION_COLUMN, right, help_width(term));
        }
    }
    const char *details = command->body->details;
    while (*details) {
        char paragraph[2048];
        size_t length = strcspn(details, "\n");
        (void)snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, details);
        (void)putchar('\n');
        cli_wrap(stdout, paragraph, 0, 0, help_width(term));
        details += length + (details[length] == '\n');
    }
}

static void print_exit_statuses(void (*print)(int value, const char *text))
{
#define X(name, value, text) print(value, text);
    CLI_EXIT_MAP(X)
#undef X
}

static void help_exit_status(int value, const char *text)
{
    (void)printf("  %d  %s\n", value, text);
}

void cli_help_all(cli_term term)
{
    char left[256];
    const char *group = "";
    (void)puts("usage: plimsoll [COMMAND] [OPTION...]\n");
    (void)puts(
        "How large an AI model may this machine carry? Without a command, shows the machine.");
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        if (strcmp(group, command->group) != 0)
            (void)printf("\n%s:\n", group = command->group);
        (void)snprintf(left, sizeof left, "%s %s", command->name, command->operands);
        print_item(left, 20, command->summary, help_width(term));
    }
    (void)puts(
        "\n'plimsoll COMMAND --help' lists the options of a command; every one takes --json.");
    (void)puts("\nExit status:");
    print_exit_statuses(help_exit_status);
}

/* ---- manual pages: mdoc(7) ------------------------------------------------------------------- */

/* Text of a macro line or paragraph: a leading '.' or '\'' would be a request, '\' an escape, and
 * '-' a hyphen where a minus was meant. */
static void roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        (void)fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else if (*text == '\n')
            (void)fputs("\n.Pp\n", stdout);
        else
            (void)putchar(*text);
    }
}

static void roff_line(const char *text)
{
    roff(text);
    (void)putchar('\n');
}

static void man_options(const cli_command *command)
{
    cli_target targets[3];
    char name[64], help[512];
    size_t n = cli_targets(command, NULL, NULL, targets);
    for (size_t t = 0; t < n; t++) {
        (void)printf(".Ss %s\n.Bl -tag -width Ds\n", cli_target_title(&targets[t]));
        for (size_t i = 0; i < targets[t].count; i++) {
            const cli_option *option = &targets[t].options[i];
            (void)fputs(".It", stdout);
            for (size_t k = 0; cli_word_at(option->names, ' ', k, name, sizeof name); k++) {
                (void)fputs(k ? " , Fl " : " Fl ", stdout);
                roff(name + 1);
            }
            if (option->metavar)
                (void)printf(" Ar %s", option->metavar);
            (void)putchar('\n');
            explain(option, help, sizeof help);
            (void)printf("%s", "");
            roff(help);
            (void)puts(".");
        }
        (void)puts(".El");
    }
}

static void man_head(const char *title, const char *name, const char *summary)
{
    /* No date and no version: the page is committed, and compared with what the program says. */
    (void)printf(".Dd\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", title, name);
    roff_line(summary);
}

static void man_exit_status(int value, const char *text)
{
    (void)printf(".It %d\n", value);
    roff_line(text);
}

static void man_exit(void)
{
    (void)puts(".Sh EXIT STATUS\n.Bl -tag -width Ds");
    print_exit_statuses(man_exit_status);
    (void)puts(".El");
}

static void upper(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++)
        out[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
    out[i] = '\0';
}

void cli_man_command(const cli_command *command)
{
    char name[64], title[64];
    (void)snprintf(name, sizeof name, "plimsoll-%s", command->name);
    upper(name, title, sizeof title);
    man_head(title, name, command->summary);
    (void)printf(".Sh SYNOPSIS\n.Nm plimsoll %s\n", command->name);
    if (*command->operands)
        (void)printf(".Ar %s\n", command->operands);
    (void)puts(".Op Ar OPTION ...\n.Sh DESCRIPTION");
    roff_line(*command->body->details ? command->body->details : command->summary);
    (void)puts(".Sh OPTIONS");
    man_options(command);
    man_exit();
    (void)puts(".Sh SEE ALSO\n.Xr plimsoll 1");
}

static void man_commands(void)
{
    const char *group = "";
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        if (strcmp(group, command->group) != 0)
            (void)printf("%s.Ss %s\n.Bl -tag -width Ds\n", *group ? ".El\n" : "", command->group);
        group = command->group;
        (void)printf(".It Nm plimsoll %s%s%s\n", command->name, *command->operands ? " Ar " : "",
                     command->operands);
        roff_line(command->summary);
    }
    (void)puts(".El");
}

void cli_man_all(void)
{
    man_head("PLIMSOLL", "plimsoll", "how large an AI model may this machine carry");
    (void)puts(".Sh SYNOPSIS\n.Nm\n.Op Ar COMMAND\n.Op Ar OPTION ...\n.Sh DESCRIPTION");
    roff_line("Finds every accelerator of a machine, measures the memory that is really available, "
              "reads a model's own header, and says whether the model fits.\n"
              "Without a command the machine is shown. Every command takes --json.");
    (void)puts(".Sh COMMANDS");
    man_commands();
    man_exit();
    (void)puts(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\nno colour, where it is set"
               "\n.It Ev COLUMNS\nwidth of the output\n.El");
    (void)puts(".Sh SEE ALSO");
    for (size_t i = 0; cli_command_at(i); i++)
        (void)printf(".Xr plimsoll-%s 1 ,\n", cli_command_at(i)->name);
    (void)puts(".Xr libplimsoll 3 ,\n.Xr plimsoll-machine 5");
}
