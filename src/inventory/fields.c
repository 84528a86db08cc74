/* The tables of the machine's records, made from their rows. */
#include <plimsoll/machine.h>

#include <plimsoll/records_tables.h>

#include <plimsoll/fields_machine.def>
