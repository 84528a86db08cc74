/* The tables of a plan's records, made from their rows. */
#include <plimsoll/plan.h>

#include <plimsoll/records_tables.h>

#include <plimsoll/fields_plan.def>
