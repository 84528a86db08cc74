/* Models for the planner's tests: headers of published models by their hyperparameters, without
 * data, and a fit of them. */
#ifndef PLI_TEST_MODELS_H
#define PLI_TEST_MODELS_H

#include <stdio.h>

#include "unit/model/make.h"
#include "unit/test.h"

/* Zero: the key is left out. */
typedef struct sketch {
    const char *arch;
    uint32_t layers, embedding, heads, heads_kv, head, feed_forward, vocabulary, trained;
    struct {
        const char *key; /* behind "ARCH." */
        uint32_t value;
    } more[12];
    bool tensors; /* all of a llama's, F16; else the embeddings alone */
} sketch;

static const sketch llama3_8b = {.arch = "llama",
                                 .layers = 32,
                                 .embedding = 4096,
                                 .heads = 32,
                                 .heads_kv = 8,
                                 .feed_forward = 14336,
                                 .vocabulary = 128256,
                                 .trained = 131072,
                                 .tensors = true};

static inline void sketch_key(maker *m, const sketch *s, const char *key, uint32_t value)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s.%s", s->arch, key);
    put_u32(m, name, value);
}

static inline uint64_t sketch_keys(maker *m, const sketch *s)
{
    const struct {
        const char *key;
        uint32_t value;
    } keys[] = {
        {"block_count", s->layers},
        {"embedding_length", s->embedding},
        {"attention.head_count", s->heads},
        {"attention.head_count_kv", s->heads_kv},
        {"attention.key_length", s->head},
        {"attention.value_length", s->head},
        {"feed_forward_length", s->feed_forward},
        {"vocab_size", s->vocabulary},
        {"context_length", s->trained},
    };
    uint64_t n = 1;
    put_string(m, "general.architecture", s->arch);
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i].value) {
            sketch_key(m, s, keys[i].key, keys[i].value);
            n++;
        }
    for (size_t i = 0; i < COUNT(s->more) && s->more[i].key; i++, n++)
        sketch_key(m, s, s->more[i].key, s->more[i].value);
    return n;
}

static inline void sketch_tensor(maker *m, const char *name, uint64_t a, uint64_t b,
                                 uint64_t *offset, uint64_t *n)
{
    enum { F16 = 1 };
    put_tensor(m, name, a, b, F16, *offset);
    *offset += (a * (b ? b : 1) * 2 + 31) / 32 * 32;
    (*n)++;
}

static inline uint64_t sketch_tensors(maker *m, const sketch *s)
{
    uint64_t offset = 0, n = 0, e = s->embedding, f = s->feed_forward;
    uint64_t kv = s->heads ? (uint64_t)s->heads_kv * (e / s->heads) : 0;
    sketch_tensor(m, "token_embd.weight", e, s->vocabulary, &offset, &n);
    if (!s->tensors)
        return n;
    sketch_tensor(m, "output_norm.weight", e, 0, &offset, &n);
    sketch_tensor(m, "output.weight", e, s->vocabulary, &offset, &n);
    const struct {
        const char *name;
        uint64_t a, b;
    } rows[] = {{"attn_norm", e, 0}, {"attn_q", e, e},      {"attn_k", e, kv},
                {"attn_v", e, kv},   {"attn_output", e, e}, {"ffn_norm", e, 0},
                {"ffn_gate", e, f},  {"ffn_up", e, f},      {"ffn_down", f, e}};
    for (unsigned il = 0; il < s->layers; il++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            char name[64];
            (void)snprintf(name, sizeof name, "blk.%u.%s.weight", il, rows[i].name);
            sketch_tensor(m, name, rows[i].a, rows[i].b, &offset, &n);
        }
    return n;
}

static inline plim_model *sketch_open(const sketch *s)
{
    maker keys = {0}, tensors = {0}, file = {0};
    plim_model *model = NULL;
    plim_error e = PLIM_ERROR_INIT;
    uint64_t key_count = sketch_keys(&keys, s), tensor_count = sketch_tensors(&tensors, s);
    put_header(&file, tensor_count, key_count);
    put_bytes(&file, keys.p, keys.n);
    put_bytes(&file, tensors.p, tensors.n);
    plim_status status = open_made(&file, &e, &model);
    if (status != PLIM_OK)
        print_error("%s: %s\n", s->arch, e.what);
    assert_int_equal(status, PLIM_OK);
    drop(&keys);
    drop(&tensors);
    drop(&file);
    return model;
}

/* The fit, or NULL with its status in *status. */
static inline plim_fit *fit_status(const sketch *s, const char *on, const plim_fit_options *options,
                                   plim_status *status, plim_error *e)
{
    plim_model *model = sketch_open(s);
    plim_machine *machine = NULL;
    plim_fit *fit = NULL;
    assert_int_equal(plim_machine_from_spec(NULL, on, e, &machine), PLIM_OK);
    *status = plim_fit_model(NULL, machine, model, options, e, &fit);
    plim_machine_free(machine);
    plim_model_free(model);
    return fit;
}

static inline plim_fit *fit_on(const sketch *s, const char *on, const plim_fit_options *options)
{
    plim_error e = PLIM_ERROR_INIT;
    plim_status status;
    plim_fit *fit = fit_status(s, on, options, &status, &e);
    if (status != PLIM_OK)
        print_error("%s: %s: %s\n", s->arch, e.subject, e.what);
    assert_int_equal(status, PLIM_OK);
    return fit;
}

static inline plim_fit_options fit_options(uint64_t context, uint64_t sequences)
{
    plim_fit_options o = PLIM_FIT_OPTIONS_INIT;
    o.engine = "llama.cpp@b7847";
    o.context = context;
    o.sequences = sequences;
    return o;
}

static inline const plim_placement *place(const plim_fit *fit, size_t i)
{
    assert_true(i < fit->placement.count);
    return fit->placement.items[i];
}

#endif
