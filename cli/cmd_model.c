/* What a model's own header says: lines of model.def, and on request its tensors and its keys. */
#include <string.h>

#include "cli.h"
#include "fill.h"
#include "paint.h"
#include "table.h"
#include "text.h"

enum { MAX_LINE = 4096, MAX_KEY = 256 };

struct model_args {
    bool tensors, metadata;
    double http_timeout;
};

static const cli_option options[] = {
    {.names = "--tensors",
     CLI_MEMBER(struct model_args, tensors),
     .help = "list the tensors: name, type, shape and bytes"},
    {.names = "--metadata",
     CLI_MEMBER(struct model_args, metadata),
     .help = "list the keys of the file and their values"},
    CLI_HTTP_OPTION(struct model_args),
};

static const struct line {
    const char *label, *template;
} lines[] = {
#define LINE(label, template) {label, template},
#include "model.def"
#undef LINE
};

static const cli_column tensor_columns[] = {
    {"tensor", "{name}", CLI_LEFT, CLI_NARROWS},
    {"type", "{type}", CLI_LEFT, CLI_FIXED},
    {"shape", "{shape}", CLI_LEFT, CLI_FIXED},
    {"bytes", "{bytes}", CLI_RIGHT, CLI_FIXED},
};

static void print_line(cli_term term, const char *label, const char *text)
{
    cli_label(term, label);
    cli_wrap(stdout, text, CLI_LABEL_WIDTH + 1, CLI_LABEL_WIDTH + 1, term.width);
}

/* 8030261248 is "8.03 billion". */
static void count_text(char *buf, size_t size, uint64_t n)
{
    static const char *const names[] = {"", " thousand", " million", " billion", " trillion"};
    double v = (double)n;
    size_t i = 0;
    while (v >= 1000 && i + 1 < CLI_COUNT(names)) {
        v /= 1000;
        i++;
    }
    (void)snprintf(buf, size, i == 0 ? "%.0f%s" : v < 10 ? "%.2f%s" : "%.1f%s", v, names[i]);
}

static void print_parameters(cli_term term, const plim_model *model)
{
    char all[32], active[32], text[128];
    if (!PLIM_KNOWN(model, model, parameters))
        return;
    count_text(all, sizeof all, model->parameters);
    count_text(active, sizeof active, model->active_parameters);
    if (PLIM_KNOWN(model, model, active_parameters))
        (void)snprintf(text, sizeof text, "%s, of which a token uses %s", all, active);
    else
        (void)snprintf(text, sizeof text, "%s", all);
    print_line(term, "parameters", text);
}

static void print_lines(cli_term term, const plim_model *model)
{
    char text[MAX_LINE];
    const char *label = "";
    for (size_t i = 0; i < CLI_COUNT(lines); i++) {
        if (!cli_fill(text, sizeof text, lines[i].template, &plim_record_model, model))
            continue;
        bool again = strcmp(label, lines[i].label) == 0;
        if (!again && strcmp(label, "model") == 0)
            print_parameters(term, model);
        print_line(term, again ? "" : lines[i].label, text);
        label = lines[i].label;
    }
    for (size_t i = 0; i < model->missing.count; i++)
        print_line(term, i ? "" : "missing", model->missing.items[i]);
}

static void print_metadata(const plim_model *model)
{
    char key[MAX_KEY], value[MAX_LINE];
    for (size_t i = 0; plim_model_metadata_text(model, i, key, sizeof key, value, sizeof value);
         i++)
        (void)printf("%s%s = %s\n", i ? "" : "\n", key, value);
}

static cli_exit print_document(const cli_call *call, const plim_model *model)
{
    const struct model_args *args = call->args;
    char *text = NULL;
    unsigned flags = PLIM_JSON_PRETTY | (args->tensors ? PLIM_MODEL_TENSORS : 0) |
                     (args->metadata ? PLIM_MODEL_METADATA : 0);
    plim_status status = plim_model_to_json(model, flags, &text, NULL);
    return cli_print_json(call, status, text);
}

static cli_exit run(cli_call *call)
{
    const struct model_args *args = call->args;
    plim_model *model;
    call->http_timeout = args->http_timeout;
    cli_exit status = cli_open_model(call, call->operands[0], &model);
    if (status != CLI_OK)
        return status;
    if (call->common.json) {
        status = print_document(call, model);
    } else {
        plim_items tensors = plim_model_tensors(model);
        print_lines(call->term, model);
        if (args->metadata)
            print_metadata(model);
        if (args->tensors && tensors.count)
            (void)putchar('\n');
        if (args->tensors)
            cli_table(call->term, 0, tensor_columns, CLI_COUNT(tensor_columns), &plim_record_tensor,
                      &tensors);
    }
    plim_model_free(model);
    return status;
}

const cli_body cli_body_model = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(struct model_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
    .details =
        "MODEL is a GGUF file, any file of a split one, a safetensors file or index, or a "
        "directory that holds one of these; or the http or https URL of such a file, of which "
        "only the header is fetched, or hf:OWNER/REPO/FILE.gguf or hf:OWNER/REPO:QUANT on the "
        "hub whose address HF_ENDPOINT holds (HF_TOKEN is sent there and nowhere else). Only "
        "headers are read; what they do not tell exactly is left out. What is no file is looked up "
        "in the built-in catalogue: NAME[:QUANT], such as qwen3-30b-a3b:q4_k_m.",
};
