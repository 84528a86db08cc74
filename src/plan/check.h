/* plimsoll's figures against an engine's load log: check.c makes a plan of what the log says was
 * run, check_terms.c compares them term by term. */
#ifndef PLI_CHECK_H
#define PLI_CHECK_H

#include "../model/load_log.h"
#include "load.h"

typedef struct pli_check {
    plimsoll *context;
    pli_arena *arena;
    plim_check *check;
    plim_error *error;
    const char *name;          /* of the log */
    const plim_machine *where; /* the log was written; NULL: unknown */
    bool rearranged;           /* the log names buffers of rearranged weights */
    pli_log log;
    const pli_model *model;
    plim_fit_options options;
    pli_shape shape;
    pli_setup setup;
    pli_sites sites;
    pli_plan plan;
    pli_amount logged[PLI_MAX_SITES][PLI_LOG_TERMS];
    bool split_known; /* which layer is where follows from the log */
} pli_check;

/* plim_check_log(), where it is known on which machine the log was written (NULL: it is not): what
 * its processor rearranges takes memory of its own. */
plim_status pli_check_log(plimsoll *context, const plim_reader *log, const plim_model *model,
                          const char *engine, const plim_machine *where, plim_error *error,
                          plim_check **out);

/* Fills the terms of c->check from its plan and its log. */
void pli_check_compare(pli_check *c);

#endif
