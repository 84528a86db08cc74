/* Files that the command writes. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the whole file or leaves what was there: a neighbour is written, then renamed. What is no
 * regular file (a pipe, /dev/null) is written as it is. False: errno says why. */
bool cli_write_file(const char *path, const char *bytes, size_t length);

#endif
