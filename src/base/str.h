/* String views: parsing happens on views, copies are made only into results. A view is not
 * NUL-terminated. */
#ifndef PLI_STR_H
#define PLI_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pli_str {
    const char *p;
    size_t n;
} pli_str;

#define PLI_LIT(literal) ((pli_str){(literal), sizeof(literal) - 1})

pli_str pli_s(const char *text); /* NULL is the empty view */
bool pli_eq(pli_str a, const char *b);
bool pli_same(pli_str a, pli_str b);
int pli_compare(pli_str a, pli_str b); /* by bytes: < 0, 0, > 0 */
bool pli_starts(pli_str s, const char *prefix);
bool pli_ends(pli_str s, const char *suffix);
bool pli_contains(pli_str s, const char *needle);
bool pli_contains_nocase(pli_str s, const char *needle); /* ASCII */
/* blanks, tabs, CR, LF and NULs at both ends */
pli_str pli_trim(pli_str s);
pli_str pli_skip(pli_str s, size_t n); /* without the first n bytes */

/* The next line (without its end) of *rest, which moves on. False when *rest is empty. */
bool pli_next_line(pli_str *rest, pli_str *line);
/* The next word (run of no blank or tab) of *rest. False when there is none. */
bool pli_next_word(pli_str *rest, pli_str *word);
/* The next piece up to `separator` of *rest; an empty last piece counts only after a separator. */
bool pli_next_part(pli_str *rest, char separator, pli_str *part);
/* Splits "key<separator>value" and trims both. False without a separator. */
bool pli_key_value(pli_str line, char separator, pli_str *key, pli_str *value);
/* The trimmed value of the first line "key<separator>..." in text; empty and false when absent. */
bool pli_find_value(pli_str text, const char *key, char separator, pli_str *value);

/* Is it well-formed UTF-8 (no surrogates, no overlong forms)? */
bool pli_utf8_valid(pli_str s);
/* Copies s into out (capacity size, always terminated), control characters and bad UTF-8 as '?'; a
 * name from a driver can hold terminal escapes. Returns the length. */
size_t pli_clean(pli_str s, char *out, size_t size);
/* Would pli_clean() change nothing? */
bool pli_is_clean(pli_str s);
/* Copies s into out (room for 3 * s.n bytes), bad UTF-8 as U+FFFD, everything else as it is.
 * Returns the length; nothing is terminated. */
size_t pli_utf8_repair(pli_str s, char *out);
/* Up to the first NUL of a field of n bytes that may lack one. */
pli_str pli_field_str(const void *bytes, size_t n);

#endif
