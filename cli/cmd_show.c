/* The machine at a glance: lines of show.def, the devices, what was noticed. */
#include <string.h>

#include "cli.h"
#include "explain.h"
#include "fill.h"
#include "paint.h"
#include "report.h"
#include "text.h"

enum { BAR_WIDTH = 40, MAX_LINE = 4096 };

struct line {
    const char *label, *template;
};
static const struct line lines[] = {
#define LINE(label, template) {label, template},
#include "show.def"
#undef LINE
};

/* Behind the label: taken, and usable. */
static void print_memory_bar(cli_term term, const plim_machine *machine)
{
    const plim_memory *memory = machine->memory;
    if (!PLIM_KNOWN(machine, machine, memory) || !PLIM_KNOWN(memory, memory, total_bytes) ||
        !PLIM_KNOWN(memory, memory, usable_bytes) || memory->usable_bytes > memory->total_bytes)
        return;
    cli_part taken = {memory->total_bytes - memory->usable_bytes, CLI_FIRST};
    cli_bar bar = {memory->total_bytes, &taken, 1, NULL, 0, BAR_WIDTH};
    cli_label(term, "");
    cli_bar_draw(term, &bar);
    (void)putchar('\n');
}

static bool print_lines(cli_term term, const plim_machine *machine)
{
    char text[MAX_LINE];
    const char *label = "";
    for (size_t i = 0; i < CLI_COUNT(lines); i++) {
        const struct line *line = &lines[i];
        if (!cli_fill(text, sizeof text, line->template, &plim_record_machine, machine))
            continue;
        bool begins = strcmp(label, line->label) != 0;
        cli_label(term, begins ? line->label : "");
        cli_wrap(stdout, text, CLI_LABEL_WIDTH + 1, CLI_LABEL_WIDTH + 1, term.width);
        if (begins && strcmp(line->label, "memory") == 0)
            print_memory_bar(term, machine);
        label = line->label;
    }
    return *label != '\0';
}

static cli_exit run(cli_call *call)
{
    plim_machine *machine;
    char *text = NULL;
    cli_exit status = cli_look(call, NULL, NULL, &machine);
    if (status != CLI_OK)
        return status;
    if (call->common.json) {
        unsigned flags = PLIM_JSON_PRETTY | (call->look.explain ? PLIM_JSON_SOURCES : 0);
        plim_status result = plim_machine_to_json(machine, flags, &text, NULL);
        status = cli_print_json(call, result, text);
    } else if (call->look.explain) {
        cli_explain(call->term, &plim_record_machine, machine);
    } else {
        if (print_lines(call->term, machine))
            (void)putchar('\n');
        cli_report_devices(call->term, machine, false);
        cli_report_notes(call->term, &machine->notes);
    }
    plim_machine_free(machine);
    return status;
}

const cli_body cli_body_show = {
    .run = run,
    .details = "Figures that nothing could tell are left out. Of the memory, the part in use is "
               "drawn; what is usable is the smallest of what the kernel can give and every limit "
               "on the way.",
};
