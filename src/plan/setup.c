#include "setup.h"

#include <string.h>

#include "../base/status.h"

static const pli_generation generations[] = {
#define GENERATION(name, build, what, flags) {name, build, what, flags},
#include "generations.def"
#undef GENERATION
};
#define GENERATION_COUNT (sizeof generations / sizeof *generations)

/* "0.7.0" as a number that grows with the release; 0: not written so. Releases are numbered since
 * August 2026. */
static uint64_t release_of(pli_str version)
{
    pli_str part;
    uint64_t number, release = 0;
    size_t parts = 0;
    for (; parts < 3 && pli_next_part(&version, '.', &part); parts++) {
        if (!pli_parse_u64(part, &number) || number > UINT16_MAX)
            return 0;
        release = release << 16 | number;
    }
    return parts > 1 && version.n == 0 ? (parts == 2 ? release << 16 : release) : 0;
}

/* Is this row a version that others are compared with: no fork, no variant? */
static bool is_version(const pli_generation *generation)
{
    return generation->build && !strchr(generation->name, '-');
}

static const pli_generation *of_release(uint64_t release)
{
    const pli_generation *found = NULL;
    for (size_t i = 0; i < GENERATION_COUNT; i++)
        if (is_version(&generations[i]) && release_of(pli_s(generations[i].name)) <= release)
            found = &generations[i];
    return found;
}

static const pli_generation *of_build(uint64_t build)
{
    const pli_generation *found = NULL;
    for (size_t i = 0; i < GENERATION_COUNT; i++)
        if (is_version(&generations[i]) && generations[i].build <= build)
            found = &generations[i];
    return found;
}

const pli_generation *pli_generation_find(const char *engine)
{
    const pli_generation *newest = &generations[GENERATION_COUNT - 1];
    pli_str text = pli_s(engine), name, version;
    uint64_t build;
    for (size_t i = 0; i < GENERATION_COUNT; i++)
        if (generations[i].build == 0 && pli_eq(text, generations[i].name))
            return &generations[i];
    if (!pli_key_value(text, '@', &name, &version))
        return text.n == 0 || pli_eq(text, "llama.cpp") ? newest : NULL;
    if (!pli_eq(name, "llama.cpp"))
        return NULL;
    for (size_t i = 0; i < GENERATION_COUNT; i++)
        if (generations[i].build && pli_eq(version, generations[i].name))
            return &generations[i];
    if (release_of(version))
        return of_release(release_of(version));
    if (pli_starts(version, "b"))
        version = pli_skip(version, 1);
    return pli_parse_u64(version, &build) ? of_build(build) : NULL;
}

/* Is the version asked for the one that a generation is named after, not a later one? */
static bool is_itself(const char *engine, const pli_generation *generation)
{
    pli_str name, version;
    uint64_t build;
    if (!pli_key_value(pli_s(engine), '@', &name, &version) || pli_eq(version, generation->name))
        return true;
    if (pli_starts(version, "b"))
        version = pli_skip(version, 1);
    return pli_parse_u64(version, &build) && build == generation->build;
}

static const char *const split_names[] = {"none", "layer", "row"};

const char *pli_split_name(pli_split split)
{
    return split_names[split];
}

static plim_status refuse(plim_error *error, const char *flag, const char *why)
{
    return pli_fail(error, PLIM_INVALID, flag, PLIM_NO_OFFSET, "%s", why);
}

/* ---- the context's numbers ------------------------------------------------------------------- */

plim_status pli_setup_context(pli_setup *setup, uint64_t asked, plim_error *error)
{
    pli_calc calc = {false};
    uint64_t multiple = (setup->generation->flags & PLI_GEN_SHORT_PAD) && !setup->flash ? 32 : 256;
    setup->context = pli_padded(&calc, asked, multiple);
    setup->context_per_sequence = setup->context;
    setup->streams = 1;
    if (!setup->unified) {
        setup->streams = setup->sequences;
        setup->context_per_sequence =
            pli_padded(&calc, setup->context / setup->sequences, multiple);
        setup->context = pli_times(&calc, setup->context_per_sequence, setup->sequences);
    }
    setup->batch = pli_smaller(asked, setup->batch_asked);
    setup->ubatch = pli_smaller(setup->batch, setup->ubatch_asked);
    if (calc.overflow || setup->context > UINT32_MAX) /* the engine's type */
        return refuse(error, "-c", "more tokens of context than the engine can count");
    if (setup->context_per_sequence == 0)
        return refuse(error, "-c", "no token of context is left for each sequence");
    return PLIM_OK;
}

/* ---- cache types ----------------------------------------------------------------------------- */

static const char *const cache_types[] = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                          "q4_1", "iq4_nl", "q5_0", "q5_1"};

const pli_quant *pli_cache_type(const char *name)
{
    pli_str text = pli_s(name ? name : "f16");
    for (size_t i = 0; i < sizeof cache_types / sizeof *cache_types; i++)
        if (pli_eq(text, cache_types[i]))
            return pli_quant_by_name(text);
    return NULL;
}

static plim_status check_type(const pli_quant *type, const char *flag, uint64_t head,
                              plim_error *error)
{
    if (!type)
        return refuse(error, flag,
                      "must be one of f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1");
    if (head % type->block_elements)
        return pli_fail(error, PLIM_INVALID, flag, PLIM_NO_OFFSET,
                        "heads of %llu elements are no whole blocks of %u of this type",
                        (unsigned long long)head, type->block_elements);
    return PLIM_OK;
}

/* Keys alone are cached, under the values' type too. */
static bool latent(const pli_shape *shape)
{
    return shape->latent || (shape->arch->flags & PLI_ARCH_COMPRESSED);
}

static plim_status check_heads(const pli_setup *setup, const pli_shape *shape, plim_error *error)
{
    bool whole = setup->flash || !(setup->generation->flags & PLI_GEN_ANY_HEAD);
    plim_status status = check_type(setup->type_k, "-ctk", whole ? shape->key_length : 0, error);
    if (!status)
        status = check_type(setup->type_v, "-ctv",
                            whole && !latent(shape) ? shape->value_length : 0, error);
    for (uint64_t il = 0; whole && !status && il < shape->run_layers; il++) {
        const pli_layer *layer = &shape->layer[il];
        status = check_type(setup->type_k, "-ctk", layer->key_length, error);
        if (!status && !latent(shape))
            status = check_type(setup->type_v, "-ctv", layer->value_length, error);
    }
    return status;
}

static plim_status read_types(pli_setup *setup, const pli_shape *shape,
                              const plim_fit_options *options, plim_error *error)
{
    setup->type_k = pli_cache_type(options->kv_type_k);
    setup->type_v = pli_cache_type(options->kv_type_v);
    plim_status status = check_heads(setup, shape, error);
    if (!status && !setup->flash && setup->type_v->block_elements > 1)
        status = refuse(error, "-ctv",
                        shape->arch->flags & PLI_ARCH_NO_FLASH
                            ? "quantised values need flash attention, which this model has not"
                            : "quantised values need flash attention (-fa on)");
    if (!status && latent(shape) && setup->type_k != setup->type_v &&
        (setup->generation->flags & PLI_GEN_ONE_LATENT_TYPE))
        status =
            refuse(error, "-ctv", "must be the type of -ctk: the cache holds one row for both");
    return status;
}

/* ---- devices --------------------------------------------------------------------------------- */

static plim_status read_split(pli_setup *setup, const plim_fit_options *options, plim_error *error)
{
    setup->split = PLI_SPLIT_LAYER;
    if (options->split_mode) {
        size_t i = 0;
        while (i < 3 && strcmp(options->split_mode, split_names[i]) != 0)
            i++;
        if (i == 3)
            return refuse(error, "-sm", "must be none, layer or row");
        setup->split = (pli_split)i;
    }
    bool any = false;
    for (size_t i = 0; i < options->tensor_split_count; i++) {
        double share = options->tensor_split[i];
        if (!(share >= 0 && share <= 1e30))
            return refuse(error, "-ts", "shares are numbers from 0 up");
        any |= share > 0;
    }
    setup->shares = any ? options->tensor_split : NULL; /* all zero means: by free memory */
    setup->share_count = any ? options->tensor_split_count : 0;
    setup->main_gpu = options->main_gpu;
    return PLIM_OK;
}

static plim_status read_override(pli_arena *arena, const char *text, plim_error *error,
                                 pli_override *override)
{
    const char *equals = strrchr(text, '='), *why;
    if (!equals || equals == text || !equals[1])
        return refuse(error, "-ot", "must be PATTERN=BUFFER");
    override->text = text;
    override->buffer = equals + 1;
    plim_status status =
        pli_pattern_new(arena, (pli_str){text, (size_t)(equals - text)}, &why, &override->pattern);
    if (status == PLIM_INVALID)
        return pli_fail(error, status, "-ot", PLIM_NO_OFFSET, "%s cannot be judged: %s", text, why);
    return status;
}

static plim_status read_overrides(pli_arena *arena, pli_setup *setup,
                                  const plim_fit_options *options, plim_error *error)
{
    size_t count = 0;
    while (options->overrides && options->overrides[count])
        count++;
    setup->overrides = pli_alloc_array(arena, count, sizeof *setup->overrides);
    if (!setup->overrides)
        return PLIM_NOMEM;
    for (; setup->override_count < count; setup->override_count++) {
        plim_status status = read_override(arena, options->overrides[setup->override_count], error,
                                           &setup->overrides[setup->override_count]);
        if (status)
            return status;
    }
    return PLIM_OK;
}

uint64_t pli_fit_target(const pli_setup *setup, size_t device)
{
    uint64_t mib = 1024; /* the engine's default, also for devices past the last of several */
    if (setup->fit_target_count == 1)
        mib = setup->fit_target[0];
    else if (device < setup->fit_target_count)
        mib = setup->fit_target[device];
    return pli_mul_sat(mib, (uint64_t)1 << 20);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static plim_status read_lines(pli_setup *setup, const plim_fit_options *options, plim_error *error)
{
    setup->line_passed = options->line_passed > 0 ? options->line_passed : 0.70;
    setup->line_warning = options->line_warning > 0 ? options->line_warning : 0.85;
    if (!(setup->line_passed <= setup->line_warning && setup->line_warning <= 1))
        return refuse(error, "--line", "needs 0 < passed <= warning <= 1");
    return PLIM_OK;
}

static void read_slots(pli_setup *setup, const plim_fit_options *options)
{
    bool automatic = (setup->generation->flags & PLI_GEN_AUTO_SLOTS) && options->sequences == 0;
    setup->sequences_given = options->sequences != 0;
    setup->sequences = options->sequences ? options->sequences : automatic ? 4 : 1;
    setup->unified = options->kv_unified == PLIM_AUTO ? automatic : options->kv_unified == PLIM_ON;
}

#define MAX_SEQUENCES 256u /* the engine's LLAMA_MAX_SEQ */

plim_status pli_setup_read(pli_arena *arena, const pli_shape *shape,
                           const plim_fit_options *options, plim_error *error, pli_setup *setup)
{
    *setup = (pli_setup){.batch_asked = options->batch ? options->batch : 2048,
                         .ubatch_asked = options->ubatch ? options->ubatch : 512,
                         .swa_full = options->swa_full,
                         .kv_offload = !options->no_kv_offload,
                         .op_offload = !options->no_op_offload,
                         .mmap = !options->no_mmap,
                         .repack = !options->no_repack,
                         .flash = options->flash_attention != PLIM_OFF &&
                                  !(shape->arch->flags & PLI_ARCH_NO_FLASH),
                         .flash_given = options->flash_attention != PLIM_AUTO,
                         .fit_context = options->fit_context ? options->fit_context : 4096,
                         .fit_target = options->fit_target,
                         .fit_target_count = options->fit_target_count,
                         .host_bandwidth = options->host_bandwidth,
                         .context_given = options->context != 0,
                         .gpu_layers_given = options->gpu_layers >= 0};
    setup->generation = pli_generation_find(options->engine);
    if (!setup->generation)
        return refuse(error, "--engine", "must be llama.cpp or llama.cpp@bNNNN, b5400 or newer");
    setup->checked = (setup->generation->flags & PLI_GEN_CHECKED) &&
                     is_itself(options->engine, setup->generation);
    read_slots(setup, options);
    if (setup->sequences > MAX_SEQUENCES)
        return refuse(error, "-np", "at most 256 sequences");
    setup->gpu_layers = shape->layers + 1;
    if (options->gpu_layers >= 0)
        setup->gpu_layers = pli_smaller((uint64_t)options->gpu_layers, setup->gpu_layers);
    for (size_t i = 0; i < setup->fit_target_count; i++)
        if (setup->fit_target[i] > UINT32_MAX) /* 4 EiB */
            return refuse(error, "--fit-target", "more MiB than any device has");
    if (!(setup->host_bandwidth >= 0 && setup->host_bandwidth < 1e18))
        return refuse(error, "--bandwidth", "no bandwidth of a memory");
    plim_status status = read_lines(setup, options, error);
    if (!status)
        status = pli_setup_context(
            setup, options->context ? options->context : pli_larger(shape->trained, 1), error);
    if (!status)
        status = read_types(setup, shape, options, error);
    if (!status)
        status = read_split(setup, options, error);
    if (!status)
        status = read_overrides(arena, setup, options, error);
    return status;
}
