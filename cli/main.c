#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    plim_error error = PLIM_ERROR_INIT;
    plim_machine *machine = NULL;
    plimsoll *context = NULL;
    char *text = NULL, why[1024];
    options.isolate = true;
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--root") == 0)
            options.root = argv[i + 1];
        if (strcmp(argv[i], "--machine") == 0)
            options.machine_file = argv[i + 1];
    }
    if (plim_open(NULL, &context) != PLIM_OK)
        return 4;
    if (plim_machine_detect(context, &options, &error, NULL, &machine) != PLIM_OK ||
        plim_machine_to_json(machine, PLIM_JSON_PRETTY, &text, NULL) != PLIM_OK) {
        fprintf(stderr, "plimsoll: %s\n", plim_error_text(&error, why, sizeof why));
        plim_close(context);
        return 3;
    }
    printf("%s\n", text);
    plim_text_free(text);
    plim_machine_free(machine);
    plim_close(context);
    return 0;
}
