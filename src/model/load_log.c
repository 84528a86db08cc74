#include "load_log.h"

#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"

#define MIB_HUNDREDTHS ((uint64_t)1 << 50) /* the most that a line may claim */

/* ---- words of a line ------------------------------------------------------------------------- */

/* "llama_context: n_ctx = 8192" behind whatever a program puts in front (times, levels, its own
 * name): the function and the rest. */
static bool split_line(pli_str line, pli_str *function, pli_str *rest)
{
    for (size_t i = 0; i + 1 < line.n; i++) {
        if (line.p[i] != ':' || line.p[i + 1] != ' ')
            continue;
        size_t start = i;
        while (start > 0 && line.p[start - 1] != ' ')
            start--;
        *function = (pli_str){line.p + start, i - start};
        *rest = pli_trim(pli_skip(line, i + 1));
        if (pli_starts(*function, "llama_") || pli_starts(*function, "llm_") ||
            pli_starts(*function, "print_info") || pli_starts(*function, "load_tensors") ||
            pli_starts(*function, "sched_reserve") ||
            pli_ends(*function, "memory_breakdown_print") || pli_eq(*function, "build") ||
            pli_eq(*function, "main"))
            return true;
    }
    return false;
}

/* "274.50 MiB" at the front of *rest, in hundredths; *rest moves behind it. */
static bool take_mib(pli_str *rest, uint64_t *hundredths)
{
    uint64_t whole, part = 0;
    pli_str at = pli_trim(*rest);
    if (!pli_parse_u64_prefix(&at, &whole) || whole > MIB_HUNDREDTHS)
        return false;
    if (at.n && at.p[0] == '.') {
        pli_str digits = pli_skip(at, 1);
        size_t before = digits.n;
        if (!pli_parse_u64_prefix(&digits, &part) || before - digits.n != 2)
            return false;
        at = digits;
    }
    if (!pli_starts(at, " MiB"))
        return false;
    *rest = pli_skip(at, 4);
    *hundredths = whole * 100 + part;
    return true;
}

static void add(pli_amount *amount, uint64_t hundredths)
{
    amount->hundredths = pli_add_sat(amount->hundredths, hundredths);
    amount->parts++;
}

/* The view behind the first `needle`; false where there is none. */
static bool behind(pli_str text, const char *needle, pli_str *out)
{
    size_t n = strlen(needle);
    for (size_t i = 0; i + n <= text.n; i++)
        if (memcmp(text.p + i, needle, n) == 0) {
            *out = pli_skip(text, i + n);
            return true;
        }
    return false;
}

/* ---- devices and what they hold -------------------------------------------------------------- */

static pli_log_device *device_of(pli_log *log, pli_str name)
{
    for (size_t i = 0; i < log->device_count; i++)
        if (pli_same(log->device[i].name, name))
            return &log->device[i];
    if (log->device_count == PLI_MAX_LOG_DEVICES)
        return NULL;
    log->device[log->device_count] = (pli_log_device){.name = name};
    return &log->device[log->device_count++];
}

static bool read_term(pli_str word, pli_str function, pli_log_term *term)
{
    static const char *const words[] = {"model", "KV", "RS", "compute", "output"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pli_eq(word, words[i])) {
            *term = (pli_log_term)i;
            return true;
        }
    *term = PLI_LOG_WEIGHTS; /* before 2025: "CUDA0 buffer size" */
    return word.n == 0 && pli_contains(function, "load_tensors");
}

/* "CUDA0 KV buffer size = 512.00 MiB" */
static bool read_buffer(pli_log *log, pli_str function, pli_str rest)
{
    pli_str left, right, device, word = {NULL, 0}, more;
    pli_log_term term;
    uint64_t amount;
    if (!pli_key_value(rest, '=', &left, &right) || !pli_ends(left, "buffer size"))
        return false;
    left = pli_trim((pli_str){left.p, left.n - strlen("buffer size")});
    if (!pli_next_word(&left, &device))
        return false;
    if (pli_next_word(&left, &word) && pli_next_word(&left, &more))
        return false;
    if (!read_term(word, function, &term) || !take_mib(&right, &amount))
        return false;
    pli_log_device *found = device_of(log, device);
    if (found)
        add(&found->amount[term], amount);
    return true;
}

/* "|   - CUDA0 (RTX 3090) | 24135 = 1022 + (22450 = 20000 + 2048 + 402) + 663 |", of the host
 * "|   - Host | 434 = 360 + 0 + 74 |": MiB of the model, the memory of its context, and compute. */
static bool read_breakdown(pli_log *log, pli_str rest)
{
    static const pli_log_term order[] = {PLI_LOG_WEIGHTS, PLI_LOG_MEMORY, PLI_LOG_COMPUTE};
    pli_str name, word, at, part;
    if (!behind(rest, "|   - ", &name) || !pli_next_word(&name, &word))
        return false;
    pli_log_device *device = device_of(log, pli_eq(word, "Host") ? PLI_LIT("CPU") : word);
    while (behind(name, "= ", &at))
        name = at;
    for (size_t i = 0; device && i < 3 && pli_next_part(&name, '+', &part); i++) {
        uint64_t mib;
        part = pli_trim(part);
        if (!pli_parse_u64_prefix(&part, &mib) || mib > MIB_HUNDREDTHS / 100)
            return false;
        device->breakdown[order[i]] = (pli_amount){mib * 100, 1, 1};
    }
    return true;
}

/* "layer   5 assigned to device CUDA0, is_swa = 1": where the engine put it. */
static bool read_assignment(pli_log *log, pli_str rest)
{
    pli_str name;
    if (!pli_starts(rest, "layer ") || !behind(rest, " assigned to device ", &name))
        return false;
    pli_str word;
    if (!pli_next_word(&name, &word))
        return false;
    if (pli_ends(word, ","))
        word.n--;
    pli_log_device *device = device_of(log, word);
    if (device)
        device->layers++;
    return true;
}

/* "using device CUDA0 (NVIDIA L4) (0000:01:00.0) - 22000 MiB free" */
static bool read_free(pli_log *log, pli_str rest)
{
    pli_str name, word, text;
    if (!behind(rest, "using device ", &name) || !pli_next_word(&name, &word) ||
        !pli_ends(rest, "MiB free"))
        return false;
    pli_log_device *device = device_of(log, word);
    text = pli_trim((pli_str){rest.p, rest.n - strlen("MiB free")});
    size_t start = text.n;
    while (start > 0 && text.p[start - 1] >= '0' && text.p[start - 1] <= '9')
        start--;
    if (device)
        device->free_known = pli_parse_u64(pli_skip(text, start), &device->free_mib);
    return true;
}

bool pli_log_is_host(pli_str buffer)
{
    return pli_starts(buffer, "CPU") || pli_starts(buffer, "AMX") || pli_starts(buffer, "BLAS") ||
           pli_ends(buffer, "_Host");
}

/* "Metal_Mapped" and "HTP0-REPACK" lie where "Metal" and "HTP0" are. */
static pli_str device_part(pli_str buffer)
{
    size_t n = 0;
    while (n < buffer.n && buffer.p[n] != '_' && buffer.p[n] != '-')
        n++;
    return (pli_str){buffer.p, n};
}

size_t pli_log_accelerator(const pli_log *log, pli_str buffer)
{
    pli_str device = device_part(buffer);
    size_t before = 0;
    for (size_t i = 0; i < log->device_count; i++) {
        pli_str other = device_part(log->device[i].name);
        bool first = !pli_log_is_host(log->device[i].name);
        for (size_t k = 0; first && k < i; k++)
            first = !pli_same(other, device_part(log->device[k].name));
        bool earlier =
            other.n < device.n || (other.n == device.n && pli_compare(other, device) < 0);
        if (first && earlier)
            before++;
    }
    return before;
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* The type of "K (f16): 80.00 MiB" or "c^KV (q8_0): ..." */
static pli_str type_in(pli_str text, const char *what)
{
    pli_str at;
    if (!behind(text, what, &at))
        return (pli_str){NULL, 0};
    size_t n = 0;
    while (n < at.n && at.p[n] != ')')
        n++;
    return (pli_str){at.p, n};
}

static void read_types(pli_log *log, pli_str rest)
{
    pli_str k = type_in(rest, "K ("), v = type_in(rest, "V (");
    if (k.n)
        log->type_k = k;
    else if (v.n) /* "c^KV (q8_0)": the keys are the values */
        log->type_k = v;
    if (k.n && v.n)
        log->type_v = v;
}

/* "size = 160.00 MiB ( 4096 cells, 5 layers, 2/2 seqs), K (f16): ..." of a cache or a state;
 * "KV self size = 274.50 MiB, ..." of all. */
static bool read_cache(pli_log *log, pli_str function, pli_str rest)
{
    pli_str left, right;
    uint64_t amount;
    if (!pli_key_value(rest, '=', &left, &right) || !pli_ends(left, "size") ||
        pli_ends(left, "buffer size"))
        return false;
    bool state = pli_contains(function, "recurrent") || pli_starts(function, "llama_rs_cache");
    bool cache = pli_starts(function, "llama_kv_cache") || pli_eq(left, "KV self size");
    if ((!state && !cache) || !take_mib(&right, &amount))
        return false;
    add(&log->total[state ? PLI_LOG_STATE : PLI_LOG_KV], amount);
    if (state)
        return true;
    read_types(log, right);
    if (pli_starts(function, "llama_kv_cache_unified"))
        log->age = PLI_LOG_UNIFIED_CACHE;
    else if (!pli_eq(left, "KV self size"))
        log->age = PLI_LOG_NEW;
    return true;
}

/* ---- settings -------------------------------------------------------------------------------- */

static const struct {
    pli_log_setting setting;
    const char *word;
} settings[] = {
#define SETTING(name, word) {PLI_LOG_##name, word},
#define KEY(word, key)
#include "load_log.def"
#undef SETTING
#undef KEY
};

static bool read_number(pli_str text, uint64_t *out)
{
    static const struct {
        const char *word;
        uint64_t value;
    } words[] = {{"true", 1}, {"enabled", 1}, {"false", 0}, {"disabled", 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pli_eq(text, words[i].word)) {
            *out = words[i].value;
            return true;
        }
    return pli_parse_u64(text, out);
}

static void set(pli_log *log, pli_log_setting setting, uint64_t value)
{
    log->setting[setting] = value;
    log->setting_known[setting] = true;
}

static bool read_setting(pli_log *log, pli_str rest)
{
    pli_str word, text;
    uint64_t value;
    if (!pli_key_value(rest, '=', &word, &text))
        return false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (pli_eq(word, settings[i].word)) {
            if (read_number(text, &value))
                set(log, settings[i].setting, value);
            log->is_ik |= settings[i].setting == PLI_LOG_MLA;
            return true;
        }
    if (pli_eq(word, "fused_moe") || pli_eq(word, "attn_max_b"))
        log->is_ik = true;
    log->fused_up_gate |= pli_eq(word, "fused_up_gate");
    return false;
}

/* "offloaded 33/33 layers to GPU"; "Flash Attention was auto, set to enabled"; "7847 (abc) with";
 * "using full-size SWA cache (...)". */
static bool read_remark(pli_log *log, pli_str function, pli_str rest)
{
    pli_str at;
    uint64_t number, of;
    if (pli_starts(rest, "offloaded ")) {
        at = pli_skip(rest, strlen("offloaded "));
        if (!pli_parse_u64_prefix(&at, &number) || !pli_starts(at, "/"))
            return false;
        at = pli_skip(at, 1);
        if (!pli_parse_u64_prefix(&at, &of))
            return false;
        set(log, PLI_LOG_LAYERS, number);
        set(log, PLI_LOG_LAYERS_OF, of);
        return true;
    }
    if (pli_starts(rest, "using full-size SWA cache")) {
        log->whole_windows = true;
        return true;
    }
    if (behind(rest, "Flash Attention was auto, set to ", &at) && read_number(at, &number)) {
        set(log, PLI_LOG_FLASH, number);
        return true;
    }
    at = rest;
    if (pli_eq(function, "main") && !behind(rest, "build = ", &at))
        return false;
    if ((pli_eq(function, "build") || pli_eq(function, "main")) &&
        pli_parse_u64_prefix(&at, &number)) {
        set(log, PLI_LOG_BUILD, number);
        return true;
    }
    return false;
}

/* ---- the model ------------------------------------------------------------------------------- */

static const struct {
    const char *word, *key;
} keys[] = {
#define SETTING(name, word)
#define KEY(word, key) {word, key},
#include "load_log.def"
#undef SETTING
#undef KEY
};

static pli_value_type type_named(pli_str name)
{
    for (int type = PLI_VALUE_U8; type <= PLI_VALUE_F64; type++)
        if (pli_eq(name, pli_value_type_name((pli_value_type)type)))
            return (pli_value_type)type;
    return PLI_VALUE_ARRAY;
}

/* Items of "[8, 8, 0]" of whole numbers; false where one is none or the list is cut. */
static bool read_items(pli_arena *arena, pli_str text, pli_value *value)
{
    pli_str item;
    uint64_t *items = NULL;
    value->type = PLI_VALUE_ARRAY;
    value->item_type = PLI_VALUE_U32;
    if (text.n < 2 || text.p[0] != '[' || text.p[text.n - 1] != ']')
        return false;
    text = (pli_str){text.p + 1, text.n - 2};
    while (pli_next_part(&text, ',', &item)) {
        uint64_t number;
        items = pli_grow_array(arena, items, value->count, sizeof *items);
        if (!items || value->count == PLI_VALUE_KEPT || !read_number(pli_trim(item), &number))
            return false;
        items[value->count++] = number;
    }
    value->items = items;
    return value->count > 0;
}

static bool read_scalar(pli_str text, pli_value *value)
{
    switch (value->type) {
    case PLI_VALUE_STRING:
        value->as.text = text;
        value->count = text.n;
        return true;
    case PLI_VALUE_I8:
    case PLI_VALUE_I16:
    case PLI_VALUE_I32:
    case PLI_VALUE_I64:
        return pli_parse_i64(text, &value->as.i);
    case PLI_VALUE_F32:
    case PLI_VALUE_F64:
        return pli_parse_f64(text, &value->as.f);
    default:
        return read_number(text, &value->as.u);
    }
}

static void keep(pli_arena *arena, pli_log *log, const pli_value *value)
{
    pli_value *values = log->value_count < PLI_MAX_GGUF_KEYS
                            ? pli_grow_array(arena, log->values, log->value_count, sizeof *values)
                            : NULL;
    if (!values)
        return;
    log->values = values;
    values[log->value_count++] = *value;
}

/* "- kv   2: gemma3.block_count u32 = 34" of the dump; arrays are "arr[i32,34]". */
static bool read_dumped(pli_arena *arena, pli_log *log, pli_str rest)
{
    pli_str number, entry, left, text, key, type;
    if (!pli_starts(rest, "- kv ") || !pli_key_value(rest, ':', &number, &entry) ||
        !pli_key_value(entry, '=', &left, &text) || !pli_next_word(&left, &key) ||
        !pli_next_word(&left, &type))
        return false;
    pli_value value = {.key = key, .type = type_named(type)};
    bool good =
        pli_starts(type, "arr[") ? read_items(arena, text, &value) : read_scalar(text, &value);
    if (good)
        keep(arena, log, &value);
    return true;
}

/* "n_head_kv = 8" of the print-out: what it says where the dump does not. Zero says nothing. */
static bool read_printed(pli_arena *arena, pli_log *log, pli_str rest)
{
    pli_str word, text;
    if (!pli_key_value(rest, '=', &word, &text))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!pli_eq(word, keys[i].word))
            continue;
        pli_value value = {.key = pli_s(keys[i].key), .type = PLI_VALUE_U32};
        bool good;
        if (pli_starts(value.key, "general.")) {
            value.type = PLI_VALUE_STRING;
            good = read_scalar(text, &value);
        } else if (pli_starts(text, "[")) {
            good = read_items(arena, text, &value);
        } else {
            good = read_scalar(text, &value) && value.as.u;
        }
        if (good)
            keep(arena, log, &value);
        return true;
    }
    return false;
}

/* ---- line by line ---------------------------------------------------------------------------- */

static bool is_context(pli_str function)
{
    return pli_eq(function, "llama_context") || pli_starts(function, "llama_new_context") ||
           pli_starts(function, "llama_init_from_model");
}

static bool is_printout(pli_str function)
{
    return pli_eq(function, "print_info") || pli_eq(function, "llm_load_print_meta");
}

/* "loaded meta data with 26 key-value pairs and 291 tensors from PATH (version GGUF V3)": a load
 * begins. An engine that tries what fits loads the same file again: the last time counts. Another
 * file (a draft, a projector) ends the reading. */
static bool begin_load(pli_log *log, pli_str rest)
{
    pli_str path;
    if (!behind(rest, "loaded meta data with ", &path) || !behind(path, " tensors from ", &path))
        return false;
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '(')
        n--;
    path = pli_trim((pli_str){path.p, n > 0 ? n - 1 : path.n});
    if (log->path.n && !pli_same(path, log->path)) {
        log->more = true;
        return true;
    }
    pli_log fresh = {.text = log->text, .path = path, .loaded = true};
    fresh.setting[PLI_LOG_BUILD] = log->setting[PLI_LOG_BUILD];
    fresh.setting_known[PLI_LOG_BUILD] = log->setting_known[PLI_LOG_BUILD];
    *log = fresh;
    return true;
}

/* A second context of the same model (drafting from its own head) is not this load's. */
static bool begins_again(const pli_log *log, pli_str function, pli_str rest)
{
    bool computes = false;
    for (size_t i = 0; i < log->device_count; i++)
        computes |= log->device[i].amount[PLI_LOG_COMPUTE].parts > 0;
    return computes && is_context(function) && pli_starts(rest, "n_ctx ");
}

static void read_line(pli_arena *arena, pli_log *log, pli_str line)
{
    pli_str function, rest;
    if (!split_line(line, &function, &rest))
        return;
    if (pli_eq(function, "llama_model_loader")) {
        if (!begin_load(log, rest))
            (void)read_dumped(arena, log, rest);
        return;
    }
    if (is_printout(function)) {
        (void)read_printed(arena, log, rest);
        return;
    }
    if (begins_again(log, function, rest)) {
        log->more = true;
        return;
    }
    bool known = read_buffer(log, function, rest) || read_breakdown(log, rest) ||
                 read_cache(log, function, rest) || read_assignment(log, rest) ||
                 read_free(log, rest) || read_remark(log, function, rest) ||
                 (is_context(function) && read_setting(log, rest));
    log->loaded |= known && !pli_eq(function, "build") && !pli_eq(function, "main");
}

plim_status pli_log_read(pli_arena *arena, pli_str text, const char *name, plim_error *error,
                         pli_log *log)
{
    pli_str rest = text, line;
    *log = (pli_log){.text = text};
    while (!log->more && pli_next_line(&rest, &line))
        read_line(arena, log, line);
    log->is_early_ik = log->is_ik && !log->fused_up_gate;
    if (pli_arena_failed(arena))
        return pli_fail(error, PLIM_NOMEM, name, PLIM_NO_OFFSET, "out of memory");
    return PLIM_OK;
}
