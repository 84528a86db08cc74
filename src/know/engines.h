/* Inference engines and what they are best at; the rows are in engines.def. */
#ifndef PLI_ENGINES_H
#define PLI_ENGINES_H

#include <stddef.h>

typedef enum pli_tristate { PLI_ANY, PLI_YES, PLI_NO } pli_tristate;

/* A row holds for a device when family is not NULL, for the processor when isa is not NULL, else
 * always. */
typedef struct pli_engine_rule {
    const char *family, *kind;
    pli_tristate integrated;
    unsigned capability; /* least compute capability x 10; 0: none is asked for */
    const char *isa;
    const char *engine, *reason;
} pli_engine_rule;

/* In the order in which they are asked; NULL past the last. */
const pli_engine_rule *pli_engine_rule_at(size_t i);

#endif
