/* Which file of a directory is the model. */
#include <string.h>

#include "../base/dir.h"
#include "../base/num.h"
#include "../base/status.h"
#include "build.h"

#define PART_TAIL 15u /* "-00002-of-00003" */

/* Number of a part of a split model (NAME-00002-of-00003 and the ending), from 1; 0: none. */
static uint64_t part_number(pli_str name, const char *ending)
{
    uint64_t number, count;
    size_t end = strlen(ending);
    if (name.n < PART_TAIL + end || !pli_ends(name, ending))
        return 0;
    pli_str tail = {name.p + name.n - end - PART_TAIL, PART_TAIL};
    if (tail.p[0] != '-' || !pli_starts(pli_skip(tail, 6), "-of-"))
        return 0;
    bool numbers = pli_parse_u64((pli_str){tail.p + 1, 5}, &number) &&
                   pli_parse_u64(pli_skip(tail, 10), &count);
    return numbers ? number : 0;
}

/* What a directory holds of one kind: the first, and how many. Later parts of split models and,
 * beside a model, the projector of its images (mmproj) are not counted. */
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
        if (part_number(name, ".gguf") > 1)
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

/* The index where there is one, which names all other files; else the only file. */
static struct found find_safetensors(const char *const *names, size_t count)
{
    struct found f = {0};
    const char *index = NULL;
    for (size_t i = 0; i < count; i++) {
        pli_str name = pli_s(names[i]);
        if (pli_ends(name, ".safetensors.index.json") && (!index || pli_starts(name, "model.")))
            index = names[i];
        if (!pli_ends(name, ".safetensors"))
            continue;
        if (strcmp(names[i], "model.safetensors") == 0 || f.count++ == 0)
            f.first = names[i];
        else if (f.count == 2)
            f.second = names[i];
    }
    if (index || (f.first && strcmp(f.first, "model.safetensors") == 0))
        f.count = 1;
    if (index)
        f.first = index;
    return f;
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
    if (!f.first)
        f = find_safetensors(names, count);
    if (!f.first)
        return pli_fail(error, PLIM_NOT_FOUND, path, PLIM_NO_OFFSET,
                        "no model in this directory: no *.gguf, *.safetensors or "
                        "*.safetensors.index.json");
    if (f.count > 1 && part_number(pli_s(f.first), ".safetensors"))
        return pli_fail(error, PLIM_NOT_FOUND, path, PLIM_NO_OFFSET,
                        "the index of the split model %.80s is missing", f.first);
    if (f.count > 1)
        return pli_fail(error, PLIM_INVALID, path, PLIM_NO_OFFSET,
                        "%zu models in this directory (%.80s, %.80s%s): name one", f.count, f.first,
                        f.second, f.count > 2 ? ", ..." : "");
    bool slash = path[0] && path[strlen(path) - 1] == '/';
    *file = pli_printf(arena, "%s%s%s", path, slash ? "" : "/", f.first);
    return *file ? PLIM_OK : pli_fail(error, PLIM_NOMEM, path, PLIM_NO_OFFSET, "out of memory");
}
