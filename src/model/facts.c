/* What a model's header tells, as fields of the record. Right or left out: a figure that the
 * keys do not give exactly stays unknown, and "missing" says what it would need. */
#include <inttypes.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "arch.h"
#include "build.h"
#include "file_types.h"

/* Text from a file without control characters (a terminal would obey them) and with valid UTF-8. */
static const char *clean_text(pli_model *model, pli_str text)
{
    char *copy = pli_alloc_array(model->arena, text.n + 1, 1);
    if (copy)
        (void)pli_clean(text, copy, text.n + 1);
    return copy;
}

/* The last part of a path, which ends before `*end`; *end moves in front of it. */
static pli_str last_part(const char *path, size_t *end)
{
    size_t stop = *end, start;
    while (stop > 0 && path[stop - 1] == '/')
        stop--;
    for (start = stop; start > 0 && path[start - 1] != '/';)
        start--;
    *end = start;
    return (pli_str){path + start, stop - start};
}

/* "/a/Llama-3-8B.Q4_K_M-00001-of-00002.gguf" is "Llama-3-8B.Q4_K_M"; what is called "model" has its
 * directory's name. */
static pli_str name_of(const char *path)
{
    static const char *const endings[] = {".gguf", ".safetensors.index.json", ".safetensors"};
    size_t end = strlen(path);
    pli_str name = last_part(path, &end), part;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (pli_ends(name, endings[i])) {
            name.n -= strlen(endings[i]);
            break;
        }
    part = pli_skip(name, name.n > 15 ? name.n - 15 : name.n);
    if (pli_starts(part, "-") && pli_starts(pli_skip(part, 6), "-of-"))
        name.n -= 15;
    if (pli_eq(name, "model") && end > 0)
        part = last_part(path, &end);
    else
        part.n = 0;
    return part.n ? part : name;
}

static void tell_names(pli_model *model)
{
    plim_model *pub = &model->pub;
    pli_str text;
    if (pli_model_str(model, "general.architecture", &text) && text.n)
        PLI_SET_STR(model, pub, architecture, clean_text(model, text), NULL);
    if (!(pli_model_str(model, "general.name", &text) && pli_trim(text).n))
        text = name_of(model->path);
    PLI_SET_STR(model, pub, name, clean_text(model, pli_trim(text)), NULL);
}

/* ---- sums over the tensors ---- */

/* Bytes by tensor type, in the order of first use; the largest is the commonest. */
static void count_bytes(pli_arena *arena, plim_counts *counts, const char *type, uint64_t bytes)
{
    union {
        const plim_count *in;
        plim_count *out;
    } items = {.in = counts->items};
    size_t i = 0;
    while (i < counts->count && strcmp(items.in[i].name, type) != 0)
        i++;
    if (i == counts->count) {
        items.out = pli_grow_array(arena, items.out, counts->count, sizeof *items.out);
        if (!items.out)
            return;
        items.out[counts->count++] = (plim_count){type, 0};
        counts->items = items.out;
    }
    items.out[i].value = pli_add_sat(items.out[i].value, bytes);
}

/* The public records. They have no table of sources: all is said by the file. */
static void list_tensors(pli_model *model)
{
    plim_tensor *records = pli_alloc_array(model->arena, model->tensor_count, sizeof *records);
    const void **items = pli_alloc_array(model->arena, model->tensor_count, sizeof *items);
    for (size_t i = 0; records && items && i < model->tensor_count; i++) {
        const pli_tensor *t = &model->tensors[i];
        plim_tensor *r = &records[i];
        PLI_SET_STR(tensor, r, name, clean_text(model, pli_s(t->name)), NULL);
        PLI_SET(tensor, r, type, t->type_name, NULL);
        PLI_SET(tensor, r, shape, ((plim_u64s){t->shape, t->dims}), NULL);
        if (t->bytes_known)
            PLI_SET(tensor, r, bytes, t->bytes, NULL);
        items[i] = r;
    }
    model->items = (plim_items){items, items ? model->tensor_count : 0};
}

static void tell_tensors(pli_model *model)
{
    plim_model *pub = &model->pub;
    plim_counts by_type = {NULL, 0};
    uint64_t bytes = 0;
    const pli_tensor *unknown = NULL;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_tensor *t = &model->tensors[i];
        if (!t->bytes_known && !unknown)
            unknown = t;
        bytes = pli_add_sat(bytes, t->bytes);
        if (t->bytes_known)
            count_bytes(model->arena, &by_type, t->type_name, t->bytes);
    }
    PLI_SET(model, pub, tensors_count, model->tensor_count, NULL);
    PLI_SET(model, pub, tensor_bytes_by_type, by_type, NULL);
    if (unknown)
        pli_model_misses(model, "the size of tensors of type %s (number %" PRIu32 ")",
                         unknown->type_name, unknown->file_type);
    else if (!model->partial)
        PLI_SET(model, pub, tensor_bytes, bytes, NULL);
}

/* Types that llama.cpp does not read, named once each with who does. */
static void tell_engines(pli_model *model)
{
    const pli_quant *told = NULL;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_quant *q = pli_quant_at(model->tensors[i].type);
        if (!q || !q->engine || q == told)
            continue;
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = model->tensors[k].type == model->tensors[i].type;
        if (!before)
            pli_model_misses(model, "an engine that reads type %" PRIu32 " (%s): %s",
                             model->tensors[i].file_type, q->name, q->engine);
        told = q;
    }
}

/* Elements that are weights. Indices and masks are none; where several weights are packed into one
 * element of another type (GPTQ, AWQ, MXFP4) or come with scales, their number is not told. */
static bool sum_elements(const pli_model *model, uint64_t *out)
{
    uint64_t sum = 0;
    bool gguf = pli_is_gguf(model);
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_tensor *t = &model->tensors[i];
        pli_dtype dtype = gguf ? PLI_DTYPE_WEIGHTS : pli_quant_at(t->type)->dtype;
        if (dtype == PLI_DTYPE_PACKED)
            return false;
        if (dtype == PLI_DTYPE_WEIGHTS && !pli_add(sum, t->elements, &sum))
            return false;
    }
    *out = sum;
    return model->tensor_count > 0 && !model->partial;
}

/* A tensor of a layer that predicts further tokens: no part of what makes this one. */
static bool predicts(const pli_tensor *tensor, uint64_t trunk)
{
    pli_str name = pli_s(tensor->name);
    uint64_t layer;
    if (!pli_starts(name, "blk."))
        return false;
    name = pli_skip(name, 4);
    return pli_parse_u64_prefix(&name, &layer) && layer >= trunk;
}

typedef struct active {
    uint64_t experts;    /* elements of expert tensors of the trunk */
    uint64_t predicting; /* all elements of the layers behind it */
} active;

/* Expert tensors are blk.N.ffn_*_exps.*: the last dimension counts experts. False when one has
 * another form, so that it is not known what a token uses. */
static bool sum_active(const pli_model *model, uint64_t experts, uint64_t trunk, active *out)
{
    *out = (active){0, 0};
    for (size_t i = 0; i < model->tensor_count; i++) {
        const pli_tensor *t = &model->tensors[i];
        pli_str name = pli_s(t->name);
        bool routed = pli_contains(name, "_exps.");
        if (pli_contains(name, "_chexps."))
            return false;
        if (routed && (t->dims == 0 || t->shape[t->dims - 1] != experts))
            return false;
        uint64_t *sum = predicts(t, trunk) ? &out->predicting : routed ? &out->experts : NULL;
        if (sum && !pli_add(*sum, t->elements, sum))
            return false;
    }
    return out->experts > 0;
}

static void tell_parameters(pli_model *model)
{
    uint64_t all, experts, used;
    active sum;
    if (!sum_elements(model, &all)) {
        pli_model_misses(model, "the number of parameters");
        return;
    }
    PLI_SET(model, &model->pub, parameters, all, NULL);
    if (!pli_model_u64(model, "%s.expert_count", &experts) ||
        !pli_model_u64(model, "%s.expert_used_count", &used) || experts == 0 || used > experts ||
        !sum_active(model, experts, pli_arch_trunk(pli_arch_of(model), model), &sum))
        return;
    PLI_SET(model, &model->pub, active_parameters,
            all - sum.predicting - sum.experts / experts * (experts - used), NULL);
}

/* The type that takes most bytes, indices and masks of safetensors aside. */
static const char *commonest_type(const pli_model *model)
{
    const plim_counts *types = &model->pub.tensor_bytes_by_type;
    const plim_count *best = NULL;
    for (size_t i = 0; i < types->count; i++) {
        const pli_quant *q = pli_quant_by_name(pli_s(types->items[i].name));
        if (!pli_is_gguf(model) && q && q->dtype == PLI_DTYPE_NO_WEIGHTS)
            continue;
        if (!best || types->items[i].value > best->value)
            best = &types->items[i];
    }
    return best ? best->name : NULL;
}

/* The file's word where it has one. */
static void tell_quantization(pli_model *model)
{
    const char *word = NULL;
    uint64_t n;
    if (pli_model_u64(model, "general.file_type", &n))
        word = pli_file_type_name(n);
    if (!word && PLIM_KNOWN(model, &model->pub, tensor_bytes))
        word = commonest_type(model);
    PLI_SET_STR(model, &model->pub, quantization, word, NULL);
}

/* ---- keys ---- */

#define TELL(model, member_, key_)                                                                 \
    do {                                                                                           \
        uint64_t pli_n_;                                                                           \
        if (pli_model_u64((model), (key_), &pli_n_))                                               \
            PLI_SET(model, &(model)->pub, member_, pli_n_, NULL);                                  \
    } while (0)

static void tell_vocabulary(pli_model *model)
{
    const pli_value *tokens = pli_model_value(model, "tokenizer.ggml.tokens");
    const pli_tensor *table = pli_model_tensor(model, "token_embd.weight");
    if (tokens && tokens->type == PLI_VALUE_ARRAY)
        PLI_SET(model, &model->pub, vocabulary, tokens->count, NULL);
    else
        TELL(model, vocabulary, "%s.vocab_size");
    if (!PLIM_KNOWN(model, &model->pub, vocabulary) && table && table->dims == 2)
        PLI_SET(model, &model->pub, vocabulary, table->shape[1], NULL);
}

/* A key that is one number, or an array that says the same for every layer. */
static bool same_everywhere(const pli_model *model, const char *key, uint64_t *out)
{
    uint64_t layers = model->pub.layers, n;
    const pli_value *v = pli_model_value(model, key);
    if (!v || !pli_model_layer_u64(model, key, 0, out))
        return false;
    for (uint64_t i = 1; v->type == PLI_VALUE_ARRAY && i < layers; i++)
        if (!pli_model_layer_u64(model, key, i, &n) || n != *out)
            return false;
    return true;
}

/* Key/value heads by layer, where an array says that layers differ. */
static void tell_heads_by_layer(pli_model *model)
{
    uint64_t layers = model->pub.layers;
    const pli_value *v = pli_model_value(model, "%s.attention.head_count_kv");
    if (!v || v->type != PLI_VALUE_ARRAY || layers == 0 || layers > v->count ||
        layers > PLI_MAX_LAYERS)
        return;
    uint64_t *heads = pli_alloc_array(model->arena, (size_t)layers, sizeof *heads);
    for (uint64_t i = 0; heads && i < layers; i++)
        if (!pli_model_layer_u64(model, "%s.attention.head_count_kv", i, &heads[i]))
            return;
    if (heads)
        PLI_SET(model, &model->pub, heads_kv_by_layer, ((plim_u64s){heads, (size_t)layers}), NULL);
}

static void tell_heads(pli_model *model)
{
    plim_model *pub = &model->pub;
    uint64_t heads, kv, embedding;
    bool known = same_everywhere(model, "%s.attention.head_count", &heads);
    if (known)
        PLI_SET(model, pub, heads_count, heads, NULL);
    if (same_everywhere(model, "%s.attention.head_count_kv", &kv))
        PLI_SET(model, pub, heads_kv, kv, NULL);
    else if (pli_model_value(model, "%s.attention.head_count_kv"))
        tell_heads_by_layer(model);
    else if (known)
        PLI_SET(model, pub, heads_kv, heads, NULL); /* without the key every head has its own */
    TELL(model, heads_key_length, "%s.attention.key_length");
    TELL(model, heads_value_length, "%s.attention.value_length");
    if (!known || heads == 0 || !pli_model_u64(model, "%s.embedding_length", &embedding) ||
        embedding % heads)
        return;
    PLI_FILL(model, pub, heads_key_length, embedding / heads, NULL);
    PLI_FILL(model, pub, heads_value_length, embedding / heads, NULL);
}

/* The engine takes context_length as the context that the model was trained for, stretched or not:
 * the factor is told, and never multiplied into it. */
static void tell_rope(pli_model *model)
{
    plim_model *pub = &model->pub;
    pli_str type;
    double factor;
    if (pli_model_str(model, "%s.rope.scaling.type", &type) && type.n && !pli_eq(type, "none"))
        PLI_SET_STR(model, pub, rope_scaling_type, clean_text(model, type), NULL);
    if ((pli_model_f64(model, "%s.rope.scaling.factor", &factor) ||
         pli_model_f64(model, "%s.rope.scale_linear", &factor)) &&
        factor > 0)
        PLI_SET(model, pub, rope_scaling_factor, factor, NULL);
    TELL(model, rope_scaling_original, "%s.rope.scaling.original_context_length");
}

static void tell_keys(pli_model *model)
{
    uint64_t n;
    TELL(model, layers, "%s.block_count");
    TELL(model, context_trained, "%s.context_length");
    TELL(model, embedding_length, "%s.embedding_length");
    if (same_everywhere(model, "%s.feed_forward_length", &n))
        PLI_SET(model, &model->pub, feed_forward_length, n, NULL);
    TELL(model, experts_count, "%s.expert_count");
    TELL(model, experts_used, "%s.expert_used_count");
    TELL(model, experts_shared, "%s.expert_shared_count");
    tell_vocabulary(model);
    tell_heads(model);
    tell_rope(model);
}

void pli_model_facts(pli_model *model)
{
    tell_names(model);
    list_tensors(model);
    tell_tensors(model);
    tell_engines(model);
    tell_parameters(model);
    tell_keys(model);
    pli_model_tell_kinds(model);
    tell_quantization(model);
    if (!pli_is_gguf(model))
        pli_model_misses(model, "config.json: architecture, layers and heads are told there");
    else if (!PLIM_KNOWN(model, &model->pub, architecture))
        pli_model_misses(model, "general.architecture: without it no key of the model can be told");
}
