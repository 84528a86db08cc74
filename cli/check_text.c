#include "check_text.h"

#include <stdio.h>

#include "fill.h"
#include "paint.h"
#include "table.h"
#include "text.h"

enum { MAX_LINE = 4096 };

static const cli_column columns[] = {
    {"term", "{term}", CLI_LEFT, CLI_FIXED},
    {"device", "{device}", CLI_LEFT, CLI_FIXED},
    {"plimsoll", "{predicted_bytes}", CLI_RIGHT, CLI_FIXED},
    {"log", "{logged_bytes}", CLI_RIGHT, CLI_FIXED},
    {"kind", "{kind}", CLI_LEFT, CLI_NARROWS},
    {"result", "{result}", CLI_LEFT, CLI_FIXED},
};

void cli_check_terms(cli_term term, size_t indent, const plim_check *check)
{
    cli_table(term, indent, columns, sizeof columns / sizeof *columns, &plim_record_check_term,
              &check->terms);
}

static void print_line(cli_term term, const char *label, const char *template,
                       const plim_check *check)
{
    char text[MAX_LINE];
    if (!cli_fill(text, sizeof text, template, &plim_record_check, check))
        return;
    cli_label(term, label);
    cli_wrap(stdout, text, CLI_LABEL_WIDTH + 1, CLI_LABEL_WIDTH + 1, term.width);
}

void cli_check_text(cli_term term, const plim_check *check)
{
    print_line(term, "model", "{model.name}~{model.architecture}", check);
    print_line(term, "run",
               "{settings.engine}~[{settings.context#token}]~[{settings.sequences#slot}]~"
               "[K {settings.kv_type_k}]~[V {settings.kv_type_v}]~[{settings.gpu_layers#layer} "
               "on accelerators]",
               check);
    print_line(term, "agreement", "{same} as printed[, {differing+} not]", check);
    for (size_t i = 0; i < check->missing.count; i++)
        (void)printf("%-*s %s\n", CLI_LABEL_WIDTH, i ? "" : "not known", check->missing.items[i]);
    (void)putchar('\n');
    cli_check_terms(term, 0, check);
}
