/* Templates: a line of text is a row "label, template", a table's column a row "title, template".
 *
 *   {cpu.brand}              a field by its JSON path, as text; nothing where unknown
 *   {name/arch/kind}         the first that is known
 *   {cpu.sockets#socket}     a number with a noun: "1 socket", "2 sockets"
 *   {memory.cma_total_bytes+}  a number that is not 0
 *   {integrated?shares RAM}  the words, where the flag is known and true
 *   [in {cpu.sockets}]       dropped, where a field inside is unknown
 *   ~                        ", " between what is not empty
 *   <storage|; |{name}>      for each record of a list, with what stands between
 */
#ifndef CLI_FILL_H
#define CLI_FILL_H

#include <plimsoll/base.h>

/* Fills a template from a record. Returns the length; 0 where no field was known. A figure from a
 * table is marked nominal. A text that is longer than the buffer ends with "...". */
size_t cli_fill(char *buf, size_t size, const char *template, const plim_record *record,
                const void *r);

typedef struct cli_found {
    const plim_field *field;
    const void *holder; /* the record that holds it */
    const char *source; /* who said it; NULL: nobody is named */
} cli_found;
/* The known field at a path ("cpu.caches.l3.total_bytes"). False where there is none. */
bool cli_resolve(const plim_record *record, const void *r, const char *path, size_t length,
                 cli_found *found);

#endif
