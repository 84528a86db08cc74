/* What a file of tensors is for, and which flag of the engine takes it. */
#ifndef PLI_PURPOSE_H
#define PLI_PURPOSE_H

#include <plimsoll/model.h>

/* PURPOSE(id, name in documents, "it is WHAT", what to do with it) */
#define PLI_PURPOSES(PURPOSE)                                                                      \
    PURPOSE(MODEL, "model", "a model", "it is judged by itself")                                   \
    PURPOSE(PROJECTOR, "projector", "a projector of images or sound", "give it with --mmproj")     \
    PURPOSE(ADAPTER, "adapter", "a LoRA adapter", "give it with --lora")                           \
    PURPOSE(CONTROL_VECTOR, "control vector", "a control vector", "give it with --control-vector") \
    PURPOSE(IMATRIX, "importance matrix", "an importance matrix", "it serves quantisation only")

typedef enum pli_purpose {
#define PURPOSE(id, name, what, where) PLI_IS_##id,
    PLI_PURPOSES(PURPOSE)
#undef PURPOSE
} pli_purpose;

struct pli_model;
pli_purpose pli_model_purpose(const struct pli_model *model);
const char *pli_purpose_name(pli_purpose purpose);
const char *pli_purpose_what(pli_purpose purpose);
const char *pli_purpose_where(pli_purpose purpose);

#endif
