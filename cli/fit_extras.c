#include "fit_extras.h"

#include <stdlib.h>
#include <string.h>

/* "FILE:0.5" without its scale; a path may hold colons of its own. */
static size_t without_scale(const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon || !colon[1])
        return strlen(text);
    (void)strtod(colon + 1, &end);
    return *end ? strlen(text) : (size_t)(colon - text);
}

static cli_exit open_scaled(const cli_call *call, const char *text, plim_model **out)
{
    size_t n = without_scale(text);
    char *name = malloc(n + 1);
    if (!name)
        return cli_error(call, CLI_INTERNAL, "out of memory");
    memcpy(name, text, n);
    name[n] = '\0';
    cli_exit exit = cli_open_model(call, name, out);
    free(name);
    return exit;
}

static cli_exit open_all(const cli_call *call, const cli_list *plain, const cli_list *scaled,
                         plim_model ***out)
{
    cli_exit exit = CLI_OK;
    *out = calloc(plain->count + scaled->count + 1, sizeof **out);
    if (!*out)
        return cli_error(call, CLI_INTERNAL, "out of memory");
    for (size_t i = 0; i < plain->count && exit == CLI_OK; i++)
        exit = cli_open_model(call, plain->items[i], &(*out)[i]);
    for (size_t i = 0; i < scaled->count && exit == CLI_OK; i++)
        exit = open_scaled(call, scaled->items[i], &(*out)[plain->count + i]);
    return exit;
}

/* Does the model itself draft? The other types need a file, or no memory. */
static bool drafts_itself(const cli_fit_extras *extras)
{
    for (size_t i = 0; !extras->draft && i < extras->speculation.count; i++)
        if (strcmp(extras->speculation.items[i], "draft-mtp") == 0)
            return true;
    return false;
}

static cli_exit open_files(const cli_call *call, const cli_fit_extras *extras, cli_fit_files *files)
{
    cli_exit exit = CLI_OK;
    if (extras->draft)
        exit = cli_open_model(call, extras->draft, &files->draft);
    if (exit == CLI_OK && extras->projector)
        exit = cli_open_model(call, extras->projector, &files->projector);
    if (exit == CLI_OK)
        exit = open_all(call, &extras->adapters, &extras->adapters_scaled, &files->adapters);
    if (exit == CLI_OK)
        exit = open_all(call, &extras->controls, &extras->controls_scaled, &files->controls);
    return exit;
}

cli_exit cli_fit_extras_open(const cli_call *call, const cli_fit_extras *extras,
                             cli_fit_files *files, plim_fit_options *with)
{
    *files = (cli_fit_files){NULL, NULL, NULL, NULL};
    if (extras->cache_ram < -2)
        return cli_error(call, CLI_USAGE, "--cache-ram: a size in MiB, 0, or -1 for no limit");
    cli_exit exit = open_files(call, extras, files);
    if (exit != CLI_OK)
        return exit;
    with->draft = files->draft;
    with->own_draft = drafts_itself(extras);
    with->draft_tokens = extras->draft_tokens;
    with->draft_gpu_layers = extras->draft_gpu_layers;
    with->draft_devices = extras->draft_devices;
    with->draft_kv_type_k = extras->draft_type_k;
    with->draft_kv_type_v = extras->draft_type_v;
    with->projector = files->projector;
    with->no_projector_offload = extras->no_projector_offload;
    with->adapters = (const plim_model *const *)files->adapters;
    with->control_vectors = (const plim_model *const *)files->controls;
    if (extras->cache_ram != -2)
        with->cache_ram_mib = extras->cache_ram;
    return CLI_OK;
}

static void close_all(plim_model **models)
{
    for (size_t i = 0; models && models[i]; i++)
        plim_model_free(models[i]);
    free(models);
}

void cli_fit_extras_close(cli_fit_files *files)
{
    plim_model_free(files->draft);
    plim_model_free(files->projector);
    close_all(files->adapters);
    close_all(files->controls);
}
