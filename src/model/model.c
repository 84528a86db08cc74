/* The public face of the model floor: open, write as JSON (model_json.c), free. */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/context.h"
#include "../base/dir.h"
#include "../base/limits.h"
#include "../base/reader.h"
#include "../base/status.h"
#include "build.h"
#include "safetensors.h"

pli_model *pli_model_new(const plim_allocator *allocator)
{
    pli_arena *arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    if (!arena)
        return NULL;
    pli_model *model = pli_alloc(arena, sizeof *model);
    const char **source = pli_alloc_array(arena, plim_record_model.field_count, sizeof *source);
    if (!model || !source) {
        pli_arena_free(arena);
        return NULL;
    }
    model->arena = arena;
    model->pub.head.source = source;
    PLI_SET(model, &model->pub, schema, "plimsoll.model/1", NULL);
    PLI_SET(model, &model->pub, version, PLIM_VERSION_TEXT, NULL);
    return model;
}

void plim_model_free(plim_model *model)
{
    if (model)
        pli_arena_free(pli_model_of(model)->arena);
}

plim_items plim_model_tensors(const plim_model *model)
{
    return model ? pli_model_of(model)->items : (plim_items){NULL, 0};
}

void pli_model_misses(pli_model *model, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = pli_vprintf(model->arena, format, args);
    va_end(args);
    if (pli_strs_add(model->arena, &model->pub.missing, text))
        pli_mark(&model->pub.head, PLIM_F_model_missing, NULL);
}

static int by_name(const void *a, const void *b)
{
    const pli_tensor *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    int order = strcmp(x->name, y->name);
    /* equal names: in the file's order, so that the second is the one complained of */
    return order ? order : (x > y) - (x < y);
}

plim_status pli_model_index_tensors(pli_model *model, const char *subject, plim_error *error)
{
    size_t count = model->tensor_count;
    const pli_tensor **names = pli_alloc_array(model->arena, count, sizeof *names);
    if (!names)
        return pli_fail(error, PLIM_NOMEM, subject, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < count; i++)
        names[i] = &model->tensors[i];
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1]->name, names[i]->name) == 0)
            return pli_fail(error, PLIM_PARSE, subject,
                            names[i]->file ? PLIM_NO_OFFSET : names[i]->at,
                            "the tensor %.100s stands in the model twice", names[i]->name);
    model->by_name = names;
    return PLIM_OK;
}

/* By what the file holds; its name decides only where it holds too little to tell. */
static plim_status read_file(pli_model *model, const plim_reader *reader, const char *path,
                             plim_error *error)
{
    pli_str name = pli_s(reader->name);
    bool gguf;
    plim_status status = pli_gguf_is(reader, error, &gguf);
    if (status != PLIM_OK)
        return status;
    if (gguf)
        return pli_gguf_model(model, reader, path, error);
    if (pli_ends(name, ".gguf"))
        return pli_fail(error, PLIM_PARSE, reader->name, 0, "not a GGUF file: no magic");
    if (path && pli_ends(name, ".index.json"))
        return pli_safetensors_index_model(model, reader, path, error);
    if (pli_ends(name, ".safetensors") || pli_safetensors_is(reader))
        return pli_safetensors_model(model, reader, error);
    return pli_fail(error, PLIM_PARSE, reader->name, 0, "neither a GGUF nor a safetensors file");
}

plim_status pli_model_finish(pli_model *model, plim_error *error)
{
    plim_status status = pli_model_index_tensors(model, model->path, error);
    if (status != PLIM_OK)
        return status;
    pli_model_facts(model);
    if (pli_arena_failed(model->arena))
        return pli_fail(error, PLIM_NOMEM, model->path, PLIM_NO_OFFSET, "out of memory");
    return PLIM_OK;
}

static plim_status read_model(pli_model *model, const plim_reader *reader, const char *path,
                              plim_error *error)
{
    model->path = pli_strdup(model->arena, reader->name);
    if (!model->path)
        return pli_fail(error, PLIM_NOMEM, reader->name, PLIM_NO_OFFSET, "out of memory");
    plim_status status = read_file(model, reader, path, error);
    return status == PLIM_OK ? pli_model_finish(model, error) : status;
}

static plim_status read_named(pli_model *model, const plim_files *files, const char *name,
                              plim_error *error)
{
    plim_reader reader;
    plim_status status = files->open(files->user, name, &reader, error);
    if (status != PLIM_OK)
        return status;
    model->files = files;
    status = read_model(model, &reader, name, error);
    model->files = NULL;
    files->close(files->user, &reader);
    return status;
}

static plim_status read_path(pli_model *model, const char *path, plim_error *error)
{
    plim_status status = PLIM_OK;
    if (pli_dir_is(path))
        status = pli_model_in_directory(model->arena, path, error, &path);
    return status == PLIM_OK ? read_named(model, &pli_files_here, path, error) : status;
}

/* Where a model is: in a reader; else by its name in files; else at a path. */
struct origin {
    const plim_reader *reader;
    const plim_files *files;
    const char *name;
};

static plim_status open_from(plimsoll *context, struct origin from, plim_error *error,
                             plim_model **out)
{
    plim_status status;
    pli_model *model = pli_model_new(pli_context_allocator(context));
    if (!model)
        return pli_fail(error, PLIM_NOMEM, from.name, PLIM_NO_OFFSET, "out of memory");
    if (from.reader)
        status = read_model(model, from.reader, NULL, error);
    else if (from.files)
        status = read_named(model, from.files, from.name, error);
    else
        status = read_path(model, from.name, error);
    if (status == PLIM_OK)
        *out = &model->pub;
    else
        plim_model_free(&model->pub);
    return status;
}

plim_status plim_model_open_reader(plimsoll *context, const plim_reader *reader, plim_error *error,
                                   plim_model **out)
{
    if (!out)
        return PLIM_INVALID;
    *out = NULL;
    if (!context || !reader || reader->struct_size < sizeof *reader || !reader->read)
        return PLIM_INVALID;
    plim_reader named = *reader;
    if (!named.name)
        named.name = "input";
    return open_from(context, (struct origin){&named, NULL, named.name}, error, out);
}

plim_status plim_model_open_files(plimsoll *context, const plim_files *files, const char *name,
                                  plim_error *error, plim_model **out)
{
    if (!out)
        return PLIM_INVALID;
    *out = NULL;
    if (!context || !name || !files || files->struct_size < sizeof *files || !files->open ||
        !files->close)
        return PLIM_INVALID;
    return open_from(context, (struct origin){NULL, files, name}, error, out);
}

plim_status plim_model_open(plimsoll *context, const char *path, plim_error *error,
                            plim_model **out)
{
    if (!out)
        return PLIM_INVALID;
    *out = NULL;
    if (!context || !path)
        return PLIM_INVALID;
    return open_from(context, (struct origin){NULL, NULL, path}, error, out);
}
