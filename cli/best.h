/* Which quantization of a model of the catalogue, where none is named. */
#ifndef CLI_BEST_H
#define CLI_BEST_H

#include "cli.h"

/* Opens the best that stays under the line instead of the one that most people take, and says so:
 * with the context that will be judged, or if none does with a useful one. Nothing where a
 * quantization is named, where there is but one, or where none does. */
cli_exit cli_take_best(const cli_call *call, const plim_machine *machine,
                       const plim_fit_options *with, plim_model **model);

#endif
