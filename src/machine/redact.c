#include "redact.h"

pli_redactor *pli_redactor_new(const plim_allocator *allocator, pli_machine *m)
{
    (void)m;
    return pli_hook_resize(allocator, NULL, 0, 1);
}

void pli_redactor_free(pli_redactor *r)
{
    if (r)
        pli_hook_resize(NULL, r, 1, 0);
}

void pli_redact(const pli_redactor *r, pli_subject what, const char *subject, void *bytes, size_t n)
{
    (void)r, (void)what, (void)subject, (void)bytes, (void)n;
}
