#include "markup.h"

#include <stdio.h>
#include <string.h>

#include "fill.h"

enum { MAX_CELL = 2048 };

static bool is_shown(const cli_column *column, const plim_record *record, const plim_items *list)
{
    char cell[MAX_CELL];
    for (size_t i = 0; i < list->count; i++)
        if (cli_fill(cell, sizeof cell, column->cell, record, list->items[i]))
            return true;
    return false;
}

/* ---- HTML ------------------------------------------------------------------------------------ */

void cli_html(const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            (void)fputs("&lt;", stdout);
            break;
        case '>':
            (void)fputs("&gt;", stdout);
            break;
        case '&':
            (void)fputs("&amp;", stdout);
            break;
        case '"':
            (void)fputs("&quot;", stdout);
            break;
        default:
            (void)putchar(*text);
        }
}

static const char *html_class(const cli_column *column)
{
    return column->align == CLI_RIGHT ? " class=\"number\"" : "";
}

void cli_html_table(const cli_column *columns, size_t count, const plim_record *record,
                    const plim_items *list)
{
    char cell[MAX_CELL];
    if (list->count == 0)
        return;
    (void)printf("<table>\n<tr>");
    for (size_t k = 0; k < count; k++)
        if (is_shown(&columns[k], record, list))
            (void)printf("<th%s>%s</th>", html_class(&columns[k]), columns[k].title);
    (void)printf("</tr>\n");
    for (size_t i = 0; i < list->count; i++) {
        (void)printf("<tr>");
        for (size_t k = 0; k < count; k++) {
            if (!is_shown(&columns[k], record, list))
                continue;
            (void)printf("<td%s>", html_class(&columns[k]));
            if (cli_fill(cell, sizeof cell, columns[k].cell, record, list->items[i]))
                cli_html(cell);
            (void)printf("</td>");
        }
        (void)printf("</tr>\n");
    }
    (void)printf("</table>\n");
}

/* ---- Markdown -------------------------------------------------------------------------------- */

void cli_markdown(const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_[]<>|#~", *text))
            (void)putchar('\\');
        (void)putchar(*text == '\n' || *text == '\r' ? ' ' : *text);
    }
}

void cli_markdown_table(const cli_column *columns, size_t count, const plim_record *record,
                        const plim_items *list)
{
    char cell[MAX_CELL];
    if (list->count == 0)
        return;
    for (size_t k = 0; k < count; k++)
        if (is_shown(&columns[k], record, list))
            (void)printf("| %s ", columns[k].title);
    (void)printf("|\n");
    for (size_t k = 0; k < count; k++)
        if (is_shown(&columns[k], record, list))
            (void)printf("| %s ", columns[k].align == CLI_RIGHT ? "--:" : "---");
    (void)printf("|\n");
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (!is_shown(&columns[k], record, list))
                continue;
            (void)printf("| ");
            if (cli_fill(cell, sizeof cell, columns[k].cell, record, list->items[i]))
                cli_markdown(cell);
            (void)printf(" ");
        }
        (void)printf("|\n");
    }
}
