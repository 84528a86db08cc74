/* The shapes of bodies that are not files' contents: read and written. */
#include <stdio.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/num.h"
#include "archive.h"

/* ---- content --------------------------------------------------------------------------------- */

uint64_t pli_entry_size(const pli_entry *e)
{
    size_t n = e->body.n;
    return e->hex && !pli_bytes_decode(e->body, NULL, 0, &n) ? 0 : n;
}

plim_status pli_entry_content(const pli_entry *e, pli_buf *out)
{
    size_t n = (size_t)pli_entry_size(e);
    plim_status status = pli_buf_reserve(out, n);
    if (status != PLIM_OK)
        return status;
    if (!e->hex)
        return pli_buf_add(out, e->body.p, n);
    (void)pli_bytes_decode(e->body, out->p + out->n, n, &n);
    pli_buf_added(out, n);
    return PLIM_OK;
}

const char *pli_entry_text(const pli_archive *a, pli_entry *e)
{
    size_t n = (size_t)pli_entry_size(e);
    char *text = e->text ? NULL : pli_alloc(a->arena, n + 1);
    if (!text)
        return e->text;
    if (e->hex)
        (void)pli_bytes_decode(e->body, text, n, &n);
    else
        memcpy(text, e->body.p, n);
    if (n && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return e->text = text;
}

/* ---- stat ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    pli_file_type type;
} types[] = {
    {"regular", PLI_FILE_REGULAR}, {"dir", PLI_FILE_DIRECTORY}, {"char", PLI_FILE_CHAR},
    {"block", PLI_FILE_BLOCK},     {"other", PLI_FILE_OTHER},
};

static bool parse_type(pli_str word, pli_file_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pli_eq(word, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static bool parse_device(pli_str value, uint64_t *major, uint64_t *minor)
{
    pli_str a, b;
    return pli_key_value(value, ':', &a, &b) && pli_parse_u64(a, major) && pli_parse_u64(b, minor);
}

static bool parse_access(pli_str value, pli_stat *out)
{
    out->readable = pli_contains(value, "r");
    out->writable = pli_contains(value, "w");
    return pli_eq(value, "r") || pli_eq(value, "w") || pli_eq(value, "rw") || value.n == 0;
}

bool pli_stat_parse(pli_str body, pli_stat *out)
{
    pli_str line, word, key, value;
    pli_stat st = {.type = PLI_FILE_OTHER};
    if (!pli_next_line(&body, &line) || !pli_next_word(&line, &word) || !parse_type(word, &st.type))
        return false;
    while (pli_next_word(&line, &word)) {
        bool ok = pli_key_value(word, '=', &key, &value);
        if (ok && pli_eq(key, "size"))
            ok = pli_parse_u64(value, &st.size);
        else if (ok && pli_eq(key, "dev"))
            ok = parse_device(value, &st.dev_major, &st.dev_minor);
        else if (ok && pli_eq(key, "rdev"))
            ok = parse_device(value, &st.rdev_major, &st.rdev_minor);
        else
            ok = ok && pli_eq(key, "access") && parse_access(value, &st);
        if (!ok)
            return false;
    }
    *out = st;
    return true;
}

void pli_stat_write(pli_buf *body, const pli_stat *st)
{
    const char *type = "other";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == st->type)
            type = types[i].name;
    (void)pli_buf_addz(body, type);
    if (st->size)
        (void)pli_buf_printf(body, " size=%llu", (unsigned long long)st->size);
    if (st->dev_major || st->dev_minor)
        (void)pli_buf_printf(body, " dev=%llu:%llu", (unsigned long long)st->dev_major,
                             (unsigned long long)st->dev_minor);
    if (st->rdev_major || st->rdev_minor)
        (void)pli_buf_printf(body, " rdev=%llu:%llu", (unsigned long long)st->rdev_major,
                             (unsigned long long)st->rdev_minor);
    if (st->readable || st->writable)
        (void)pli_buf_printf(body, " access=%s%s", st->readable ? "r" : "",
                             st->writable ? "w" : "");
    (void)pli_buf_addz(body, "\n");
}

/* ---- facts, registers, isolation ------------------------------------------------------------- */

static const struct {
    const char *name;
    pli_os os;
} systems[] = {
    {"linux", PLI_OS_LINUX},
    {"darwin", PLI_OS_DARWIN},
    {"windows", PLI_OS_WINDOWS},
    {"other", PLI_OS_OTHER},
};

static bool parse_os(pli_str name, pli_os *out)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (pli_eq(name, systems[i].name)) {
            *out = systems[i].os;
            return true;
        }
    return false;
}

static bool parse_fact(pli_str key, pli_str value, pli_facts *facts)
{
    if (pli_eq(key, "os"))
        return parse_os(value, &facts->os);
    if (pli_eq(key, "arch"))
        return pli_clean(value, facts->arch, sizeof facts->arch) == value.n;
    if (pli_eq(key, "page_size"))
        return pli_parse_u64(value, &facts->page_size);
    if (pli_eq(key, "cpus"))
        return pli_parse_u64(value, &facts->cpus);
    if (pli_eq(key, "pid"))
        return pli_parse_u64(value, &facts->pid);
    return pli_eq(key, "uid") && pli_parse_u64(value, &facts->uid);
}

bool pli_facts_parse(pli_str body, pli_facts *out)
{
    pli_str line, key, value;
    pli_facts facts = {.os = PLI_OS_LINUX};
    while (pli_next_line(&body, &line))
        if (pli_trim(line).n &&
            (!pli_key_value(line, '=', &key, &value) || !parse_fact(key, value, &facts)))
            return false;
    *out = facts;
    return true;
}

void pli_facts_write(pli_buf *body, const pli_facts *facts)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].os == facts->os)
            (void)pli_buf_printf(body, "os=%s\n", systems[i].name);
    if (facts->arch[0])
        (void)pli_buf_printf(body, "arch=%s\n", facts->arch);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"page_size", facts->page_size},
                   {"cpus", facts->cpus},
                   {"pid", facts->pid},
                   {"uid", facts->uid}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value)
            (void)pli_buf_printf(body, "%s=%llu\n", numbers[i].name,
                                 (unsigned long long)numbers[i].value);
}

bool pli_cpuid_parse(pli_str body, uint32_t out[4])
{
    pli_str line, word;
    uint64_t v;
    if (!pli_next_line(&body, &line))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!pli_next_word(&line, &word) || !pli_parse_hex(word, &v) || v > UINT32_MAX)
            return false;
        out[i] = (uint32_t)v;
    }
    return !pli_next_word(&line, &word);
}

bool pli_isolation_parse(pli_str body, pli_isolation *out)
{
    pli_isolation end = {.status = PLIM_OK};
    pli_str line, key, value;
    uint64_t number;
    while (pli_next_line(&body, &line)) {
        if (!pli_trim(line).n)
            continue;
        if (!pli_key_value(line, '=', &key, &value))
            return false;
        if (pli_eq(key, "last_call") && value.n < sizeof end.last_call)
            (void)pli_clean(value, end.last_call, sizeof end.last_call);
        else if (!pli_parse_u64(value, &number))
            return false;
        else if (pli_eq(key, "signal") && number < 256)
            end.signal = (int)number;
        else if (pli_eq(key, "exit") && number < 256)
            end.exit_status = (int)number;
        else if (pli_eq(key, "elapsed_us"))
            end.elapsed_us = number;
        else
            return false;
    }
    *out = end;
    return true;
}

void pli_isolation_write(pli_buf *body, const pli_isolation *end)
{
    if (end->last_call[0])
        (void)pli_buf_printf(body, "last_call=%s\n", end->last_call);
    (void)pli_buf_printf(body, "signal=%d\nexit=%d\nelapsed_us=%llu\n", end->signal,
                         end->exit_status, (unsigned long long)end->elapsed_us);
}
