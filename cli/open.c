/* The model that a command is given: a file, a URL, a name on a hub, a name of the catalogue. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "http.h"
#include "hub.h"
#include "url.h"

/* Opens `url` by ranges; the query, which may hold a signature, is no part of the model's name. */
static plim_status open_url(const cli_call *call, cli_http *http, const char *url,
                            plim_error *error, plim_model **out)
{
    size_t n = strcspn(url, "?#");
    char *name = malloc(n + 1), *query = malloc(strlen(url) - n + 1);
    plim_status status = PLIM_NOMEM;
    if (name && query) {
        memcpy(name, url, n);
        name[n] = '\0';
        size_t length = url[n] == '?' ? strcspn(url + n, "#") : 0;
        memcpy(query, url + n, length);
        query[length] = '\0';
        plim_files files = cli_http_files(http, query);
        status = plim_model_open_files(call->context, &files, name, error, out);
    }
    free(name);
    free(query);
    if (status != PLIM_OK && cli_http_failure(http)->status != PLIM_OK) {
        *error = *cli_http_failure(http);
        return error->status;
    }
    return status;
}

static plim_status open_remote(const cli_call *call, const char *from, plim_error *error,
                               plim_model **out)
{
    cli_http *http;
    cli_http_options options = {
        .timeout = call->http_timeout > 0 ? call->http_timeout : 30,
        .endpoint = getenv("HF_ENDPOINT"),
        .token = getenv("HF_TOKEN"),
    };
    plim_status status = cli_http_open(&options, from, error, &http);
    if (status != PLIM_OK)
        return status;
    char *url = NULL;
    if (cli_hub_names(from))
        status = cli_hub_url(http, options.endpoint, from, error, &url);
    if (status == PLIM_OK)
        status = open_url(call, http, url ? url : from, error, out);
    free(url);
    cli_http_close(http);
    return status;
}

/* May it be a model of the catalogue? Not where it can only be a path. */
static bool names_a_model(const char *from)
{
    static const char *const endings[] = {".gguf", ".safetensors", ".json"};
    size_t n = strlen(from);
    for (size_t i = 0; i < CLI_COUNT(endings); i++) {
        size_t length = strlen(endings[i]);
        if (n >= length && strcmp(from + n - length, endings[i]) == 0)
            return false;
    }
    return from[0] != '.' && from[0] != '/' && from[0] != '-' && !cli_url_like(from) &&
           !cli_hub_names(from);
}

cli_exit cli_open_model(const cli_call *call, const char *from, plim_model **out)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_status status = cli_url_like(from) || cli_hub_names(from)
                             ? open_remote(call, from, &error, out)
                             : plim_model_open(call->context, from, &error, out);
    if (status == PLIM_NOT_FOUND && names_a_model(from))
        status = plim_model_from_catalogue(call->context, from, &error, out);
    if (status == PLIM_OK)
        return CLI_OK;
    /* a pipe, or a directory of several models: not the command line is wrong but what it names */
    if (status == PLIM_INVALID)
        error.status = status = PLIM_UNSUPPORTED;
    return cli_failed(call, status, &error);
}
