/* A machine one does not have, from a specification: "cuda:24GiB*2,cpu:64GiB", "2x RTX 4090",
 * "RTX 4090 + RTX 3090 + 64GB RAM", "M4 Max 64GB". */
#include <string.h>

#include "../base/context.h"
#include "../base/limits.h"
#include "../base/num.h"
#include "../base/status.h"
#include "../inventory/inventory.h"
#include "../know/chips.h"

#define SOURCE "spec"

static const struct {
    const char *name, *vendor;
    bool unified;
} families[] = {
    {"cuda", "NVIDIA", false}, {"rocm", "AMD", false},  {"metal", "Apple", true},
    {"intel", "Intel", false}, {"vulkan", NULL, false}, {"rpc", NULL, false},
};

typedef struct parsing {
    const char *text;
    plim_error *error;
    pli_inventory inv;
    bool host_given;
    uint64_t host; /* bytes of RAM; 0: without limit */
} parsing;

static plim_status wrong(const parsing *p, pli_str at, const char *why)
{
    return pli_fail(p->error, PLIM_PARSE, p->text, (uint64_t)(at.p - p->text), "%s", why);
}

/* One or more equal devices. Memory 0: unknown. */
typedef struct group {
    const char *family, *vendor, *name, *arch;
    uint64_t count, memory, bandwidth, fp16, fp8, int8;
    bool unified;
} group;

static plim_status add_device(parsing *p, const group *g)
{
    plim_device *d = pli_add_device(&p->inv);
    if (!d)
        return PLIM_NOMEM;
    PLI_SET(device, d, kind, "gpu", SOURCE);
    PLI_SET(device, d, family, g->family, SOURCE);
    PLI_SET_STR(device, d, vendor, g->vendor, SOURCE);
    PLI_SET_STR(device, d, name, g->name, SOURCE);
    PLI_SET(device, d, available, true, SOURCE);
    PLI_SET(device, d, integrated, g->unified, SOURCE);
    PLI_SET(device, d, memory_kind, g->unified ? "unified" : "dedicated", SOURCE);
    if (g->memory) { /* all of it free: that is what is asked about */
        PLI_SET(device, d, memory_total_bytes, g->memory, SOURCE);
        PLI_SET(device, d, memory_free_bytes, g->memory, SOURCE);
    }
    if (g->bandwidth)
        PLI_SET(device, d, memory_bandwidth_bytes_per_s, g->bandwidth, "table");
    if (g->fp16)
        PLI_SET(device, d, flops_fp16, g->fp16, "table");
    if (g->fp8)
        PLI_SET(device, d, flops_fp8, g->fp8, "table");
    if (g->int8)
        PLI_SET(device, d, flops_int8, g->int8, "table");
    if (g->arch && g->arch[0] >= '0' && g->arch[0] <= '9')
        PLI_SET(device, d, compute_capability, g->arch, "table");
    else if (g->arch && g->arch[0])
        PLI_SET(device, d, arch, g->arch, "table");
    return PLIM_OK;
}

static plim_status add_group(parsing *p, pli_str item, const group *g)
{
    if (g->count == 0 || g->count > PLI_MAX_DEVICES ||
        pli_device_count(&p->inv) + g->count > PLI_MAX_DEVICES)
        return wrong(p, item, "a machine has 1 to 1024 devices");
    if (g->unified && g->memory) {
        if (p->host_given && p->host != g->memory)
            return wrong(p, item, "a device that shares the host's memory has the host's size");
        p->host_given = true;
        p->host = g->memory;
    }
    plim_status status = PLIM_OK;
    for (uint64_t i = 0; !status && i < g->count; i++)
        status = add_device(p, g);
    return status;
}

static plim_status parse_size(const parsing *p, pli_str text, uint64_t *out)
{
    if (pli_parse_size(text, out) && *out)
        return PLIM_OK;
    return wrong(p, text, "not a size such as 24GiB or 24576MiB");
}

/* "cpu", "cpu:64GiB". */
static plim_status parse_host(parsing *p, pli_str item, bool sized, pli_str size)
{
    if (p->host_given)
        return wrong(p, item, "the host's memory is given twice");
    p->host_given = true;
    return sized ? parse_size(p, size, &p->host) : PLIM_OK;
}

/* "cuda:24GiB*2". *known: the item begins with a family's name. */
static plim_status parse_family(parsing *p, pli_str item, bool *known)
{
    pli_str rest = item, counted, count = {NULL, 0}, name, size = {NULL, 0};
    group g = {.count = 1};
    bool many = pli_key_value(rest, '*', &counted, &count);
    bool sized = pli_key_value(many ? counted : rest, ':', &name, &size);
    if (!sized)
        name = pli_trim(many ? counted : rest);
    *known = pli_eq(name, "cpu");
    if (*known)
        return many ? wrong(p, item, "a machine has one host") : parse_host(p, item, sized, size);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (pli_eq(name, families[i].name)) {
            g.family = families[i].name;
            g.vendor = families[i].vendor;
            g.unified = families[i].unified;
            *known = true;
        }
    if (!*known)
        return PLIM_OK;
    if (many && !pli_parse_u64(count, &g.count))
        return wrong(p, count, "not a number of devices");
    plim_status status = sized ? parse_size(p, size, &g.memory) : PLIM_OK;
    return status ? status : add_group(p, item, &g);
}

/* "2x RTX 4090", "2 x RTX 4090": digits, then an x that a blank or a name follows. */
static void take_count(pli_str *item, uint64_t *count)
{
    pli_str rest = *item;
    uint64_t n;
    if (!pli_parse_u64_prefix(&rest, &n))
        return;
    rest = pli_trim(rest);
    if (!rest.n || (rest.p[0] != 'x' && rest.p[0] != 'X'))
        return;
    *count = n;
    *item = pli_trim(pli_skip(rest, 1));
}

/* "RTX 4090 x2", "RTX 4090 *2". */
static void take_count_behind(pli_str *item, uint64_t *count)
{
    size_t i = item->n;
    while (i && item->p[i - 1] >= '0' && item->p[i - 1] <= '9')
        i--;
    pli_str digits = pli_skip(*item, i), name = {item->p, i};
    if (digits.n == 0 || i < 2 || !strchr("xX*", item->p[i - 1]) || item->p[i - 2] != ' ' ||
        !pli_parse_u64(digits, count))
        return;
    name.n--;
    *item = pli_trim(name);
}

/* Where the last word begins; 0: there is only one. */
static size_t last_word(pli_str s)
{
    size_t i = s.n;
    while (i && s.p[i - 1] != ' ')
        i--;
    return i;
}

/* What the user calls 24GB the driver may call 23.99 GiB, and the shop's GB are not ours. */
static bool is_about(uint64_t asked, uint64_t memory)
{
    uint64_t difference = asked > memory ? asked - memory : memory - asked;
    return difference <= memory / 10;
}

static plim_status no_chip(const parsing *p, pli_str name)
{
    const pli_chip *near[PLI_NEAR_CHIPS];
    pli_chip_near(name, near);
    return pli_fail(p->error, PLIM_PARSE, p->text, (uint64_t)(name.p - p->text),
                    "neither a family (cuda, rocm, metal, intel, vulkan, rpc, cpu) nor a chip of "
                    "the table%s%s%s%s%s%s%s",
                    near[0] ? "; did you mean " : "", near[0] ? near[0]->name : "",
                    near[1] ? near[2] ? ", " : " or " : "", near[1] ? near[1]->name : "",
                    near[2] ? " or " : "", near[2] ? near[2]->name : "", near[0] ? "?" : "");
}

static group group_of(const pli_chip *chip, uint64_t count, uint64_t size)
{
    return (group){.count = count,
                   .family = chip->family,
                   .vendor = chip->vendor,
                   .name = chip->name,
                   .arch = chip->arch,
                   .memory = chip->memory_bytes ? chip->memory_bytes : size,
                   .bandwidth = chip->bandwidth_bytes_per_s,
                   .fp16 = chip->fp16,
                   .fp8 = chip->fp8,
                   .int8 = chip->int8,
                   .unified = chip->unified};
}

static plim_status parse_chip(parsing *p, pli_str item)
{
    pli_str name = item;
    uint64_t size = 0, count = 1;
    take_count(&name, &count);
    take_count_behind(&name, &count);
    const pli_chip *chip = pli_chip_find(name);
    size_t word = last_word(name);
    if (!chip && word && pli_contains_nocase(pli_skip(name, word), "b") &&
        pli_parse_size(pli_skip(name, word), &size)) {
        name.n = word;
        chip = pli_chip_find(name);
    }
    if (!chip)
        return no_chip(p, name);
    if (size && chip->memory_bytes && !is_about(size, chip->memory_bytes))
        return wrong(p, name, "this chip has another amount of memory; FAMILY:SIZE takes any");
    if (!size && !chip->memory_bytes)
        return wrong(p, name, "this chip is sold in several sizes: add one, such as 64GB");
    group g = group_of(chip, count, size);
    return add_group(p, item, &g);
}

/* "64GB RAM", "128 GiB DDR5". */
static plim_status parse_ram(parsing *p, pli_str item, bool *known)
{
    static const char *const words[] = {"ram", "memory", "ddr4", "ddr5"};
    size_t word = last_word(item);
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        *known |= pli_skip(item, word).n == strlen(words[i]) &&
                  pli_contains_nocase(pli_skip(item, word), words[i]);
    return *known ? parse_host(p, item, true, pli_trim((pli_str){item.p, word})) : PLIM_OK;
}

/* Does a comma stand there, or a plus between blanks (a chip's name may hold one)? */
static bool divides(pli_str text, size_t i)
{
    if (text.p[i] == '+')
        return i && i + 1 < text.n && text.p[i - 1] == ' ' && text.p[i + 1] == ' ';
    return text.p[i] == ',';
}

static bool next_item(pli_str *rest, pli_str *item)
{
    size_t i = 0;
    if (!rest->p)
        return false;
    while (i < rest->n && !divides(*rest, i))
        i++;
    *item = (pli_str){rest->p, i};
    *rest = i < rest->n ? pli_skip(*rest, i + 1) : (pli_str){NULL, 0};
    return true;
}

static plim_status parse_items(parsing *p)
{
    pli_str rest = pli_s(p->text), item;
    bool any = false;
    while (next_item(&rest, &item)) {
        bool known = false;
        pli_str trimmed = pli_trim(item);
        if (trimmed.n == 0)
            return wrong(p, item, "nothing between the commas");
        any = true;
        plim_status status = parse_family(p, trimmed, &known);
        if (!status && !known)
            status = parse_ram(p, trimmed, &known);
        if (!status && !known)
            status = parse_chip(p, trimmed);
        if (status)
            return status;
    }
    return any ? PLIM_OK : pli_fail(p->error, PLIM_PARSE, "--on", 0, "an empty specification");
}

static void set_host(parsing *p)
{
    plim_memory *m = pli_memory_of(&p->inv);
    if (!m)
        return;
    if (!p->host) {
        PLI_SET(memory, m, usable_source, "unlimited", SOURCE);
        return;
    }
    PLI_SET(memory, m, total_bytes, p->host, SOURCE);
    PLI_SET(memory, m, available_bytes, p->host, SOURCE);
    PLI_SET(memory, m, usable_bytes, p->host, SOURCE);
    PLI_SET(memory, m, usable_source, SOURCE, SOURCE);
}

plim_status plim_machine_from_spec(plimsoll *context, const char *spec, plim_error *error,
                                   plim_machine **out)
{
    parsing p = {.text = spec, .error = error};
    *out = NULL;
    if (!spec)
        return pli_fail(error, PLIM_INVALID, "--on", PLIM_NO_OFFSET, "no specification");
    plim_status status = pli_inventory_new(pli_context_allocator(context), &p.inv);
    if (!status)
        status = parse_items(&p);
    if (!status) {
        set_host(&p);
        pli_inventory_finish(&p.inv);
        return pli_inventory_freeze(&p.inv, out);
    }
    if (p.inv.arena)
        pli_inventory_free(&p.inv);
    return status == PLIM_NOMEM ? pli_fail(error, status, spec, PLIM_NO_OFFSET, "out of memory")
                                : status;
}
