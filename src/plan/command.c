/* llama-server's command line. Flags are left out where the engine's default is meant. */
#include <string.h>

#include "../base/buf.h"
#include "advice.h"
#include "extras_tell.h"

#define MAX_COMMAND 65536u

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./:=,+@%", c) != NULL);
}

void pli_add_quoted(pli_buf *out, const char *text)
{
    size_t plain = 0;
    while (text[plain] && is_plain(text[plain]))
        plain++;
    if (plain && !text[plain]) {
        (void)pli_buf_addz(out, text);
        return;
    }
    (void)pli_buf_add(out, "'", 1);
    for (; *text; text++)
        (void)pli_buf_addz(out, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    (void)pli_buf_add(out, "'", 1);
}

/* "q8_0" as the engine spells it. */
void pli_add_type(pli_buf *out, const char *flag, const pli_quant *type)
{
    if (strcmp(type->name, "F16") == 0)
        return;
    (void)pli_buf_printf(out, " %s ", flag);
    for (const char *c = type->name; *c; c++)
        (void)pli_buf_add(out, (char[]){*c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c}, 1);
}

static void add_devices(pli_buf *out, const pli_setup *setup, const pli_sites *sites)
{
    size_t remote = 0;
    if (!sites->devices)
        return;
    for (size_t i = 0; i < sites->devices; i++) /* whose addresses only the user knows */
        if (strcmp(sites->at[i].backend->family, "rpc") == 0) {
            (void)pli_buf_printf(out, "%sHOST%zu:50052", remote ? "," : " --rpc ", remote);
            remote++;
        }
    (void)pli_buf_printf(out, " -ngl %llu", (unsigned long long)setup->gpu_layers);
    if (setup->split != PLI_SPLIT_LAYER)
        (void)pli_buf_printf(out, " -sm %s", pli_split_name(setup->split));
    for (size_t i = 0; i < setup->share_count; i++)
        (void)pli_buf_printf(out, "%s%.6g", i ? "," : " -ts ", setup->shares[i]);
    if (setup->main_gpu)
        (void)pli_buf_printf(out, " -mg %llu", (unsigned long long)setup->main_gpu);
}

static void add_overrides(pli_buf *out, const pli_setup *setup)
{
    for (size_t i = 0; i < setup->override_count; i++) {
        (void)pli_buf_addz(out, " -ot ");
        pli_add_quoted(out, setup->overrides[i].text);
    }
    if (setup->overrides_text) {
        (void)pli_buf_addz(out, " -ot ");
        pli_add_quoted(out, setup->overrides_text);
    }
    if (setup->host_experts)
        (void)pli_buf_printf(out, " -ncmoe %llu", (unsigned long long)setup->host_experts);
}

static void add_switches(pli_buf *out, const pli_setup *setup)
{
    const struct {
        bool on;
        const char *flag;
    } switches[] = {
        {setup->flash_given, setup->flash ? " -fa on" : " -fa off"},
        {setup->unified && setup->sequences_given && setup->sequences > 1, " --kv-unified"},
        {setup->swa_full, " --swa-full"},
        {!setup->kv_offload, " --no-kv-offload"},
        {!setup->op_offload, " --no-op-offload"},
        {!setup->mmap, setup->generation->flags & PLI_GEN_LOAD_MODE ? " -lm none" : " --no-mmap"},
        {!setup->repack, " -nr"},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].on)
            (void)pli_buf_addz(out, switches[i].flag);
}

const char *pli_command(pli_arena *arena, const pli_shape *shape, const pli_setup *setup,
                        const pli_sites *sites, uint64_t context)
{
    pli_buf out;
    pli_buf_init(&out, pli_arena_allocator(arena), MAX_COMMAND);
    const char *path = shape->model->path ? shape->model->path : "MODEL.gguf";
    bool is_url = pli_starts(pli_s(path), "http://") || pli_starts(pli_s(path), "https://");
    (void)pli_buf_printf(&out, "llama-server %s ", is_url ? "-mu" : "-m");
    pli_add_quoted(&out, path);
    (void)pli_buf_printf(&out, " -c %llu", (unsigned long long)context);
    if (setup->sequences_given)
        (void)pli_buf_printf(&out, " -np %llu", (unsigned long long)setup->sequences);
    add_devices(&out, setup, sites);
    if (setup->batch_asked != 2048)
        (void)pli_buf_printf(&out, " -b %llu", (unsigned long long)setup->batch_asked);
    if (setup->ubatch_asked != 512)
        (void)pli_buf_printf(&out, " -ub %llu", (unsigned long long)setup->ubatch_asked);
    pli_add_type(&out, "-ctk", setup->type_k);
    pli_add_type(&out, "-ctv", setup->type_v);
    add_switches(&out, setup);
    add_overrides(&out, setup);
    pli_extras_command(&out, setup);
    if (out.failed == PLIM_NOMEM)
        pli_arena_fail(arena);
    char *text = out.failed ? NULL : pli_alloc(arena, out.n + 1);
    if (text && pli_utf8_valid(pli_buf_str(&out)))
        memcpy(text, out.p, out.n + 1);
    else if (text) /* a path may hold any bytes, a document may not */
        (void)pli_clean(pli_buf_str(&out), text, out.n + 1);
    pli_buf_free(&out);
    return text;
}
