/* A model of one safetensors file, or of the files that an index names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json.h"
#include "../base/limits.h"
#include "../base/num.h"
#include "../base/reader.h"
#include "../base/status.h"
#include "build.h"
#include "safetensors.h"

/* ---- the index: weight_map says which file each tensor is in ---- */

struct mapped {
    pli_str name;
    uint32_t shard;
    bool found;
    uint64_t at; /* of its name in the index */
};

struct index {
    const plim_reader *reader;
    pli_model *model;
    plim_error *error;
    char *text; /* the document's strings point into it */
    size_t length;
    yyjson_doc *doc;
    struct mapped *tensors; /* sorted by name */
    size_t tensor_count;
    const char **shards; /* file names, sorted */
    size_t shard_count;
};

static plim_status fail_memory(const struct index *x)
{
    return pli_fail(x->error, PLIM_NOMEM, x->reader->name, PLIM_NO_OFFSET, "out of memory");
}

/* A shard stands beside the index: anything that leads elsewhere is refused. */
static bool plain_name(pli_str name)
{
    return name.n > 0 && name.n < 256 && !memchr(name.p, '/', name.n) &&
           !memchr(name.p, '\\', name.n) && !memchr(name.p, '\0', name.n) &&
           !memchr(name.p, ':', name.n) && name.p[0] != '.';
}

static int by_text(const void *a, const void *b)
{
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

static int by_mapped_name(const void *a, const void *b)
{
    const struct mapped *x = a, *y = b;
    return pli_compare(x->name, y->name);
}

/* The files' names, each once. */
static plim_status list_shards(struct index *x, yyjson_val *map)
{
    size_t i, max, kept = 0, count = yyjson_obj_size(map);
    yyjson_val *key, *file;
    x->shards = pli_alloc_array(x->model->arena, count, sizeof *x->shards);
    if (!x->shards)
        return fail_memory(x);
    yyjson_obj_foreach(map, i, max, key, file)
    {
        uint64_t at = (uint64_t)(yyjson_get_str(key) - x->text);
        pli_str name = {yyjson_get_str(file), yyjson_get_len(file)};
        if (!yyjson_is_str(file) || !plain_name(name))
            return pli_fail(x->error, PLIM_PARSE, x->reader->name, at,
                            "%.100s: its file is no plain file name", yyjson_get_str(key));
        x->shards[i] = yyjson_get_str(file);
    }
    if (count)
        qsort(x->shards, count, sizeof *x->shards, by_text);
    for (i = 0; i < count; i++)
        if (i == 0 || strcmp(x->shards[kept - 1], x->shards[i]) != 0)
            x->shards[kept++] = x->shards[i];
    x->shard_count = kept;
    if (kept > PLI_MAX_MODEL_SPLITS)
        return pli_fail(x->error, PLIM_LIMIT, x->reader->name, PLIM_NO_OFFSET,
                        "%zu files; at most %u are read", kept, PLI_MAX_MODEL_SPLITS);
    return PLIM_OK;
}

static plim_status list_tensors(struct index *x, yyjson_val *map)
{
    size_t i, max, count = yyjson_obj_size(map);
    yyjson_val *key, *file;
    x->tensors = pli_alloc_array(x->model->arena, count, sizeof *x->tensors);
    if (!x->tensors)
        return fail_memory(x);
    yyjson_obj_foreach(map, i, max, key, file)
    {
        const char *name = yyjson_get_str(file);
        const char **shard = bsearch(&name, x->shards, x->shard_count, sizeof *x->shards, by_text);
        x->tensors[i] = (struct mapped){
            .name = {yyjson_get_str(key), yyjson_get_len(key)},
            .shard = (uint32_t)(shard - x->shards),
            .at = (uint64_t)(yyjson_get_str(key) - x->text),
        };
    }
    x->tensor_count = count;
    if (count)
        qsort(x->tensors, count, sizeof *x->tensors, by_mapped_name);
    for (i = 1; i < count; i++)
        if (pli_same(x->tensors[i - 1].name, x->tensors[i].name))
            return pli_fail(x->error, PLIM_PARSE, x->reader->name, x->tensors[i].at,
                            "a tensor stands in the index twice");
    return PLIM_OK;
}

static plim_status read_index(struct index *x)
{
    const plim_allocator *allocator = pli_arena_allocator(x->model->arena);
    if (x->reader->size > PLI_MAX_JSON)
        return pli_fail(x->error, PLIM_LIMIT, x->reader->name, PLIM_NO_OFFSET,
                        "an index of more than %u bytes", PLI_MAX_JSON);
    x->length = (size_t)x->reader->size;
    x->text = pli_hook_resize(allocator, NULL, 0, x->length + PLI_JSON_PADDING);
    if (!x->text)
        return fail_memory(x);
    plim_status status = pli_reader_exact(x->reader, 0, x->text, x->length, x->error);
    if (status == PLIM_OK)
        status = pli_json_read_in_place(allocator, x->text, x->length, PLI_MAX_JSON_DEPTH,
                                        x->reader->name, 0, x->error, &x->doc);
    if (status != PLIM_OK)
        return status;
    yyjson_val *map = yyjson_obj_get(yyjson_doc_get_root(x->doc), "weight_map");
    if (!yyjson_is_obj(map) || yyjson_obj_size(map) == 0)
        return pli_fail(x->error, PLIM_PARSE, x->reader->name, PLIM_NO_OFFSET,
                        "the index has no weight_map");
    status = list_shards(x, map);
    return status == PLIM_OK ? list_tensors(x, map) : status;
}

/* ---- the files ---- */

/* Adds what the index puts into this file; what else the file holds is counted in *unnamed. */
static void add_mapped(struct index *x, const pli_safetensors *s, uint32_t shard, size_t *unnamed)
{
    pli_model *model = x->model;
    for (size_t i = 0; i < s->tensor_count; i++) {
        struct mapped wanted = {.name = pli_s(s->tensors[i].name)};
        struct mapped *found =
            bsearch(&wanted, x->tensors, x->tensor_count, sizeof wanted, by_mapped_name);
        if (!found || found->shard != shard || found->found) {
            (*unnamed)++;
            continue;
        }
        found->found = true;
        model->tensors[model->tensor_count++] = s->tensors[i];
    }
}

static plim_status read_shard(struct index *x, const char *folder, uint32_t shard, size_t *unnamed)
{
    pli_safetensors s;
    plim_reader reader;
    pli_arena *arena = x->model->arena;
    const plim_files *files = x->model->files;
    char *path = pli_printf(arena, "%s%s", folder, x->shards[shard]);
    if (!path)
        return fail_memory(x);
    plim_status status = files->open(files->user, path, &reader, x->error);
    if (status == PLIM_NOT_FOUND)
        return pli_fail(x->error, status, path, PLIM_NO_OFFSET,
                        "a file that the index names is missing");
    if (status != PLIM_OK)
        return status;
    status = pli_safetensors_read(&reader, arena, shard, x->error, &s);
    files->close(files->user, &reader);
    if (status != PLIM_OK)
        return status;
    x->model->pub.file_bytes = pli_add_sat(x->model->pub.file_bytes, s.file_bytes);
    add_mapped(x, &s, shard, unnamed);
    return PLIM_OK;
}

static plim_status check_found(const struct index *x)
{
    for (size_t i = 0; i < x->tensor_count; i++)
        if (!x->tensors[i].found)
            return pli_fail(x->error, PLIM_PARSE, x->reader->name, x->tensors[i].at,
                            "the tensor %.100s is not in %.100s", x->tensors[i].name.p,
                            x->shards[x->tensors[i].shard]);
    return PLIM_OK;
}

static plim_status read_shards(struct index *x, const char *path)
{
    size_t unnamed = 0;
    const char *slash = strrchr(path, '/');
    char *folder =
        pli_strndup(x->model->arena, (pli_str){path, slash ? (size_t)(slash + 1 - path) : 0});
    x->model->tensors =
        pli_alloc_array(x->model->arena, x->tensor_count, sizeof *x->model->tensors);
    if (!folder || !x->model->tensors)
        return fail_memory(x);
    for (size_t i = 0; i < x->shard_count; i++) {
        plim_status status = read_shard(x, folder, (uint32_t)i, &unnamed);
        if (status != PLIM_OK)
            return status;
    }
    if (unnamed)
        pli_model_misses(x->model, "%zu tensors of the files are not in the index and not counted",
                         unnamed);
    return check_found(x);
}

static void tell_format(pli_model *model, size_t files)
{
    PLI_SET(model, &model->pub, format, "safetensors", NULL);
    PLI_SET(model, &model->pub, data_present, true, NULL); /* the rules refuse a file that is cut */
    PLI_SET(model, &model->pub, file_bytes, model->pub.file_bytes, NULL);
    if (files > 1)
        PLI_SET(model, &model->pub, splits, files, NULL);
}

plim_status pli_safetensors_index_model(pli_model *model, const plim_reader *reader,
                                        const char *path, plim_error *error)
{
    struct index x = {.reader = reader, .model = model, .error = error};
    plim_status status = read_index(&x);
    if (status == PLIM_OK)
        status = read_shards(&x, path);
    if (status == PLIM_OK)
        tell_format(model, x.shard_count);
    yyjson_doc_free(x.doc);
    if (x.text)
        pli_hook_resize(pli_arena_allocator(model->arena), x.text, x.length + PLI_JSON_PADDING, 0);
    return status;
}

plim_status pli_safetensors_model(pli_model *model, const plim_reader *reader, plim_error *error)
{
    pli_safetensors s;
    plim_status status = pli_safetensors_read(reader, model->arena, 0, error, &s);
    if (status != PLIM_OK)
        return status;
    model->values = s.values;
    model->value_count = s.value_count;
    model->tensors = s.tensors;
    model->tensor_count = s.tensor_count;
    model->pub.file_bytes = s.file_bytes;
    tell_format(model, 1);
    return PLIM_OK;
}
