/* What a GGUF file is for: not each holds a model that talks. Keys of llama.cpp's converters. */
#include "purpose.h"

#include "model.h"

static const char *const names[] = {
#define PURPOSE(id, name, what, where) name,
    PLI_PURPOSES(PURPOSE)
#undef PURPOSE
};
static const char *const whats[] = {
#define PURPOSE(id, name, what, where) what,
    PLI_PURPOSES(PURPOSE)
#undef PURPOSE
};
static const char *const wheres[] = {
#define PURPOSE(id, name, what, where) where,
    PLI_PURPOSES(PURPOSE)
#undef PURPOSE
};

static bool says(const pli_model *model, const char *key, const char *word)
{
    pli_str text;
    return pli_model_str(model, key, &text) && pli_eq(text, word);
}

pli_purpose pli_model_purpose(const pli_model *model)
{
    if (says(model, "general.architecture", "clip") || says(model, "general.type", "mmproj"))
        return PLI_IS_PROJECTOR;
    if (says(model, "general.type", "adapter") || pli_model_value(model, "adapter.type"))
        return PLI_IS_ADAPTER;
    if (says(model, "general.architecture", "controlvector"))
        return PLI_IS_CONTROL_VECTOR;
    if (says(model, "general.type", "imatrix"))
        return PLI_IS_IMATRIX;
    return PLI_IS_MODEL;
}

const char *pli_purpose_name(pli_purpose purpose)
{
    return names[purpose];
}

const char *pli_purpose_what(pli_purpose purpose)
{
    return whats[purpose];
}

const char *pli_purpose_where(pli_purpose purpose)
{
    return wheres[purpose];
}
