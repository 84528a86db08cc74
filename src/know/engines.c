#include "engines.h"

static const pli_engine_rule rules[] = {
#define BY_DEVICE(family, kind, integrated, capability, engine, reason)                            \
    {#family, #kind, PLI_##integrated, capability, NULL, engine, reason},
#define BY_CPU(isa, engine, reason) {NULL, NULL, PLI_ANY, 0, isa, engine, reason},
#define OTHERWISE(engine, reason) {NULL, NULL, PLI_ANY, 0, NULL, engine, reason},
#include "engines.def"
#undef BY_DEVICE
#undef BY_CPU
#undef OTHERWISE
};

const pli_engine_rule *pli_engine_rule_at(size_t i)
{
    return i < sizeof rules / sizeof *rules ? &rules[i] : NULL;
}
