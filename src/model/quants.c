#include "../base/num.h"
#include "model.h"

#define NONE UINT32_MAX
static const pli_quant quants[] = {
#define QUANT(name, id, elements, bytes, row, safetensors, engine)                                 \
    {#name, id, elements, bytes, row, PLI_DTYPE_##safetensors, engine},
#include "quants.def"
#undef QUANT
};
#undef NONE
#define QUANT_COUNT (sizeof quants / sizeof *quants)

const pli_quant *pli_quant_at(uint32_t index)
{
    return index < QUANT_COUNT ? &quants[index] : NULL;
}

uint32_t pli_quant_index(const pli_quant *quant)
{
    return quant ? (uint32_t)(quant - quants) : (uint32_t)QUANT_COUNT - 1;
}

const pli_quant *pli_quant_of_ggml(uint32_t id)
{
    for (size_t i = 0; id != UINT32_MAX && i < QUANT_COUNT; i++)
        if (quants[i].ggml_id == id)
            return &quants[i];
    return NULL;
}

static bool same_nocase(pli_str a, const char *b)
{
    for (size_t i = 0; i < a.n; i++) {
        char c = a.p[i];
        if ((c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c) != b[i])
            return false;
    }
    return b[a.n] == '\0';
}

const pli_quant *pli_quant_by_name(pli_str name)
{
    for (size_t i = 0; i + 1 < QUANT_COUNT; i++)
        if (same_nocase(name, quants[i].name))
            return &quants[i];
    return NULL;
}

bool pli_quant_row_bytes(const pli_quant *quant, uint64_t elements, uint64_t *bytes)
{
    uint64_t n;
    if (quant->block_bytes == 0 || elements % quant->block_elements != 0 ||
        !pli_mul(elements / quant->block_elements, quant->block_bytes, &n))
        return false;
    return pli_add(n, quant->row_bytes, bytes);
}
