#include "term.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_WIDTH 1000u

static unsigned columns_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    unsigned long n = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return n > 0 && n <= MAX_WIDTH && !*end ? (unsigned)n : 0;
}

static unsigned columns_of_terminal(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* By the name of the locale, as setlocale() would cost more than the whole detection. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && (!value || !*value); i++)
        value = getenv(names[i]);
    for (; value && *value; value++) {
        const char *p = value;
        if (toupper((unsigned char)p[0]) != 'U' || toupper((unsigned char)p[1]) != 'T' ||
            toupper((unsigned char)p[2]) != 'F')
            continue;
        p += 3;
        p += *p == '-';
        if (*p == '8')
            return true;
    }
    return false;
}

static bool wants_color(bool terminal)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

cli_term cli_term_of_stdout(cli_color color)
{
    bool terminal = isatty(STDOUT_FILENO);
    cli_term term = {columns_of_environment(), terminal && locale_is_utf8(), false};
    if (!term.width && terminal)
        term.width = columns_of_terminal();
    term.color = color == CLI_COLOR_ALWAYS || (color == CLI_COLOR_AUTO && wants_color(terminal));
    return term;
}
