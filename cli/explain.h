/* Each field, its value, and who said it. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <plimsoll/base.h>

#include "term.h"

void cli_explain(cli_term term, const plim_record *record, const void *r);

#endif
