/* The shell's completion, from the tables. The script is committed: packages are built where the
 * program cannot run. */
#include "help.h"

static void print_words(const cli_command *command)
{
    cli_target targets[3];
    char name[64];
    size_t n = cli_targets(command, NULL, NULL, targets);
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < targets[t].count; i++)
            for (size_t k = 0; cli_word_at(targets[t].options[i].names, ' ', k, name, sizeof name);
                 k++)
                (void)printf(" %s", name);
}

/* What may follow an option that has choices. */
static void print_choices(const cli_command *command)
{
    cli_target targets[3];
    char name[64], choice[256];
    size_t n = cli_targets(command, NULL, NULL, targets);
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < targets[t].count; i++) {
            const cli_option *option = &targets[t].options[i];
            if (!option->choices)
                continue;
            (void)fputs("        ", stdout);
            for (size_t k = 0; cli_word_at(option->names, ' ', k, name, sizeof name); k++)
                (void)printf("%s%s:%s", k ? "|" : "", command->name, name);
            (void)fputs(") words=\"", stdout);
            for (size_t k = 0; cli_word_at(option->choices, '|', k, choice, sizeof choice); k++) {
                for (char *p = choice; *p; p++)
                    *p = *p == ',' ? '\0' : *p;
                (void)printf("%s%s", k ? " " : "", choice);
            }
            (void)puts("\" ;;");
        }
}

void cli_completion_bash(void)
{
    (void)puts("# bash completion of plimsoll, made by: plimsoll help --completion bash\n"
               "_plimsoll() {\n"
               "    local command=show words i\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
               "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }\n"
               "        break\n"
               "    done\n"
               "    case $command:$prev in");
    for (size_t i = 0; cli_command_at(i); i++)
        print_choices(cli_command_at(i));
    (void)puts("        *) case $command in");
    for (size_t i = 0; cli_command_at(i); i++) {
        (void)printf("        %s) words=\"", cli_command_at(i)->name);
        print_words(cli_command_at(i));
        (void)puts("\" ;;");
    }
    (void)puts("        esac ;;\n    esac");
    (void)fputs("    ((COMP_CWORD == 1)) && words+=\"", stdout);
    for (size_t i = 0; cli_command_at(i); i++)
        (void)printf(" %s", cli_command_at(i)->name);
    (void)puts(
        "\"\n"
        "    [[ $command == help ]] && words+=\" $(_plimsoll_commands)\"\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "    [[ $cur == -* || ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "}");
    (void)fputs("_plimsoll_commands() {\n    echo \"", stdout);
    for (size_t i = 0; cli_command_at(i); i++)
        (void)printf("%s%s", i ? " " : "", cli_command_at(i)->name);
    (void)puts("\"\n}\ncomplete -o filenames -F _plimsoll plimsoll");
}
