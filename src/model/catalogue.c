#include "catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "../base/context.h"
#include "../base/limits.h"
#include "../base/near.h"
#include "../base/num.h"
#include "../base/status.h"
#include "blueprint.h"
#include "build.h"

/* ---- the table ------------------------------------------------------------------------------- */

const pli_known_model *pli_known_model_at(size_t i)
{
    enum {
#define PART(name, where) name = PLI_PART_##name,
#include "blueprint.def"
#undef PART
        NO_MORE = PLI_PART_EMBEDDING /* which all have */
    };
#define MODEL(name, others, title, arch, source, date, parameters, words, ...)                     \
    {name, others, title, arch, source, date, parameters, words, {__VA_ARGS__, PLI_PARTS}},
    static const pli_known_model models[] = {
#include "catalogue.def"
    };
#undef MODEL
    return i < sizeof models / sizeof *models ? &models[i] : NULL;
}

const pli_mixture *pli_known_model_mixture(const pli_known_model *known, size_t i)
{
    const pli_mixture *mixture;
    if (strcmp(known->architecture, "gpt-oss") == 0) /* its experts come in MXFP4 */
        return i ? NULL : pli_mixture_find(PLI_LIT("MXFP4_MOE"));
    for (size_t k = 0; (mixture = pli_mixture_at(k)) != NULL; k++)
        if (mixture->usual && i-- == 0)
            return mixture;
    return NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

#define MAX_NAME 128u
typedef struct canonical {
    char text[MAX_NAME];
    size_t n;
} canonical;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Lower case; one hyphen for whatever separates words, and between a letter and a figure:
 * "gemma3:4b" and "Gemma 3 4B" are both "gemma-3-4b". Too long a name is cut: no row is that
 * long. */
static void canonize(pli_str name, canonical *out)
{
    bool gap = false;
    out->n = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] + 32) : name.p[i];
        if (!is_lower(c) && !is_digit(c) && c != '.') {
            gap = out->n > 0;
            continue;
        }
        gap |= out->n && is_lower(out->text[out->n - 1]) && is_digit(c);
        if (out->n + gap + 1 >= MAX_NAME)
            break;
        if (gap)
            out->text[out->n++] = '-';
        out->text[out->n++] = c;
        gap = false;
    }
    out->text[out->n] = '\0';
}

/* Takes "-word" (or the word alone) off the end. */
static bool take_word(canonical *name, const char *word)
{
    canonical wanted;
    canonize(pli_s(word), &wanted);
    size_t n = wanted.n;
    if (name->n <= n + 1 || memcmp(name->text + name->n - n, wanted.text, n) != 0 ||
        name->text[name->n - n - 1] != '-')
        return false;
    name->n -= n + 1;
    name->text[name->n] = '\0';
    return true;
}

static bool is_named(const pli_known_model *known, const canonical *wanted)
{
    canonical have;
    pli_str others = pli_s(known->others), other;
    canonize(pli_s(known->name), &have);
    bool same = strcmp(have.text, wanted->text) == 0;
    while (!same && pli_next_word(&others, &other)) {
        canonize(other, &have);
        same = strcmp(have.text, wanted->text) == 0;
    }
    return same;
}

static const pli_known_model *find_exactly(const canonical *wanted)
{
    const pli_known_model *known;
    for (size_t i = 0; (known = pli_known_model_at(i)) != NULL; i++)
        if (is_named(known, wanted))
            return known;
    return NULL;
}

/* ... also without the words that say which training, format or maker. */
static const pli_known_model *find_loosely(canonical wanted)
{
    static const char *const noise[] = {"gguf", "latest", "instruct", "it", "chat", "hf", "ud"};
    for (;;) {
        const pli_known_model *known = find_exactly(&wanted);
        bool shorter = false;
        for (size_t i = 0; !known && !shorter && i < sizeof noise / sizeof *noise; i++)
            shorter = take_word(&wanted, noise[i]);
        if (known || !shorter)
            return known;
    }
}

/* "Qwen/Qwen3-8B-GGUF:Q4_K_M" without its owner. */
static pli_str without_owner(pli_str name)
{
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == '/')
            return pli_skip(name, i);
    return name;
}

const pli_known_model *pli_known_model_find(pli_str name, const pli_mixture **mixture)
{
    canonical wanted;
    canonize(without_owner(pli_trim(name)), &wanted);
    *mixture = NULL;
    const pli_known_model *known = find_loosely(wanted);
    const pli_mixture *candidate, *longest = NULL;
    for (size_t i = 0; !known && (candidate = pli_mixture_at(i)) != NULL; i++) {
        canonical shorter = wanted; /* "q4_k_s" ends in no other name, but "mxfp4_moe" might */
        if (take_word(&shorter, candidate->name) &&
            (!longest || strlen(candidate->name) > strlen(longest->name)))
            longest = candidate;
    }
    if (!known && take_word(&wanted, "mxfp4"))
        longest = pli_mixture_find(PLI_LIT("MXFP4_MOE"));
    else if (longest)
        (void)take_word(&wanted, longest->name);
    if (!known && longest)
        known = find_loosely(wanted);
    *mixture = known ? longest : NULL;
    return known;
}

/* ---- what to propose ------------------------------------------------------------------------- */

#define PROPOSALS 3u

/* How far a name is: letters to change, but a part of a name is near. */
static size_t distance_to(pli_str name, const canonical *wanted)
{
    canonical have;
    canonize(name, &have);
    size_t far = pli_distance(pli_s(have.text), pli_s(wanted->text));
    return pli_contains(pli_s(have.text), wanted->text) ? far / 4 : far;
}

/* ... the nearest of a row's names. */
static size_t distance(const pli_known_model *known, const canonical *wanted)
{
    pli_str others = pli_s(known->others), other;
    size_t far = distance_to(pli_s(known->name), wanted);
    while (pli_next_word(&others, &other)) {
        size_t here = distance_to(other, wanted);
        far = here < far ? here : far;
    }
    return far;
}

/* Puts a row among the nearest so far, which are sorted. */
static void propose(const pli_known_model *known, size_t far, const pli_known_model *near[],
                    size_t distances[])
{
    size_t k = PROPOSALS;
    for (; k > 0 && (!near[k - 1] || far < distances[k - 1]); k--) {
        if (k == PROPOSALS)
            continue;
        near[k] = near[k - 1];
        distances[k] = distances[k - 1];
    }
    if (k == PROPOSALS)
        return;
    near[k] = known;
    distances[k] = far;
}

plim_status pli_known_model_unknown(const char *name, plim_error *error)
{
    const pli_known_model *near[PROPOSALS] = {NULL}, *known;
    size_t distances[PROPOSALS];
    canonical wanted;
    canonize(without_owner(pli_s(name)), &wanted);
    for (size_t i = 0; (known = pli_known_model_at(i)) != NULL; i++) {
        size_t far = distance(known, &wanted);
        if (far <= wanted.n / 3)
            propose(known, far, near, distances);
    }
    return pli_fail(error, PLIM_NOT_FOUND, name, PLIM_NO_OFFSET,
                    "neither a file nor a model of the catalogue%s%s%s%s%s%s%s",
                    near[0] ? "; did you mean " : "", near[0] ? near[0]->name : "",
                    near[1] ? near[2] ? ", " : " or " : "", near[1] ? near[1]->name : "",
                    near[2] ? " or " : "", near[2] ? near[2]->name : "", near[0] ? "?" : "");
}

/* ---- words to keys --------------------------------------------------------------------------- */

typedef enum form { NUMBER, REAL, FLAGS, NUMBERS } form;
static const struct word {
    const char *name;
    form form;
    const char *key, *second;
} words[] = {
    {"base", REAL, "rope.freq_base", NULL},
    {"context", NUMBER, "context_length", NULL},
    {"conv", NUMBER, "ssm.conv_kernel", NULL},
    {"deepstack", NUMBER, "n_deepstack_layers", NULL},
    {"dense", NUMBER, "leading_dense_block_count", NULL},
    {"eps", REAL, "attention.layer_norm_rms_epsilon", NULL},
    {"experts", NUMBER, "expert_count", NULL},
    {"ff", NUMBER, "feed_forward_length", NULL},
    {"gating", NUMBER, "expert_gating_func", NULL},
    {"groups", NUMBER, "ssm.group_count", NULL},
    {"head", NUMBER, "attention.key_length", "attention.value_length"},
    {"head_swa", NUMBER, "attention.key_length_swa", "attention.value_length_swa"},
    {"heads", NUMBER, "attention.head_count", NULL},
    {"inner", NUMBER, "ssm.inner_size", NULL},
    {"inputs", NUMBER, "embedding_length_per_layer_input", NULL},
    {"interval", NUMBER, "full_attention_interval", NULL},
    {"key", NUMBER, "attention.key_length", NULL},
    {"key_mla", NUMBER, "attention.key_length_mla", NULL},
    {"kv", NUMBER, "attention.head_count_kv", NULL},
    {"kv_rank", NUMBER, "attention.kv_lora_rank", NULL},
    {"layer_eps", REAL, "attention.layer_norm_epsilon", NULL},
    {"layers", NUMBER, "block_count", NULL},
    {"nextn", NUMBER, "nextn_predict_layers", NULL},
    {"pattern", FLAGS, "attention.sliding_window_pattern", NULL},
    {"q_rank", NUMBER, "attention.q_lora_rank", NULL},
    {"rank", NUMBER, "ssm.time_step_rank", NULL},
    {"rope", NUMBER, "rope.dimension_count", NULL},
    {"rope_swa", NUMBER, "rope.dimension_count_swa", NULL},
    {"scale", REAL, "expert_weights_scale", NULL},
    {"sections", NUMBERS, "rope.dimension_sections", NULL},
    {"sff", NUMBER, "expert_shared_feed_forward_length", NULL},
    {"shared", NUMBER, "expert_shared_count", NULL},
    {"shared_kv", NUMBER, "attention.shared_kv_layers", NULL},
    {"state", NUMBER, "ssm.state_size", NULL},
    {"used", NUMBER, "expert_used_count", NULL},
    {"value", NUMBER, "attention.value_length", NULL},
    {"value_mla", NUMBER, "attention.value_length_mla", NULL},
    {"vocab", NUMBER, "vocab_size", NULL},
    {"width", NUMBER, "embedding_length", NULL},
    {"window", NUMBER, "attention.sliding_window", NULL},
    {"xff", NUMBER, "expert_feed_forward_length", NULL},
};

typedef struct writing {
    pli_model *model;
    const pli_known_model *known;
    uint64_t layers;
} writing;

/* A value of this key, new or the one that is there: later words count. */
static pli_value *value_of(writing *w, const char *key)
{
    pli_model *model = w->model;
    for (size_t i = 0; key && i < model->value_count; i++)
        if (pli_eq(model->values[i].key, key))
            return &model->values[i];
    pli_value *values =
        pli_grow_array(model->arena, model->values, model->value_count, sizeof *values);
    if (!values || !key)
        return NULL;
    model->values = values;
    pli_value *value = &values[model->value_count++];
    memset(value, 0, sizeof *value);
    value->key = pli_s(key);
    return value;
}

static pli_value *own_value(writing *w, pli_str key)
{
    return value_of(
        w, pli_printf(w->model->arena, "%s.%.*s", w->known->architecture, (int)key.n, key.p));
}

static void put_text(writing *w, const char *key, const char *text)
{
    pli_value *value = value_of(w, key);
    if (!value || !text)
        return;
    value->type = PLI_VALUE_STRING;
    value->as.text = pli_s(text);
    value->count = value->as.text.n;
}

static void put_number(pli_value *value, uint64_t number)
{
    if (!value)
        return;
    value->type = PLI_VALUE_U32;
    value->as.u = number;
}

/* The next number of "16*5,4", and how often it stands there. */
static bool next_item(pli_str *list, uint64_t *number, uint64_t *times)
{
    pli_str item, first, count;
    *times = 1;
    if (!pli_next_part(list, ',', &item))
        return false;
    if (pli_key_value(item, '*', &first, &count))
        return pli_parse_u64(first, number) && pli_parse_u64(count, times);
    return pli_parse_u64(item, number);
}

/* "16*5,4" until there is a number for each of `count` places. */
static void put_list(writing *w, pli_value *value, pli_str list, form form_, uint64_t count)
{
    uint64_t *items = pli_alloc_array(w->model->arena, (size_t)count, sizeof *items);
    uint64_t number, times, n = 0;
    if (!value || !items)
        return;
    for (pli_str rest = list; n < count; rest = rest.n ? rest : list) {
        if (!next_item(&rest, &number, &times) || times == 0)
            return;
        for (; times && n < count; times--)
            items[n++] = number;
    }
    value->type = PLI_VALUE_ARRAY;
    value->item_type = form_ == FLAGS ? PLI_VALUE_BOOL : PLI_VALUE_U32;
    value->count = n;
    value->items = items;
}

static uint64_t count_items(pli_str list)
{
    uint64_t number, times, n = 0;
    while (next_item(&list, &number, &times))
        n += times;
    return n;
}

static void put(writing *w, pli_str key, form form_, pli_str text)
{
    uint64_t number;
    double real;
    pli_value *value = own_value(w, key);
    if (!value)
        return;
    if (form_ == NUMBERS) {
        put_list(w, value, text, form_, count_items(text));
    } else if (form_ == FLAGS || pli_contains(text, ",")) {
        put_list(w, value, text, form_, w->layers);
    } else if (form_ == NUMBER && pli_parse_u64(text, &number)) {
        put_number(value, number);
    } else if (pli_parse_f64(text, &real)) {
        value->type = PLI_VALUE_F32;
        value->as.f = real;
    }
}

static void put_word(writing *w, pli_str word, pli_str text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pli_eq(word, words[i].name)) {
            put(w, pli_s(words[i].key), words[i].form, text);
            if (words[i].second)
                put(w, pli_s(words[i].second), words[i].form, text);
            return;
        }
    put(w, word, NUMBER, text);
}

static uint64_t layers_of(const pli_known_model *known)
{
    pli_str rest = pli_s(known->words), word, text;
    uint64_t layers = 0;
    while (pli_next_word(&rest, &word) && pli_next_word(&rest, &text))
        if (pli_eq(word, "layers"))
            (void)pli_parse_u64(text, &layers);
    return layers;
}

static int by_key(const void *a, const void *b)
{
    return pli_compare(((const pli_value *)a)->key, ((const pli_value *)b)->key);
}

static void write_values(pli_model *model, const pli_known_model *known)
{
    writing w = {model, known, layers_of(known)};
    pli_str rest = pli_s(known->words), word, text;
    put_text(&w, "general.architecture", known->architecture);
    put_text(&w, "general.name", known->title);
    put_text(&w, "general.source.url",
             pli_printf(model->arena, "https://huggingface.co/%s", known->source));
    put_number(value_of(&w, "general.file_type"), 0);
    while (pli_next_word(&rest, &word) && pli_next_word(&rest, &text))
        put_word(&w, word, text);
    if (model->values)
        qsort(model->values, model->value_count, sizeof *model->values, by_key);
}

/* ---- the model ------------------------------------------------------------------------------- */

plim_status pli_known_model_draw(const plim_allocator *allocator, const pli_known_model *known,
                                 plim_error *error, pli_model **out)
{
    pli_model *model = pli_model_new(allocator);
    *out = NULL;
    if (!model)
        return pli_fail(error, PLIM_NOMEM, known->name, PLIM_NO_OFFSET, "out of memory");
    uint64_t parts = 0;
    for (const uint8_t *part = known->parts; *part != PLI_PARTS; part++)
        parts |= PLI_PART_BIT(*part);
    PLI_SET(model, &model->pub, format, "gguf", NULL);
    PLI_SET(model, &model->pub, catalogue, known->name, NULL);
    PLI_SET(model, &model->pub, released, known->released, NULL);
    model->path = known->name;
    write_values(model, known);
    if (!pli_arena_failed(model->arena) && pli_blueprint_draw(model, parts) &&
        !pli_arena_failed(model->arena)) {
        *out = model;
        return PLIM_OK;
    }
    bool full = pli_arena_failed(model->arena);
    plim_model_free(&model->pub);
    return pli_fail(error, full ? PLIM_NOMEM : PLIM_INTERNAL, known->name, PLIM_NO_OFFSET, "%s",
                    full ? "out of memory" : "the catalogue's row gives no model");
}

/* February 2026: fused queries, keys and values are treated as values since. */
static bool is_old(const pli_known_model *known)
{
    return strcmp(known->released, "2026-02-01") < 0;
}

void pli_known_model_quantize(const pli_known_model *known, const pli_mixture *mixture,
                              pli_model *model)
{
    pli_value *type = bsearch(&(pli_value){.key = PLI_LIT("general.file_type")}, model->values,
                              model->value_count, sizeof *model->values, by_key);
    put_number(type, mixture->file_type);
    pli_mixture_apply(mixture, is_old(known), model);
    const char *path = pli_printf(model->arena, "%s-%s.gguf", known->name, mixture->name);
    model->path = path ? path : known->name;
}

static plim_status name_model(const char *name, const pli_known_model **known,
                              const pli_mixture **mixture, plim_error *error)
{
    *known = pli_known_model_find(pli_s(name), mixture);
    if (!*known)
        return pli_known_model_unknown(name, error);
    for (size_t i = 0; !*mixture; i++) { /* what most people take */
        const pli_mixture *next = pli_known_model_mixture(*known, i);
        if (strcmp(next->name, "Q4_K_M") == 0 || !pli_known_model_mixture(*known, i + 1))
            *mixture = next;
    }
    return PLIM_OK;
}

plim_status plim_model_from_catalogue(plimsoll *context, const char *name, plim_error *error,
                                      plim_model **out)
{
    const pli_known_model *known;
    const pli_mixture *mixture;
    pli_model *model;
    if (!out)
        return PLIM_INVALID;
    *out = NULL;
    if (!context || !name)
        return PLIM_INVALID;
    plim_status status = name_model(name, &known, &mixture, error);
    if (status == PLIM_OK)
        status = pli_known_model_draw(pli_context_allocator(context), known, error, &model);
    if (status != PLIM_OK)
        return status;
    pli_known_model_quantize(known, mixture, model);
    status = pli_model_finish(model, error);
    if (status == PLIM_OK)
        *out = &model->pub;
    else
        plim_model_free(&model->pub);
    return status;
}
