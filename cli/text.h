/* Text by display columns: a name may hold UTF-8 of any width. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Columns that UTF-8 text takes: wide characters two, combining marks none. A byte that is not
 * UTF-8 counts as one. */
size_t cli_width(const char *text);
/* Bytes of the longest beginning of text that takes at most `columns`. */
size_t cli_fit(const char *text, size_t columns);
/* n times the text. */
void cli_repeat(FILE *out, const char *text, size_t n);
/* Words of text on lines of at most `width` columns (0: one line), every line but the first behind
 * `indent` blanks; `at` is the column where the first begins. Ends the last line. */
void cli_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

#endif
