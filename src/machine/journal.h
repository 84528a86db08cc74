/* The journal of vendor calls: what PLI_CALL writes into a recording and reads from one.
 *
 *   -- call NAME ORDINAL rc=N --
 *   one line for each output, all its bytes as words (archive.h)
 *
 * An entry without a line for a call that failed leaves the outputs as the caller made them. */
#ifndef PLI_JOURNAL_H
#define PLI_JOURNAL_H

#include "archive.h"

/* Fills the call's outputs and returns its code. PLI_CALL_MISSING, with no output touched, when the
 * recording lacks the call or its outputs are not exactly of the sizes that are asked for. */
int pli_journal_replay(const pli_archive *, const pli_call *);
#endif
