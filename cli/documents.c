#include "documents.h"

#include <plimsoll/records_tables.h>

#include "documents.def"
