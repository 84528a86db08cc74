/* Which file of a directory is the model. */
#include <string.h>

#include "../base/dir.h"
#include "../base/num.h"
#include "../base/status.h"
#include "build.h"

/* Is it a later part of a split model (NAME-00002-of-00003.gguf)? */
static bool later_part(pli_str name)
{
    uint64_t number, count;
    if (name.n < 21 || !pli_ends(name, ".gguf"))
        return false;
    pli_str tail = pli_skip((pli_str){name.p, name.n - 5}, name.n - 5 - 15);
    if (!pli_starts(tail, "-") || !pli_starts(pli_skip(tail, 6), "-of-"))
        return false;
    return pli_parse_u64((pli_str){tail.p + 1, 5}, &number) &&
           pli_parse_u64(pli_skip(tail, 10), &count) && number > 1;
}

/* Names with this ending: the first, and how many. Later parts of split models and, beside a
 * model, the projector of its images (mmproj) are not counted. */
struct found {
    const char *first, *second, *part, *projector;
    size_t count;
};

static struct found find_gguf(const char *const *names, size_t count)
{
    struct found f = {0};
    for (size_t i = 0; i < count; i++) {
        pli_str name = pli_s(names[i]);
        if (!pli_ends(name, ".gguf"))
            continue;
        if (later_part(name))
            f.part = names[i];
        else if (pli_contains_nocase(name, "mmproj"))
            f.projector = names[i];
        else if (f.count++ == 0)
            f.first = names[i];
        else if (f.count == 2)
            f.second = names[i];
    }
    /* a part without the first: its own error names what is missing */
    if (!f.first)
        f.first = f.part ? f.part : f.projector;
    return f;
}

static const char *find_safetensors(const char *const *names, size_t count, struct found *f)
{
    const char *index = NULL, *whole = NULL;
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], "model.safetensors.index.json") == 0)
            index = names[i];
        else if (strcmp(names[i], "model.safetensors") == 0)
            whole = names[i];
        else if (pli_ends(pli_s(names[i]), ".safetensors") && f->count++ == 0)
            f->first = names[i];
        else if (pli_ends(pli_s(names[i]), ".safetensors") && f->count == 2)
            f->second = names[i];
    }
    if (index || whole)
        f->count = 1;
    return index ? index : whole ? whole : f->first;
}

plim_status pli_model_in_directory(pli_arena *arena, const char *path, plim_error *error,
                                   const char **file)
{
    const char *const *names;
    size_t count;
    plim_status status = pli_dir_names(arena, path, error, &names, &count);
    if (status != PLIM_OK)
        return status;
    struct found f = find_gguf(names, count);
    const char *name = f.first;
    if (!name)
        name = find_safetensors(names, count, &f);
    if (!name)
        return pli_fail(error, PLIM_NOT_FOUND, path, PLIM_NO_OFFSET,
                        "no model in this directory: no *.gguf, model.safetensors or "
                        "model.safetensors.index.json");
    if (f.count > 1)
        return pli_fail(error, PLIM_INVALID, path, PLIM_NO_OFFSET,
                        "%zu models in this directory (%.80s, %.80s%s): name one", f.count, f.first,
                        f.second, f.count > 2 ? ", ..." : "");
    bool slash = path[0] && path[strlen(path) - 1] == '/';
    *file = pli_printf(arena, "%s%s%s", path, slash ? "" : "/", name);
    return *file ? PLIM_OK : pli_fail(error, PLIM_NOMEM, path, PLIM_NO_OFFSET, "out of memory");
}
