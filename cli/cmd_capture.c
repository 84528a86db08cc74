#include <errno.h>
#include <string.h>

#include "cli.h"
#include "file.h"

struct capture_args {
    bool keep_identities;
};

static const cli_option options[] = {
    {.names = "--keep-identities",
     CLI_MEMBER(struct capture_args, keep_identities),
     .help =
         "leave serial numbers, host names, UUIDs and MAC addresses as they are; without it they "
         "are hashed"},
};

static cli_exit print_machine(const cli_call *call, const plim_machine *machine)
{
    char *text = NULL;
    unsigned flags = PLIM_JSON_PRETTY | (call->look.explain ? PLIM_JSON_SOURCES : 0);
    plim_status status = plim_machine_to_json(machine, flags, &text, NULL);
    return cli_print_json(call, status, text);
}

static cli_exit write_recording(const cli_call *call, const char *path, const char *recording)
{
    char size[32];
    size_t length = strlen(recording);
    if (strcmp(path, "-") == 0) {
        (void)fwrite(recording, 1, length, stdout);
        return CLI_OK;
    }
    if (!cli_write_file(path, recording, length))
        return cli_error(call, CLI_INTERNAL, "%s: %s", path, strerror(errno));
    if (!call->common.json)
        (void)printf("%s: %s; show it with: plimsoll --machine %s\n", path,
                     plim_bytes_text(length, size, sizeof size), path);
    return CLI_OK;
}

static cli_exit run(cli_call *call)
{
    const struct capture_args *args = call->args;
    const char *path = call->operand_count ? call->operands[0] : "-";
    plim_detect_options detect = PLIM_DETECT_OPTIONS_INIT;
    plim_machine *machine;
    char *recording = NULL;
    if (call->common.json && strcmp(path, "-") == 0)
        return cli_error(call, CLI_USAGE,
                         "--json prints the document; name a file for the "
                         "recording");
    detect.capture = true;
    detect.keep_identities = args->keep_identities;
    cli_exit status = cli_look(call, &detect, &recording, &machine);
    if (status != CLI_OK)
        return status;
    status = write_recording(call, path, recording);
    if (status == CLI_OK && call->common.json)
        status = print_machine(call, machine);
    plim_text_free(recording);
    plim_machine_free(machine);
    return status;
}

const cli_body cli_body_capture = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(struct capture_args),
    .max_operands = 1,
    .run = run,
    .details =
        "The recording is a text file, plimsoll-machine(5), of exactly what the probes asked "
        "for and got. Without FILE, or with '-', it goes to standard output.\n"
        "With --json the document of the run that was recorded is printed as well: showing "
        "the recording gives that document again, clocks and hashed identities aside.",
};
