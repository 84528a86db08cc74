#include "hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "url.h"

#define PREFIX "hf:"
enum { MAX_LISTING = 8 << 20, MAX_FILES = 65536, MAX_HUB_URL = 4096, SHOWN = 6 };

struct name {
    char repository[256]; /* OWNER/REPO */
    char quant[64];
    const char *file; /* "" where none is named */
};

bool cli_hub_names(const char *name)
{
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
}

static plim_status fail(plim_error *error, plim_status status, const char *name, const char *what)
{
    error->status = status;
    error->offset = PLIM_NO_OFFSET;
    (void)snprintf(error->subject, sizeof error->subject, "%s", name);
    (void)snprintf(error->what, sizeof error->what, "%s", what);
    return status;
}

/* Bytes of a word of a repository's name: letters, digits, '.', '_', '-', and no '.' first. */
static size_t word_length(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return text[0] == '.' ? 0 : strspn(text, allowed);
}

static bool parse(const char *text, struct name *out)
{
    *out = (struct name){.file = ""};
    text += sizeof PREFIX - 1;
    size_t owner = word_length(text);
    if (owner == 0 || text[owner] != '/')
        return false;
    size_t repo = word_length(text + owner + 1), length = owner + 1 + repo;
    if (repo == 0 || length >= sizeof out->repository)
        return false;
    memcpy(out->repository, text, length);
    text += length;
    if (*text == ':') {
        size_t n = word_length(text + 1);
        if (n == 0 || n >= sizeof out->quant || text[1 + n])
            return false;
        memcpy(out->quant, text + 1, n);
    } else if (*text == '/' && text[1]) {
        out->file = text + 1;
    } else if (*text) {
        return false;
    }
    return true;
}

/* ---- which file of a repository ---- */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Does the quantisation stand in the path, ended by '.' or '-'? */
static bool holds_quant(const char *path, const char *quant)
{
    size_t n = strlen(quant);
    for (; *path; path++) {
        size_t i = 0;
        while (i < n && path[i] && upper(path[i]) == upper(quant[i]))
            i++;
        if (i == n && (path[n] == '.' || path[n] == '-'))
            return true;
    }
    return false;
}

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_digits(const char *text, size_t n)
{
    return strspn(text, "0123456789") >= n;
}

/* "-00002-of-00005.gguf": a part, and not the first. */
static bool is_later_part(const char *path)
{
    enum { TAIL = sizeof "-00002-of-00005.gguf" - 1 };
    size_t n = strlen(path);
    const char *tail = n > TAIL ? path + n - TAIL : "";
    return tail[0] == '-' && is_digits(tail + 1, 5) && strncmp(tail + 6, "-of-", 4) == 0 &&
           is_digits(tail + 10, 5) && strncmp(tail + 1, "00001", 5) != 0;
}

/* What stands beside models without being one: projectors, importance matrices, draft heads. */
static bool is_model(const char *path)
{
    static const char *const others[] = {"mmproj",  "imatrix", "mtp-",
                                         "eagle3-", "dflash-", "dspark-"};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (!ends(file, ".gguf") || is_later_part(file))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(file, others[i]))
            return false;
    return true;
}

const char *cli_hub_choose(const char *const *paths, size_t count, const char *quant)
{
    const char *const usual[] = {quant[0] ? quant : "Q4_K_M", quant[0] ? NULL : "Q8_0"};
    static const char *const others[] = {"model.safetensors.index.json", "model.safetensors"};
    for (size_t k = 0; k < 2 && usual[k]; k++)
        for (size_t i = 0; i < count; i++)
            if (is_model(paths[i]) && holds_quant(paths[i], usual[k]))
                return paths[i];
    if (quant[0])
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (is_model(paths[i]))
            return paths[i];
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(paths[i], others[k]) == 0)
                return paths[i];
    return NULL;
}

/* ---- URLs ---- */

static bool add(char *url, size_t size, const char *text, bool encode)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t n = strlen(url);
    for (; *text; text++) {
        bool as_is = !encode || strchr(plain, *text);
        int wrote = snprintf(url + n, size - n, as_is ? "%c" : "%%%02X",
                             as_is ? *text : (unsigned char)*text);
        if (wrote < 0 || (size_t)wrote >= size - n)
            return false;
        n += (size_t)wrote;
    }
    return true;
}

static bool make_url(char *url, const char *endpoint, const char *before, const char *repository,
                     const char *after, const char *file)
{
    url[0] = '\0';
    if (!add(url, MAX_HUB_URL, endpoint, false))
        return false;
    for (size_t n = strlen(url); n && url[n - 1] == '/'; n--)
        url[n - 1] = '\0';
    return add(url, MAX_HUB_URL, before, false) && add(url, MAX_HUB_URL, repository, false) &&
           add(url, MAX_HUB_URL, after, false) && add(url, MAX_HUB_URL, file, true);
}

/* ---- a repository's list ---- */

/* A path of the list stays inside the repository. */
static bool stays_inside(const char *path)
{
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += at[n] ? n + 1 : n;
    }
    return path[0] != '\0';
}

static size_t list_paths(yyjson_val *list, const char **paths)
{
    size_t count = 0, i, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, max, item)
    {
        const char *type = yyjson_get_str(yyjson_obj_get(item, "type"));
        const char *path = yyjson_get_str(yyjson_obj_get(item, "path"));
        if (path && stays_inside(path) && (!type || strcmp(type, "file") == 0))
            paths[count++] = path;
    }
    return count;
}

static plim_status none_found(const struct name *name, const char *const *paths, size_t count,
                              const char *subject, plim_error *error)
{
    char what[sizeof error->what];
    size_t n = (size_t)snprintf(
        what, sizeof what,
        name->quant[0] ? "no GGUF of %s there" : "no GGUF, no safetensors there%s", name->quant);
    unsigned shown = 0;
    for (size_t i = 0; i < count && shown < SHOWN && n < sizeof what; i++)
        if (is_model(paths[i]))
            n += (size_t)snprintf(what + n, sizeof what - n, "%s%.60s",
                                  shown++ ? ", " : "; there are ", paths[i]);
    return fail(error, PLIM_NOT_FOUND, subject, what);
}

static plim_status choose(yyjson_doc *doc, const struct name *name, const char *subject,
                          const char *endpoint, plim_error *error, char *url)
{
    yyjson_val *list = yyjson_doc_get_root(doc);
    size_t items = yyjson_arr_size(list);
    if (!yyjson_is_arr(list) || items > MAX_FILES)
        return fail(error, PLIM_PARSE, subject, "the hub's list of files is no list");
    const char **paths = calloc(items + 1, sizeof *paths);
    if (!paths)
        return fail(error, PLIM_NOMEM, subject, "out of memory");
    size_t count = list_paths(list, paths);
    const char *path = cli_hub_choose(paths, count, name->quant);
    plim_status status = PLIM_OK;
    if (!path)
        status = none_found(name, paths, count, subject, error);
    else if (!make_url(url, endpoint, "/", name->repository, "/resolve/main/", path))
        status = fail(error, PLIM_LIMIT, subject, "a path that is too long");
    free((void *)paths);
    return status;
}

static plim_status look_up(cli_http *http, const char *endpoint, const struct name *name,
                           const char *subject, plim_error *error, char *url)
{
    char *text;
    size_t length;
    if (!make_url(url, endpoint, "/api/models/", name->repository, "/tree/main", "") ||
        !add(url, MAX_HUB_URL, "?recursive=true", false))
        return fail(error, PLIM_LIMIT, subject, "a name that is too long");
    plim_status status = cli_http_get(http, url, MAX_LISTING, error, &text, &length);
    if (status != PLIM_OK)
        return status;
    yyjson_doc *doc = yyjson_read(text, length, 0);
    status = choose(doc, name, subject, endpoint, error, url);
    yyjson_doc_free(doc);
    free(text);
    return status;
}

plim_status cli_hub_url(cli_http *http, const char *endpoint, const char *text, plim_error *error,
                        char **out)
{
    struct name name;
    cli_url parsed;
    plim_status status = PLIM_OK;
    *out = NULL;
    if (!parse(text, &name))
        return fail(error, PLIM_INVALID, text,
                    "a model of a hub is hf:OWNER/REPO/FILE.gguf or hf:OWNER/REPO:QUANT");
    if (!endpoint || !endpoint[0])
        return fail(error, PLIM_INVALID, text,
                    "which hub? Set HF_ENDPOINT to its address, https://HOST");
    if (!cli_url_parse(endpoint, &parsed) || endpoint[parsed.name_length] || parsed.has_user)
        return fail(error, PLIM_INVALID, "HF_ENDPOINT", "no address of http or https");
    char *url = malloc(MAX_HUB_URL);
    if (!url)
        return fail(error, PLIM_NOMEM, text, "out of memory");
    if (!name.file[0])
        status = look_up(http, endpoint, &name, text, error, url);
    else if (!make_url(url, endpoint, "/", name.repository, "/resolve/main/", name.file))
        status = fail(error, PLIM_LIMIT, text, "a name that is too long");
    if (status == PLIM_OK)
        *out = url;
    else
        free(url);
    return status;
}
