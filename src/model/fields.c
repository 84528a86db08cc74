/* The tables plim_record_model and plim_record_tensor, from their rows. */
#include "model.h"

#include <plimsoll/records_tables.h>
#include <plimsoll/fields_model.def>
