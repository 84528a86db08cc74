/* A prediction held against an engine's print-out, as text. */
#ifndef CLI_CHECK_TEXT_H
#define CLI_CHECK_TEXT_H

#include <plimsoll/plan.h>

#include "term.h"

/* What was compared, how far it agrees, and the table. */
void cli_check_text(cli_term term, const plim_check *check);
/* The table alone. */
void cli_check_terms(cli_term term, size_t indent, const plim_check *check);

#endif
