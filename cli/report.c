#include "report.h"

#include <stdio.h>
#include <string.h>

#include "paint.h"
#include "table.h"
#include "text.h"

enum { FULL = false, BRIEF = true };

struct column {
    bool brief;
    cli_column column;
};
static const struct column device_columns[] = {
#define COLUMN(where, title, cell, align, squeeze)                                                 \
    {where, {title, cell, CLI_##align, CLI_##squeeze}},
#include "devices.def"
#undef COLUMN
};
#define DEVICE_COLUMNS (sizeof device_columns / sizeof *device_columns)

static const cli_column link_columns[] = {
    {"link", "{a} - {b}", CLI_LEFT, CLI_FIXED},
    {"kind", "{kind}", CLI_LEFT, CLI_FIXED},
    {"width", "{width}", CLI_RIGHT, CLI_FIXED},
    {"bandwidth", "{bandwidth_bytes_per_s}", CLI_RIGHT, CLI_FIXED},
};

void cli_report_devices(cli_term term, const plim_machine *machine, bool full)
{
    cli_column columns[DEVICE_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < DEVICE_COLUMNS; i++)
        if (full || device_columns[i].brief)
            columns[n++] = device_columns[i].column;
    if (machine->devices.count == 0) {
        (void)puts("no accelerators");
        return;
    }
    cli_table(term, 0, columns, n, &plim_record_device, &machine->devices);
    if (machine->links.count)
        (void)putchar('\n');
    cli_table(term, 0, link_columns, sizeof link_columns / sizeof *link_columns, &plim_record_link,
              &machine->links);
}

static cli_style style_of(const char *severity)
{
    return strcmp(severity, "error") == 0     ? CLI_BAD
           : strcmp(severity, "warning") == 0 ? CLI_CAREFUL
                                              : CLI_FAINT;
}

void cli_report_notes(cli_term term, const plim_items *notes)
{
    char line[2048];
    if (notes->count)
        (void)putchar('\n');
    for (size_t i = 0; i < notes->count; i++) {
        const plim_note *note = notes->items[i];
        const char *severity = PLIM_KNOWN(note, note, severity) ? note->severity : "note";
        cli_paint(term, style_of(severity));
        (void)fputs(severity, stdout);
        cli_paint(term, CLI_PLAIN);
        (void)fputs(": ", stdout);
        (void)snprintf(line, sizeof line, "%s%s%s",
                       PLIM_KNOWN(note, note, subject) ? note->subject : "",
                       PLIM_KNOWN(note, note, subject) ? ": " : "",
                       PLIM_KNOWN(note, note, text) ? note->text : "");
        cli_wrap(stdout, line, strlen(severity) + 2, 2, term.width);
        if (PLIM_KNOWN(note, note, hint)) {
            (void)fputs("  -> ", stdout);
            cli_wrap(stdout, note->hint, 5, 5, term.width);
        }
    }
}
