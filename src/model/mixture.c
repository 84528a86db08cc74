#include "mixture.h"

#include <stddef.h>

#include "../base/num.h"
#include "arch.h"

enum {
#define QUANT(name, ...) TYPE_##name,
#include "quants.def"
#undef QUANT
    TYPES
};

static const pli_mixture mixtures[] = {
#define MIX(name, file_type, type, imatrix, usual) {#name, file_type, TYPE_##type, imatrix, usual},
#include "mixtures.def"
#undef MIX
};

const pli_mixture *pli_mixture_at(size_t i)
{
    return i < sizeof mixtures / sizeof *mixtures ? &mixtures[i] : NULL;
}

const pli_mixture *pli_mixture_find(pli_str name)
{
    for (size_t i = 0; i < sizeof mixtures / sizeof *mixtures; i++) {
        size_t k = 0;
        const char *have = mixtures[i].name;
        for (; k < name.n && have[k]; k++) {
            char c = name.p[k] == '-' ? '_' : name.p[k];
            if ((c >= 'a' && c <= 'z' ? (char)(c - 32) : c) != have[k])
                break;
        }
        if (k == name.n && !have[k])
            return &mixtures[i];
    }
    return NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

typedef enum role {
    KEPT, /* no mixture touches it */
    OTHER,
    OUTPUT,
    EMBEDDING,
    VALUE,
    FUSED,
    KEY,
    QUERY,
    ATTENTION_OUT,
    UP,
    GATE,
    DOWN,
    ROLES
} role;

typedef enum condition {
    ALWAYS,
    NO_BLOCKS,
    MANY_MATRICES,
    FIRST_2,
    FIRST_4,
    FIRST_EIGHTH,
    FIRST_EIGHTH_COUNTED,
    FIRST_SIXTEENTH,
    MIDDLE,
    MORE_BITS,
    MORE_BITS_OF_EIGHT,
    GQA_4,
    GQA_4_OR_EXPERTS,
    EIGHT_EXPERTS,
    NOT_EIGHT_EXPERTS,
} condition;

typedef struct rule {
    role role;
    condition when;
    uint32_t type;
} rule;

#define MOST_MIXTURES 20u
#define MOST_RULES 64u
typedef struct rules {
    rule at[MOST_RULES];
    size_t count;
} rules;

/* Those of one mixture, in the table's order. */
static void select_rules(const pli_mixture *mixture, rules *out)
{
    enum {
#define MIX(name, ...) name,
#include "mixtures.def"
#undef MIX
        ANY,
        END
    };
    static const struct {
        uint8_t role, when;
        uint32_t type;
        uint8_t mixtures[MOST_MIXTURES];
    } all[] = {
#define RULE(role, when, type, ...) {role, when, TYPE_##type, {__VA_ARGS__, END}},
#include "mixtures.def"
#undef RULE
    };
    _Static_assert(sizeof all / sizeof *all <= MOST_RULES, "more rules than there is room for");
    size_t wanted = (size_t)(mixture - mixtures);
    out->count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const uint8_t *m = all[i].mixtures; *m != END; m++)
            if (*m == wanted || *m == ANY) {
                out->at[out->count++] =
                    (rule){(role)all[i].role, (condition)all[i].when, all[i].type};
                break;
            }
}

typedef struct mixing {
    const pli_mixture *mixture;
    rules rules;
    bool old, tied, many_heads;
    uint64_t experts, gqa, layers;
    uint64_t values;      /* tensors of this role, fused ones too */
    uint64_t seen[ROLES]; /* how many of a role came before */
} mixing;

static bool is_kept(const pli_tensor *t)
{
    static const char *const kept[] = {
#define KEPT(part) part,
#include "mixtures.def"
#undef KEPT
    };
    pli_str name = pli_s(t->name);
    if (t->dims < 2 || !pli_ends(name, "weight"))
        return true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (pli_contains(name, kept[i]))
            return true;
    return false;
}

static role role_of(const mixing *m, const pli_tensor *t)
{
    static const struct {
        const char *part;
        role role;
    } parts[] = {
        {"attn_kv_b.weight", VALUE},
        {"attn_v.weight", VALUE},
        {"attn_k.weight", KEY},
        {"attn_q.weight", QUERY},
        {"attn_output.weight", ATTENTION_OUT},
        {"ffn_up", UP},
        {"ffn_gate", GATE},
        {"ffn_down", DOWN},
    };
    pli_str name = pli_s(t->name);
    if (is_kept(t))
        return KEPT;
    if (pli_eq(name, "output.weight"))
        return OUTPUT;
    if (pli_eq(name, "token_embd.weight") || pli_eq(name, "per_layer_token_embd.weight"))
        return m->tied ? OUTPUT : EMBEDDING;
    if (pli_contains(name, "attn_qkv.weight"))
        return m->old ? FUSED : VALUE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (pli_contains(name, parts[i].part))
            return parts[i].role;
    return OTHER;
}

static bool more_bits(uint64_t i, uint64_t n)
{
    return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

/* The layer as the quantizer counts it: by the name where there are experts, else by how many of
 * the role came before. */
static uint64_t layer_of(const mixing *m, pli_str name, uint64_t seen)
{
    uint64_t layer;
    pli_str rest = pli_skip(name, 4);
    return m->experts > 1 && pli_starts(name, "blk.") && pli_parse_u64_prefix(&rest, &layer) ? layer
                                                                                             : seen;
}

static bool holds(const mixing *m, const rule *r, const pli_tensor *t)
{
    uint64_t n = m->layers, seen = r->role < ROLES ? m->seen[r->role] : 0;
    uint64_t layer = layer_of(m, pli_s(t->name), seen);
    switch (r->when) {
    case ALWAYS:
        return true;
    case NO_BLOCKS:
        return t->shape[0] % pli_quant_at(m->mixture->type)->block_elements != 0;
    case MANY_MATRICES:
        return t->shape[2] > 1;
    case FIRST_2:
        return seen < 2;
    case FIRST_4:
        return seen < 4;
    case FIRST_EIGHTH:
        return layer < n / 8;
    case FIRST_EIGHTH_COUNTED:
        return seen < n / 8;
    case FIRST_SIXTEENTH:
        return layer < n / 16;
    case MIDDLE:
        return layer >= n / 8 && layer < 7 * n / 8;
    case MORE_BITS:
        return r->role == VALUE ? more_bits(seen, m->values) : more_bits(layer, n);
    case MORE_BITS_OF_EIGHT:
        return m->experts == 8 && more_bits(layer, n);
    case GQA_4:
        return m->gqa >= 4;
    case GQA_4_OR_EXPERTS:
        return m->gqa >= 4 || m->experts >= 4;
    case EIGHT_EXPERTS:
        return m->experts == 8;
    case NOT_EIGHT_EXPERTS:
        return m->experts != 8;
    }
    return false;
}

/* ---- one tensor ------------------------------------------------------------------------------ */

static uint32_t instead_of(uint32_t type)
{
    switch (type) {
#define INSTEAD(from, to)                                                                          \
    case TYPE_##from:                                                                              \
        return TYPE_##to;
#include "mixtures.def"
#undef INSTEAD
    default:
        return type;
    }
}

static uint32_t choose(const mixing *m, role role_, const pli_tensor *t)
{
    uint32_t type = m->mixture->type;
    for (size_t i = 0; i < m->rules.count; i++) {
        const rule *r = &m->rules.at[i];
        if ((r->role == role_ || r->role == ROLES) && holds(m, r, t)) {
            type = r->type;
            break;
        }
    }
    if (role_ == VALUE && m->many_heads && (type == TYPE_Q3_K || type == TYPE_Q4_K))
        type = TYPE_Q5_K;
    return type;
}

static void set_type(pli_tensor *t, uint32_t type)
{
    uint64_t row;
    if (t->shape[0] % pli_quant_at(type)->block_elements)
        type = instead_of(type);
    if (t->shape[0] % pli_quant_at(type)->block_elements)
        type = TYPE_F16;
    const pli_quant *quant = pli_quant_at(type);
    t->type = type;
    t->type_name = quant->name;
    t->file_type = quant->ggml_id;
    t->bytes_known = pli_quant_row_bytes(quant, t->shape[0], &row) &&
                     pli_mul(row, t->elements / t->shape[0], &t->bytes);
}

static void mix_tensor(mixing *m, role role_, pli_tensor *t)
{
    bool quantized = pli_quant_at(m->mixture->type)->block_elements > 1;
    if (t->type == TYPE_F32 || (quantized && role_ == KEPT))
        return;
    set_type(t, quantized ? choose(m, role_, t) : m->mixture->type);
    m->seen[role_]++;
}

/* ---- a model --------------------------------------------------------------------------------- */

/* Models of 80 layers have eight heads to a value: more bits for it cost little. The smallest
 * mixtures know no such rule. */
static bool many_heads(const pli_mixture *mixture, const pli_model *model, uint64_t layers,
                       uint64_t gqa)
{
    pli_str arch, name = pli_s(mixture->name);
    if (layers != 80 || pli_starts(name, "IQ1") || pli_starts(name, "IQ2") ||
        !pli_model_str(model, "general.architecture", &arch))
        return false;
    return pli_eq(arch, "qwen2") || pli_eq(arch, "deci") || (pli_eq(arch, "llama") && gqa > 1);
}

/* The roles of a model's tensors, found once. NULL when out of memory. */
static const uint8_t *find_roles(mixing *m, pli_model *model)
{
    uint8_t *roles = pli_alloc_array(model->arena, model->tensor_count, sizeof *roles);
    m->tied = true;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (pli_eq(pli_s(model->tensors[i].name), "output.weight"))
            m->tied = false;
    for (size_t i = 0; roles && i < model->tensor_count; i++)
        roles[i] = (uint8_t)role_of(m, &model->tensors[i]);
    return roles;
}

static void start(mixing *m, const pli_model *model)
{
    uint64_t heads = pli_model_layer_number(model, "%s.attention.head_count", 0, 0);
    uint64_t kv = pli_model_layer_number(model, "%s.attention.head_count_kv", 0, heads);
    m->experts = pli_model_number(model, "%s.expert_count", 0);
    m->layers = pli_model_number(model, "%s.block_count", 0);
    m->gqa = kv ? heads / kv : 0;
    m->many_heads = many_heads(m->mixture, model, m->layers, m->gqa);
    select_rules(m->mixture, &m->rules);
    for (size_t i = 0; i < model->tensor_count; i++)
        m->values += model->roles[i] == VALUE || model->roles[i] == FUSED;
}

void pli_mixture_apply(const pli_mixture *mixture, bool old, pli_model *model)
{
    mixing m = {.mixture = mixture, .old = old};
    if (!model->roles)
        model->roles = find_roles(&m, model);
    if (!model->roles)
        return;
    start(&m, model);
    for (size_t i = 0; i < model->tensor_count; i++)
        mix_tensor(&m, (role)model->roles[i], &model->tensors[i]);
}
