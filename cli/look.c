/* At which machine to look, and how. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MAX_MACHINE_FILE = 64 << 20 };

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

cli_exit cli_read_file(const cli_call *call, const char *path, size_t max, char **text,
                       size_t *length)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    size_t room = 1 << 16, n = 0, got;
    *text = NULL;
    *length = 0;
    if (!file)
        return cli_error(call, CLI_INPUT, "%s: %s", path, strerror(errno));
    char *bytes = malloc(room);
    errno = 0;
    while (bytes && (got = fread(bytes + n, 1, room - n, file)) > 0 && n <= max) {
        n += got;
        if (n < room)
            continue;
        char *more = realloc(bytes, room *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }
    int why = ferror(file) ? errno : 0;
    if (file != stdin)
        (void)fclose(file);
    if (bytes && !why && n <= max) {
        *text = bytes;
        *length = n;
        return CLI_OK;
    }
    free(bytes);
    if (!bytes)
        return cli_error(call, CLI_INTERNAL, "%s: out of memory", name_of(path));
    return why ? cli_error(call, CLI_INPUT, "%s: %s", name_of(path), strerror(why))
               : cli_error(call, CLI_INPUT, "%s: larger than %zu bytes", name_of(path), max);
}

static bool is_document(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return text[i] == '{';
    return false;
}

cli_exit cli_machine_of_file(const cli_call *call, const char *path,
                             const plim_detect_options *options, char **recording,
                             plim_machine **out)
{
    plim_detect_options with = *options;
    plim_error error = PLIM_ERROR_INIT;
    char *text;
    size_t length;
    cli_exit status = cli_read_file(call, path, MAX_MACHINE_FILE, &text, &length);
    if (status != CLI_OK)
        return status;
    plim_status result;
    if (is_document(text, length) && options->capture) {
        free(text);
        return cli_error(call, CLI_USAGE,
                         "%s: a document cannot be recorded, only what probes read", path);
    }
    if (is_document(text, length)) {
        result = plim_machine_from_json(call->context, text, length, &error, out);
    } else {
        with.machine_text = text;
        with.machine_text_length = length;
        result = plim_machine_detect(call->context, &with, &error, recording, out);
    }
    free(text);
    if (result == PLIM_OK)
        return CLI_OK;
    /* The library was given bytes; the person gave a file. */
    (void)snprintf(error.subject, sizeof error.subject, "%s", name_of(path));
    return cli_failed(call, result, &error);
}

/* A probe that does not exist is a mistake, not a filter that fits nothing. */
static cli_exit check_probes(const cli_call *call, const char *option, const cli_list *list)
{
    const char *names[256];
    size_t n = 0;
    for (; n < CLI_COUNT(names) - 1 && plim_probe_at(n); n++)
        names[n] = plim_probe_at(n)->name;
    names[n] = NULL;
    for (size_t i = 0; i < list->count; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known = known || strcmp(names[k], list->items[i]) == 0;
        const char *nearest = known ? NULL : cli_nearest(list->items[i], names);
        if (!known)
            return cli_error(call, CLI_USAGE, "%s: no probe '%.64s'; %s%s", option, list->items[i],
                             nearest ? "did you mean " : "'plimsoll help --list probes' lists them",
                             nearest ? nearest : "");
    }
    return CLI_OK;
}

static cli_exit look_at_spec(const cli_call *call, plim_machine **out)
{
    plim_error error = PLIM_ERROR_INIT;
    plim_status result = plim_machine_from_spec(call->context, call->look.on, &error, out);
    if (result == PLIM_OK)
        return CLI_OK;
    /* The text is part of the command line. */
    char text[1024];
    if (result == PLIM_PARSE)
        return cli_error(call, CLI_USAGE, "--on %s", plim_error_text(&error, text, sizeof text));
    return cli_failed(call, result, &error);
}

cli_exit cli_look(const cli_call *call, const plim_detect_options *extra, char **recording,
                  plim_machine **out)
{
    static const plim_detect_options defaults = PLIM_DETECT_OPTIONS_INIT;
    const struct cli_look *look = &call->look;
    plim_detect_options options = extra ? *extra : defaults;
    plim_error error = PLIM_ERROR_INIT;
    *out = NULL;
    if ((look->machine != NULL) + (look->root != NULL) + (look->on != NULL) > 1)
        return cli_error(call, CLI_USAGE, "--machine, --root and --on exclude each other");
    cli_exit status = check_probes(call, "--only", &look->only);
    if (status == CLI_OK)
        status = check_probes(call, "--skip", &look->skip);
    if (status != CLI_OK)
        return status;
    options.root = look->root;
    options.only = look->only.items;
    options.skip = look->skip.items;
    options.timeout_ms = (uint32_t)(look->timeout * 1000);
    options.isolate = true;
    options.wake = look->wake;
    if (look->on && options.capture)
        return cli_error(call, CLI_USAGE, "a machine one does not have cannot be recorded");
    if (look->on)
        return look_at_spec(call, out);
    if (look->machine)
        return cli_machine_of_file(call, look->machine, &options, recording, out);
    plim_status result = plim_machine_detect(call->context, &options, &error, recording, out);
    return result == PLIM_OK ? CLI_OK : cli_failed(call, result, &error);
}
