/* What a load log tells of its model, as a model. */
#include <stdlib.h>
#include <string.h>

#include "../base/status.h"
#include "build.h"
#include "load_log.h"

static int by_key(const void *a, const void *b)
{
    const pli_value *x = a, *y = b;
    int order = pli_compare(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static pli_str architecture_of(const pli_log *log)
{
    for (size_t i = 0; i < log->value_count; i++)
        if (pli_eq(log->values[i].key, "general.architecture"))
            return log->values[i].as.text;
    return (pli_str){NULL, 0};
}

/* A copy of the log's value in the model's arena, its key spelled out. */
static pli_value copy_value(pli_arena *arena, const pli_value *from, pli_str architecture)
{
    pli_value value = *from;
    value.key = pli_s(pli_starts(from->key, "%s.")
                          ? pli_printf(arena, "%.*s%.*s", (int)architecture.n, architecture.p,
                                       (int)from->key.n - 2, from->key.p + 2)
                          : pli_strndup(arena, from->key));
    if (value.type == PLI_VALUE_STRING)
        value.as.text = pli_s(pli_strndup(arena, from->as.text));
    if (value.items) {
        uint64_t *items = pli_alloc_array(arena, (size_t)value.count, sizeof *items);
        if (items)
            memcpy(items, from->items, (size_t)value.count * sizeof *items);
        value.items = items;
    }
    return value;
}

/* The keys, sorted; of those that the log says twice the first: the dump stands before the
 * print-out. */
static void fill_values(pli_model *model, const pli_log *log)
{
    pli_str architecture = architecture_of(log);
    pli_value *values = pli_alloc_array(model->arena, log->value_count, sizeof *values);
    size_t kept = 0;
    if (!values)
        return;
    for (size_t i = 0; i < log->value_count; i++) {
        values[i] = copy_value(model->arena, &log->values[i], architecture);
        values[i].at = i;
    }
    qsort(values, log->value_count, sizeof *values, by_key);
    for (size_t i = 0; i < log->value_count; i++)
        if (kept == 0 || !pli_same(values[kept - 1].key, values[i].key))
            values[kept++] = values[i];
    model->values = values;
    model->value_count = kept;
}

plim_status pli_log_model(const pli_log *log, const char *name, const plim_allocator *allocator,
                          plim_error *error, pli_model **out)
{
    pli_model *model = pli_model_new(allocator);
    if (!model)
        return pli_fail(error, PLIM_NOMEM, name, PLIM_NO_OFFSET, "out of memory");
    model->path = pli_strdup(model->arena, name);
    PLI_SET(model, &model->pub, format, "gguf", NULL);
    fill_values(model, log);
    plim_status status = pli_model_finish(model, error);
    if (status == PLIM_OK)
        *out = model;
    else
        plim_model_free(&model->pub);
    return status;
}
