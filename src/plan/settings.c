#include "settings.h"

#include "placement.h"

const char *pli_type_text(pli_arena *arena, const char *name)
{
    char *text = pli_strdup(arena, name);
    for (char *c = text; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + 32);
    return text;
}

const char *pli_engine_text(pli_arena *arena, const pli_generation *generation)
{
    return generation->build ? pli_printf(arena, "llama.cpp@%s", generation->name)
                             : generation->name;
}

const plim_fit_settings *pli_settings_record(pli_arena *arena, const pli_setup *s,
                                             uint64_t offloaded)
{
    plim_fit_settings *r = PLI_NEW(arena, fit_settings);
    if (!r)
        return NULL;
    PLI_SET_STR(fit_settings, r, engine, pli_engine_text(arena, s->generation), NULL);
    PLI_SET(fit_settings, r, context, s->context, NULL);
    PLI_SET(fit_settings, r, sequences, s->sequences, NULL);
    PLI_SET(fit_settings, r, batch, s->batch, NULL);
    PLI_SET(fit_settings, r, ubatch, s->ubatch, NULL);
    PLI_SET(fit_settings, r, flash_attention, s->flash, NULL);
    PLI_SET_STR(fit_settings, r, kv_type_k, pli_type_text(arena, s->type_k->name), NULL);
    PLI_SET_STR(fit_settings, r, kv_type_v, pli_type_text(arena, s->type_v->name), NULL);
    PLI_SET(fit_settings, r, gpu_layers, offloaded, NULL);
    PLI_SET(fit_settings, r, split_mode, pli_split_name(s->split), NULL);
    if (s->share_count)
        PLI_SET_STR(fit_settings, r, tensor_split, pli_split_text(arena, s, ""), NULL);
    PLI_SET(fit_settings, r, kv_unified, s->unified, NULL);
    PLI_SET(fit_settings, r, swa_full, s->swa_full, NULL);
    PLI_SET(fit_settings, r, kv_offload, s->kv_offload, NULL);
    PLI_SET(fit_settings, r, op_offload, s->op_offload, NULL);
    PLI_SET(fit_settings, r, mmap, s->mmap, NULL);
    return r;
}
