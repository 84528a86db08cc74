/* Help, manual page and completion: loops over the tables of commands and options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli.h"

void cli_help_command(const cli_command *command, cli_term term); /* plimsoll COMMAND --help */
void cli_help_all(cli_term term);                                 /* plimsoll --help */
void cli_man_command(const cli_command *command);                 /* plimsoll-COMMAND(1), mdoc */
void cli_man_all(void);                                           /* plimsoll(1), mdoc */
void cli_completion_bash(void);

#endif
