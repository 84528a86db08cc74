#include "repack.h"

#include <string.h>

static const struct repack {
    const char *type, *isa;
    uint32_t rows, columns, extra;
    bool experts;
} repacks[] = {
#define REPACK(type, isa, rows, columns, extra, experts) {type, isa, rows, columns, extra, experts},
#include "repack.def"
#undef REPACK
};
#define REPACK_COUNT (sizeof repacks / sizeof *repacks)
_Static_assert(REPACK_COUNT <= 32, "a bit for each row");

static bool has_isa(const plim_strs *isa, const char *name)
{
    for (size_t i = 0; i < isa->count; i++)
        if (strcmp(isa->items[i], name) == 0)
            return true;
    return false;
}

uint32_t pli_repacks_of(const plim_machine *machine)
{
    uint32_t bits = 0;
    if (!PLIM_KNOWN(machine, machine, cpu) || !PLIM_KNOWN(cpu, machine->cpu, isa))
        return 0;
    for (size_t i = 0; i < REPACK_COUNT; i++)
        if (has_isa(&machine->cpu->isa, repacks[i].isa))
            bits |= UINT32_C(1) << i;
    return bits;
}

static bool fits(const struct repack *row, const pli_tensor *tensor)
{
    return strcmp(tensor->type_name, row->type) == 0 && tensor->shape[1] % row->rows == 0 &&
           tensor->shape[0] % row->columns == 0 &&
           (tensor->dims == 2 || (row->experts && tensor->dims == 3));
}

bool pli_repacked(const pli_sites *sites, const pli_setup *setup, const pli_tensor *tensor,
                  uint64_t *extra)
{
    bool pinned = false;
    *extra = 0;
    for (size_t i = 0; i < sites->devices; i++)
        pinned |= strcmp(sites->at[i].backend->family, "metal") != 0;
    if (!setup->repack || pinned || tensor->shape[1] < 2)
        return false;
    for (size_t i = 0; i < REPACK_COUNT; i++)
        if ((sites->repacks >> i & 1) && fits(&repacks[i], tensor)) {
            uint64_t block = pli_quant_at(tensor->type)->block_elements;
            *extra = tensor->elements / block * repacks[i].extra;
            return true;
        }
    return false;
}
