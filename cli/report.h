/* Parts of the text that several commands print. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <plimsoll/plimsoll.h>

#include "term.h"

/* The table of devices; with `full` all its columns, and the table of links. */
void cli_report_devices(cli_term term, const plim_machine *machine, bool full);
void cli_report_notes(cli_term term, const plim_items *notes);

#endif
