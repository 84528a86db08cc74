/* Options structs of the public functions: they start with `size_t struct_size` and grow at their
 * end, so that a program and a library of different versions understand each other. */
#ifndef PLI_OPTIONS_H
#define PLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the caller's options over `to`, which holds the defaults and is `size` bytes long. An
 * older, shorter struct leaves the rest at its defaults; of a newer, longer one the part that is
 * not known here is not looked at (its padding need not be zero). NULL leaves all defaults. False:
 * struct_size was not set. */
bool pli_options_take(void *to, size_t size, const void *from);

#endif
