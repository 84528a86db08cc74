/* Names of general.file_type. */
#ifndef PLI_FILE_TYPES_H
#define PLI_FILE_TYPES_H

#include <stdint.h>

/* "Q4_K_M"; NULL for a number that has no row, also one marked as guessed (1024). Static. */
const char *pli_file_type_name(uint64_t number);

#endif
