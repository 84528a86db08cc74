/* A model of one GGUF file or of all files of a split one: NAME-00001-of-00003.gguf, of which
 * the first holds the keys. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "../base/reader.h"
#include "../base/status.h"
#include "build.h"

/* What the keys of one file say of the split it belongs to. */
struct split {
    bool is_part;
    uint64_t number; /* from 0 */
    uint64_t count;
};

static plim_status read_split(const pli_gguf *g, const char *subject, plim_error *error,
                              struct split *out)
{
    const pli_value *count = pli_values_find(g->values, g->value_count, pli_s("split.count"));
    const pli_value *number = pli_values_find(g->values, g->value_count, pli_s("split.no"));
    *out = (struct split){false, 0, 1};
    if (!count)
        return PLIM_OK;
    if (!pli_value_u64(count, &out->count))
        return pli_fail(error, PLIM_PARSE, subject, count->at, "split.count is no whole number");
    if (out->count > PLI_MAX_MODEL_SPLITS)
        return pli_fail(error, PLIM_LIMIT, subject, count->at,
                        "split.count is %" PRIu64 "; at most %u files are read", out->count,
                        PLI_MAX_MODEL_SPLITS);
    if (number && !pli_value_u64(number, &out->number))
        return pli_fail(error, PLIM_PARSE, subject, number->at, "split.no is no whole number");
    if (number && out->number >= out->count && out->count > 1)
        return pli_fail(error, PLIM_PARSE, subject, number->at,
                        "split.no is %" PRIu64 " of %" PRIu64 " files", out->number, out->count);
    out->is_part = out->count > 1;
    return PLIM_OK;
}

/* Path of file number `i` (from 0) beside `path`, which is one of them; NULL when path is not
 * named like a part. */
static char *part_path(pli_arena *arena, const char *path, uint64_t i, uint64_t count)
{
    char tail[64];
    pli_str name = pli_s(path);
    /* "-00001-of-00003.gguf": the number is not compared, so that any part leads to all */
    (void)snprintf(tail, sizeof tail, "-of-%05" PRIu64 ".gguf", count);
    size_t tail_length = strlen(tail);
    if (name.n < tail_length + 6 || !pli_ends(name, tail))
        return NULL;
    pli_str stem = {name.p, name.n - tail_length - 6};
    pli_str number = {stem.p + stem.n, 6};
    uint64_t n;
    pli_str digits = pli_skip(number, 1);
    if (number.p[0] != '-' || !pli_parse_u64_prefix(&digits, &n) || digits.n)
        return NULL;
    return pli_printf(arena, "%.*s-%05" PRIu64 "%s", (int)stem.n, stem.p, i + 1, tail);
}

/* The keys of the only or first file, and its form. */
static void tell_header(pli_model *model, const pli_gguf *g)
{
    plim_model *pub = &model->pub;
    model->values = g->values;
    model->value_count = g->value_count;
    PLI_SET(model, pub, format, "gguf", NULL);
    PLI_SET_STR(model, pub, format_version, pli_printf(model->arena, "%" PRIu32, g->version), NULL);
    if (g->big_endian)
        PLI_SET(model, pub, byte_order, "big", NULL);
}

/* Adds a file's tensors. A table grows by pli_grow_array() from its first reader on, so that the
 * first one with tensors is simply taken over. */
static void append_tensors(pli_model *model, const pli_gguf *g)
{
    if (model->tensor_count == 0) {
        model->tensors = g->tensors;
        model->tensor_count = g->tensor_count;
        return;
    }
    for (size_t i = 0; i < g->tensor_count; i++) {
        pli_tensor *all = pli_grow_array(model->arena, model->tensors, model->tensor_count,
                                         sizeof *model->tensors);
        if (!all)
            return;
        model->tensors = all;
        all[model->tensor_count++] = g->tensors[i];
    }
}

/* Adds one file's tensors and bytes, and says what of its data is absent. */
static void add_file(pli_model *model, const pli_gguf *g, const char *name)
{
    char absent[32];
    uint64_t wanted = pli_add_sat(g->data_start, g->data_bytes);
    model->pub.file_bytes = pli_add_sat(model->pub.file_bytes, g->file_bytes);
    if (g->data_bytes && g->file_bytes < wanted) {
        PLI_SET(model, &model->pub, data_present, false, NULL);
        pli_model_misses(
            model, "tensor data: %s has %" PRIu64 " of %" PRIu64 " bytes, %s are absent", name,
            g->file_bytes, wanted, plim_bytes_text(wanted - g->file_bytes, absent, sizeof absent));
    }
    append_tensors(model, g);
}

static plim_status check_part(const pli_gguf *g, const char *path, uint64_t i, uint64_t count,
                              plim_error *error)
{
    struct split split;
    plim_status status = read_split(g, path, error, &split);
    if (status != PLIM_OK)
        return status;
    if (split.count != count || split.number != i)
        return pli_fail(error, PLIM_PARSE, path, PLIM_NO_OFFSET,
                        "its keys call it file %" PRIu64 " of %" PRIu64 ", its name file %" PRIu64
                        " of %" PRIu64,
                        split.number + 1, split.count, i + 1, count);
    return PLIM_OK;
}

/* Opens, reads and checks file number i. */
static plim_status read_part(pli_model *model, const char *path, uint64_t i, uint64_t count,
                             plim_error *error, pli_gguf *g)
{
    plim_reader reader;
    plim_status status = model->files->open(model->files->user, path, &reader, error);
    if (status == PLIM_NOT_FOUND)
        return pli_fail(error, status, path, PLIM_NO_OFFSET,
                        "file %" PRIu64 " of a model of %" PRIu64 " files is missing", i + 1,
                        count);
    if (status != PLIM_OK)
        return status;
    status = pli_gguf_read(&reader, model->arena, (uint32_t)i, error, g);
    model->files->close(model->files->user, &reader);
    return status == PLIM_OK ? check_part(g, path, i, count, error) : status;
}

/* The sum that the first file promises; absent in files of other splitters. */
static plim_status check_total(const pli_model *model, const char *path, plim_error *error)
{
    const pli_value *v =
        pli_values_find(model->values, model->value_count, pli_s("split.tensors.count"));
    uint64_t n;
    if (!v || (pli_value_u64(v, &n) && n == model->tensor_count))
        return PLIM_OK;
    return pli_fail(error, PLIM_PARSE, path, v->at,
                    "split.tensors.count does not agree with the %zu tensors of the files",
                    model->tensor_count);
}

/* All files of a split; `named` is what `path`, one of them, holds and is not read again. */
static plim_status read_parts(pli_model *model, const char *path, const struct split *split,
                              pli_gguf *named, plim_error *error)
{
    for (uint64_t i = 0; i < split->count; i++) {
        pli_gguf other, *g = &other;
        plim_status status = PLIM_OK;
        const char *part = part_path(model->arena, path, i, split->count);
        if (!part)
            return pli_fail(error, PLIM_PARSE, path, PLIM_NO_OFFSET,
                            "a part of %" PRIu64 " files that is not named NAME-00001-of-%05" PRIu64
                            ".gguf",
                            split->count, split->count);
        if (i == split->number && strcmp(part, path) == 0) {
            g = named;
            for (size_t k = 0; k < g->tensor_count; k++)
                g->tensors[k].file = (uint32_t)i;
        } else {
            status = read_part(model, part, i, split->count, error, g);
        }
        if (status != PLIM_OK)
            return status;
        if (i == 0) {
            model->path = part;
            tell_header(model, g);
        }
        add_file(model, g, part);
    }
    return check_total(model, model->path, error);
}

bool pli_is_gguf(const pli_model *model)
{
    return strcmp(model->pub.format, "gguf") == 0;
}

plim_status pli_gguf_model(pli_model *model, const plim_reader *reader, const char *path,
                           plim_error *error)
{
    pli_gguf g = {.version = 0};
    struct split split;
    PLI_SET(model, &model->pub, data_present, true, NULL);
    plim_status status = pli_gguf_read(reader, model->arena, 0, error, &g);
    if (status == PLIM_OK)
        status = read_split(&g, reader->name, error, &split);
    if (status == PLIM_OK && split.is_part && path) {
        status = read_parts(model, path, &split, &g, error);
    } else if (status == PLIM_OK) {
        tell_header(model, &g);
        add_file(model, &g, reader->name);
        model->partial = split.is_part;
        if (split.is_part)
            pli_model_misses(model, "the other %" PRIu64 " files of the split model",
                             split.count - 1);
    }
    if (status != PLIM_OK)
        return status;
    if (split.count > 1)
        PLI_SET(model, &model->pub, splits, split.count, NULL);
    PLI_SET(model, &model->pub, file_bytes, model->pub.file_bytes, NULL);
    return PLIM_OK;
}
