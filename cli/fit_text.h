/* The answer of `plimsoll fit` as text: the verdict in words and the load line of each memory. */
#ifndef CLI_FIT_TEXT_H
#define CLI_FIT_TEXT_H

#include <plimsoll/plimsoll.h>

#include "term.h"

/* marks: the two lines, as parts of the budget. */
void cli_fit_text(const plim_fit *fit, const double marks[2], cli_term term, bool explain);
/* The same as Markdown, and as a self-contained HTML page. */
void cli_fit_markdown(const plim_fit *fit, const double marks[2], bool explain);
void cli_fit_html(const plim_fit *fit, const double marks[2], bool explain);

#endif
