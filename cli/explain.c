#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "paint.h"
#include "text.h"
#include "walk.h"

enum { MAX_VALUE = 4096, MAX_SOURCE_WIDTH = 24, MAX_PATH_WIDTH = 60 };

struct widths {
    cli_term term;
    size_t path, source;
};

static const char *source_of(const cli_leaf *leaf)
{
    return leaf->source ? leaf->source : "";
}

static bool measure(void *user, const cli_leaf *leaf)
{
    struct widths *widths = user;
    size_t path = cli_width(leaf->path), source = cli_width(source_of(leaf));
    if (path > widths->path && path <= MAX_PATH_WIDTH)
        widths->path = path;
    if (source > widths->source && source <= MAX_SOURCE_WIDTH)
        widths->source = source;
    return true;
}

static void pad(const char *text, size_t width)
{
    size_t n = cli_width(text);
    (void)printf("%s  ", text);
    cli_repeat(stdout, " ", n < width ? width - n : 0);
}

static bool print(void *user, const cli_leaf *leaf)
{
    const struct widths *widths = user;
    char value[MAX_VALUE];
    size_t indent = widths->path + widths->source + 4;
    if (!plim_field_text(leaf->field, leaf->record, value, sizeof value))
        (void)snprintf(value, sizeof value, "%s", widths->term.utf8 ? "\u2013" : "-");
    pad(leaf->path, widths->path);
    cli_paint(widths->term, CLI_FAINT);
    pad(source_of(leaf), widths->source);
    cli_paint(widths->term, CLI_PLAIN);
    cli_wrap(stdout, value, indent, indent, widths->term.width);
    return true;
}

void cli_explain(cli_term term, const plim_record *record, const void *r)
{
    struct widths widths = {term, strlen("field"), strlen("source")};
    (void)cli_walk(record, r, measure, &widths);
    cli_paint(term, CLI_BOLD);
    pad("field", widths.path);
    pad("source", widths.source);
    (void)puts("value");
    cli_paint(term, CLI_PLAIN);
    (void)cli_walk(record, r, print, &widths);
}
