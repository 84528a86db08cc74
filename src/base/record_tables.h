/* The tables of records live with the public headers: programs describe records of their own. */
#include <plimsoll/records_tables.h>
