#include "isa.h"

#include <string.h>

#include "../machine/query.h"

enum consent { CONSENT_NONE, CONSENT_AVX, CONSENT_AVX512, CONSENT_AMX };
enum where { FROM_TEXT, FROM_CPUID, FROM_HWCAP };
enum { EAX, EBX, ECX, EDX };

static const struct row {
    const char *flag, *name;
    size_t flag_length;
    pli_isa_arch arch;
    enum consent consent;
    enum where where;
    uint32_t leaf, sub; /* of CPUID; leaf is the word's number for HWCAP */
    unsigned reg, bit;
} rows[] = {
#define ISA(arch, flag, name, consent, where)                                                      \
    {flag, name, sizeof flag - 1, PLI_ISA_##arch, CONSENT_##consent, where},
#define TEXT FROM_TEXT, 0, 0, 0, 0
#define CPUID(leaf, sub, reg, bit) FROM_CPUID, leaf, sub, reg, bit
#define HWCAP(word, bit) FROM_HWCAP, word, 0, 0, bit
#include "../know/isa.def"
#undef ISA
#undef TEXT
#undef CPUID
#undef HWCAP
};
#define ROW_COUNT (sizeof rows / sizeof *rows)
_Static_assert(ROW_COUNT <= PLI_ISA_WORDS * 64, "a bit for every row");

/* What XCR0 must hold: SSE and AVX; the same with the AVX-512 states; the two tile states. */
static const uint64_t xcr0_needed[] = {
    [CONSENT_AVX] = 0x6, [CONSENT_AVX512] = 0xe6, [CONSENT_AMX] = 0x60000};
#define XFEATURE_TILE_DATA (UINT64_C(1) << 18)

static void add(pli_isa *isa, size_t row)
{
    isa->rows[row / 64] |= UINT64_C(1) << (row % 64);
}

static void meet(pli_isa *isa, const pli_isa *other)
{
    for (size_t i = 0; i < PLI_ISA_WORDS; i++)
        isa->rows[i] = isa->known ? isa->rows[i] & other->rows[i] : other->rows[i];
    isa->known = true;
}

/* The rows of some architectures by a hash of their flags: a flags line has 150 words, and there
 * are 100 rows. */
#define BUCKETS 128u
struct index {
    uint8_t head[BUCKETS], next[ROW_COUNT]; /* 0: none, else a row's number + 1 */
};
_Static_assert(ROW_COUNT < UINT8_MAX, "a row's number fits");

static size_t bucket(const char *word, size_t n)
{
    const unsigned char *u = (const unsigned char *)word;
    return (n * 29u + u[0] * 7u + u[n - 1] * 13u + u[n / 2]) % BUCKETS;
}

static void make_index(struct index *index, unsigned archs)
{
    memset(index, 0, sizeof *index);
    for (size_t i = ROW_COUNT; i-- > 0;) {
        if (!(rows[i].arch & archs))
            continue;
        uint8_t *head = &index->head[bucket(rows[i].flag, rows[i].flag_length)];
        index->next[i] = *head;
        *head = (uint8_t)(i + 1);
    }
}

static void add_word(pli_isa *isa, const struct index *index, pli_str word)
{
    if (word.n == 0)
        return;
    for (size_t at = index->head[bucket(word.p, word.n)]; at > 0; at = index->next[at - 1]) {
        const struct row *row = &rows[at - 1];
        if (row->flag_length == word.n && memcmp(row->flag, word.p, word.n) == 0)
            add(isa, at - 1);
    }
}

void pli_isa_meet_words(pli_isa *isa, unsigned archs, pli_str words)
{
    pli_isa one = {{0}, true, {NULL, 0}};
    pli_str left = words, word;
    struct index index;
    if (isa->known && pli_same(isa->last, words))
        return;
    isa->last = words;
    make_index(&index, archs);
    while (pli_next_word(&left, &word))
        add_word(&one, &index, word);
    meet(isa, &one);
}

/* Single letters up to the first underscore, then names between underscores. A kernel that writes
 * no underscores ends the letters with the first name, which starts with s, x or z. */
void pli_isa_meet_riscv(pli_isa *isa, pli_str text)
{
    pli_isa one = {{0}, true, {NULL, 0}};
    pli_str left = text, part;
    struct index index;
    if (!pli_starts(text, "rv32") && !pli_starts(text, "rv64"))
        return;
    make_index(&index, PLI_ISA_RISCV);
    left = pli_skip(left, 4);
    for (; left.n && left.p[0] != '_' && !strchr("sxz", left.p[0]); left = pli_skip(left, 1))
        add_word(&one, &index, (pli_str){left.p, 1});
    while (pli_next_part(&left, '_', &part))
        add_word(&one, &index, part);
    meet(isa, &one);
}

static pli_isa_arch arch_of_machine(const char *machine)
{
    static const struct {
        const char *prefix;
        pli_isa_arch arch;
    } table[] = {
        {"aarch64", PLI_ISA_ARM}, {"ppc", PLI_ISA_POWER},           {"s390", PLI_ISA_S390},
        {"riscv", PLI_ISA_RISCV}, {"loongarch", PLI_ISA_LOONGARCH},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (pli_starts(pli_s(machine), table[i].prefix))
            return table[i].arch;
    return PLI_ISA_NONE;
}

void pli_isa_from_auxv(pli_isa *isa, pli_machine *m)
{
    struct pli_auxv v;
    size_t n = 0;
    pli_isa_arch arch = arch_of_machine(m->facts.arch);
    if (arch == PLI_ISA_NONE ||
        pli_query(m, "-", "host.auxv", NULL, 0, &v, sizeof v, &n) != PLIM_OK || n != sizeof v)
        return;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].arch == arch && rows[i].where == FROM_HWCAP &&
            (((rows[i].leaf == 1 ? v.hwcap : v.hwcap2) >> rows[i].bit) & 1))
            add(isa, i);
    isa->known = true;
}

/* ---- CPUID ----------------------------------------------------------------------------------- */

struct cpuid_pass { /* the leaf asked last: rows of one leaf stand together */
    uint32_t leaf, sub, out[4];
    bool asked, answered;
};

/* A leaf beyond the highest answers with another leaf's data on some CPUs. */
static bool leaf_exists(pli_machine *m, uint32_t leaf, uint32_t sub)
{
    uint32_t out[4] = {0};
    if (!m->ops->cpuid(m, leaf & 0x80000000u, 0, out) || out[EAX] < leaf)
        return false;
    if (sub == 0)
        return true;
    return m->ops->cpuid(m, leaf, 0, out) && out[EAX] >= sub;
}

static bool cpuid_bit(struct cpuid_pass *pass, pli_machine *m, const struct row *row)
{
    if (!pass->asked || pass->leaf != row->leaf || pass->sub != row->sub) {
        pass->asked = true;
        pass->leaf = row->leaf;
        pass->sub = row->sub;
        pass->answered =
            leaf_exists(m, row->leaf, row->sub) && m->ops->cpuid(m, row->leaf, row->sub, pass->out);
    }
    return pass->answered && ((pass->out[row->reg] >> row->bit) & 1);
}

void pli_isa_from_cpuid(pli_isa *isa, pli_machine *m)
{
    uint32_t out[4] = {0};
    uint64_t xcr0 = 0;
    struct cpuid_pass pass = {0};
    if (!m->ops->cpuid(m, 0, 0, out))
        return;
    if (pli_query(m, "-", "host.xcr0", NULL, 0, &xcr0, sizeof xcr0, NULL) != PLIM_OK)
        xcr0 = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        uint64_t needed = xcr0_needed[rows[i].consent];
        if (rows[i].where == FROM_CPUID && (xcr0 & needed) == needed &&
            cpuid_bit(&pass, m, &rows[i]))
            add(isa, i);
    }
    isa->known = true;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool has(const pli_isa *isa, size_t row)
{
    return (isa->rows[row / 64] >> (row % 64)) & 1;
}

static void drop(pli_isa *isa, size_t row)
{
    isa->rows[row / 64] &= ~(UINT64_C(1) << (row % 64));
}

static bool has_consent(const pli_isa *isa, enum consent consent)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].consent == consent && has(isa, i))
            return true;
    return false;
}

/* The AMX flags show also where tiles may not be used (an old kernel, a sandbox): the first tile
 * instruction would be the process's last. Where nobody can be asked, the flags stand. */
void pli_isa_ask_consent(pli_isa *isa, pli_machine *m)
{
    uint64_t permitted = 0;
    if (!has_consent(isa, CONSENT_AMX))
        return;
    plim_status status = pli_query(m, "-", "host.amx", NULL, 0, &permitted, sizeof permitted, NULL);
    bool refused =
        status == PLIM_UNSUPPORTED || (status == PLIM_OK && !(permitted & XFEATURE_TILE_DATA));
    for (size_t i = 0; refused && i < ROW_COUNT; i++)
        if (rows[i].consent == CONSENT_AMX)
            drop(isa, i);
}

void pli_isa_drop(pli_isa *isa, pli_isa_arch arch, const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].arch == arch && strcmp(rows[i].name, name) == 0)
            drop(isa, i);
}

plim_strs pli_isa_names(const pli_isa *isa, pli_arena *arena)
{
    const char **items = pli_alloc_array(arena, ROW_COUNT, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; items && i < ROW_COUNT; i++)
        if (has(isa, i))
            items[count++] = rows[i].name;
    return (plim_strs){items, count};
}
