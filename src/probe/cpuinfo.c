#include "cpuinfo.h"

#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"

enum key {
    KEY_PROCESSOR,
    KEY_VENDOR,
    KEY_BRAND,
    KEY_POWER_CPU,
    KEY_UARCH,
    KEY_MACHINE,
    KEY_X86_FLAGS,
    KEY_ARM_FEATURES,
    KEY_S390_FEATURES,
    KEY_RISCV_ISA,
    KEY_PHYSICAL_ID,
    KEY_CORE_ID,
    KEY_ARM_IMPLEMENTER,
    KEY_ARM_PART,
    KEY_RISCV_VENDOR,
    KEY_RISCV_ARCH,
};

/* As the kernels write them: x86, Arm, POWER, RISC-V, LoongArch, s390. */
static const struct {
    const char *text;
    size_t length;
    enum key key;
} keys[] = {
#define KEY(text, key)                                                                             \
    {                                                                                              \
        text, sizeof text - 1, KEY_##key                                                           \
    }
    KEY("processor", PROCESSOR),   KEY("vendor_id", VENDOR),
    KEY("model name", BRAND),      KEY("Model Name", BRAND),
    KEY("cpu", POWER_CPU),         KEY("uarch", UARCH),
    KEY("machine", MACHINE),       KEY("flags", X86_FLAGS),
    KEY("Features", ARM_FEATURES), KEY("features", S390_FEATURES),
    KEY("isa", RISCV_ISA),         KEY("physical id", PHYSICAL_ID),
    KEY("core id", CORE_ID),       KEY("CPU implementer", ARM_IMPLEMENTER),
    KEY("CPU part", ARM_PART),     KEY("mvendorid", RISCV_VENDOR),
    KEY("marchid", RISCV_ARCH),
#undef KEY
};

#define T_HEAD 0x5b7 /* JEDEC id of the maker of C906 and C910 */

struct block { /* what the processor being read has told so far */
    bool open, physical_known, core_known, implementer_known, part_known;
    uint64_t physical, core, implementer, part, riscv_vendor;
};

struct pass {
    pli_arena *arena;
    pli_cpuinfo *info;
    struct block block;
    bool draft_vectors; /* T-Head's vectors of version 0.7.1, which are no "v" */
    bool ok;
};

static void add_arm(pli_cpuinfo *info, const struct block *b)
{
    size_t i = 0;
    info->arm_processors++;
    while (i < info->arm_count &&
           (info->arm[i].implementer != b->implementer || info->arm[i].part != b->part))
        i++;
    if (i == PLI_ARM_KINDS)
        return;
    if (i == info->arm_count)
        info->arm[info->arm_count++] = (pli_arm_kind){b->implementer, b->part, 0};
    info->arm[i].count++;
}

static void end_block(struct pass *pass)
{
    const struct block *b = &pass->block;
    pli_cpuinfo *info = pass->info;
    if (b->implementer_known && b->part_known)
        add_arm(info, b);
    if (b->open && b->physical_known && b->core_known) {
        uint64_t *cores = pli_grow_array(pass->arena, info->cores, info->core_count, sizeof *cores);
        pass->ok &= cores != NULL;
        if (cores) {
            info->cores = cores;
            info->cores[info->core_count++] = b->physical << 32 | (b->core & UINT32_MAX);
        }
    }
    pass->block = (struct block){0};
}

static void start_block(struct pass *pass, pli_str number)
{
    uint64_t cpu;
    end_block(pass);
    pass->block.open = true;
    pass->info->processors++;
    if (pli_parse_u64(number, &cpu) && cpu < PLI_MAX_CPUS)
        pass->ok &= pli_cpuset_add(pass->arena, &pass->info->cpus, (size_t)cpu);
}

static void first(pli_str *slot, pli_str value)
{
    if (slot->n == 0)
        *slot = value;
}

static void x86_flags(pli_cpuinfo *info, pli_str value)
{
    pli_str word;
    info->x86 = true;
    if (info->isa.known && pli_same(info->isa.last, value))
        return;
    pli_isa_meet_words(&info->isa, PLI_ISA_X86, value);
    while (!info->hypervisor && pli_next_word(&value, &word))
        info->hypervisor = pli_eq(word, "hypervisor");
}

static void take(struct pass *pass, enum key key, pli_str value)
{
    pli_cpuinfo *info = pass->info;
    struct block *b = &pass->block;
    uint64_t number;
    switch (key) {
    case KEY_PROCESSOR:
        start_block(pass, value);
        break;
    case KEY_VENDOR:
        first(&info->vendor, value);
        break;
    case KEY_BRAND:
    case KEY_UARCH:
        first(&info->brand, value);
        break;
    case KEY_POWER_CPU: /* "POWER9, altivec supported" */
        first(&info->brand, value);
        pli_isa_meet_words(&info->isa, PLI_ISA_POWER, value);
        break;
    case KEY_MACHINE:
        first(&info->machine, value);
        break;
    case KEY_X86_FLAGS:
        x86_flags(info, value);
        break;
    case KEY_ARM_FEATURES: /* LoongArch writes the same key; the names are distinct */
        pli_isa_meet_words(&info->isa, PLI_ISA_ARM | PLI_ISA_LOONGARCH, value);
        break;
    case KEY_S390_FEATURES:
        pli_isa_meet_words(&info->isa, PLI_ISA_S390, value);
        break;
    case KEY_RISCV_ISA:
        pli_isa_meet_riscv(&info->isa, value);
        break;
    case KEY_PHYSICAL_ID:
        b->physical_known = pli_parse_u64(value, &b->physical) && b->physical <= UINT32_MAX;
        break;
    case KEY_CORE_ID:
        b->core_known = pli_parse_u64(value, &b->core);
        break;
    case KEY_ARM_IMPLEMENTER:
        b->implementer_known = pli_parse_hex(value, &b->implementer);
        break;
    case KEY_ARM_PART:
        b->part_known = pli_parse_hex(value, &b->part);
        break;
    case KEY_RISCV_VENDOR:
        (void)pli_parse_hex(value, &b->riscv_vendor);
        break;
    case KEY_RISCV_ARCH:
        if (b->riscv_vendor == T_HEAD && pli_parse_hex(value, &number) && number == 0)
            pass->draft_vectors = true;
        break;
    }
}

static void read_line(struct pass *pass, pli_str line)
{
    pli_str key, value;
    if (!pli_key_value(line, ':', &key, &value))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].length == key.n && memcmp(keys[i].text, key.p, key.n) == 0) {
            take(pass, keys[i].key, value);
            return;
        }
    if (pli_starts(key, "processor ")) /* s390: "processor 0: version = FF, ..." */
        start_block(pass, pli_skip(key, sizeof "processor " - 1));
}

bool pli_cpuinfo_parse(pli_arena *arena, pli_str text, pli_cpuinfo *out)
{
    struct pass pass = {.arena = arena, .info = out, .ok = true};
    pli_str line;
    memset(out, 0, sizeof *out);
    while (pli_next_line(&text, &line))
        read_line(&pass, line);
    end_block(&pass);
    if (pass.draft_vectors)
        pli_isa_drop(&out->isa, PLI_ISA_RISCV, "v");
    return pass.ok;
}
