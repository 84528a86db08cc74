#include "fit_text.h"

#include <stdio.h>

void cli_fit_text(const plim_fit *fit, cli_term term, bool explain)
{
    (void)term;
    (void)explain;
    printf("%s\n", fit->verdict);
}
