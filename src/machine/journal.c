#include "journal.h"

#include "../base/limits.h"

/* Walks the outputs; writes them only if `fill`, so that all are checked before one is touched. */
static bool outputs(pli_str body, const pli_call *call, bool fill)
{
    pli_str line;
    size_t n;
    for (size_t i = 0; i < call->out_count; i++) {
        const pli_out *out = &call->outs[i];
        if (!pli_next_line(&body, &line) ||
            !pli_bytes_decode(line, fill ? out->p : NULL, out->n, &n) || n != out->n)
            return false;
    }
    return pli_trim(body).n == 0;
}

int pli_journal_replay(const pli_archive *archive, const pli_call *call)
{
    pli_buf key;
    pli_buf_init(&key, pli_arena_allocator(archive->arena), PLI_MAX_RECORDING);
    pli_key_add(&key, pli_s(call->name));
    pli_key_add(&key, pli_s(call->ordinal));
    const pli_entry *e =
        key.failed == PLIM_OK ? pli_archive_serve(archive, PLI_KIND_CALL, pli_buf_str(&key)) : NULL;
    pli_buf_free(&key);
    if (!e)
        return PLI_CALL_MISSING;
    if (e->value != 0 && pli_trim(e->body).n == 0)
        return e->value;
    if (!outputs(e->body, call, false))
        return PLI_CALL_MISSING;
    (void)outputs(e->body, call, true);
    return e->value;
}
