/* The tables of what is measured, made from their rows. */
#include <plimsoll/meter.h>

#include <plimsoll/records_tables.h>

#include <plimsoll/fields_meter.def>
