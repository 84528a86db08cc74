/* What the terminal behind stdout can show. The only code that asks the system about it. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>

typedef struct cli_term {
    unsigned width; /* columns; 0: no limit (a pipe, a file) */
    bool utf8;      /* may lines, bars and dashes be UTF-8? */
    bool color;
} cli_term;

typedef enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;

/* A terminal has its width, UTF-8 by the locale's name, and colour unless NO_COLOR is set or TERM
 * is dumb. A pipe or file has none of it; COLUMNS sets a width for either. */
cli_term cli_term_of_stdout(cli_color color);

#endif
