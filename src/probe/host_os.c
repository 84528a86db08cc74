/* Operating system: uname, os-release, page size. */
#include <string.h>

#include "../machine/query.h"
#include "probe.h"

static const char *os_name(pli_os os)
{
    return os == PLI_OS_LINUX     ? "linux"
           : os == PLI_OS_DARWIN  ? "darwin"
           : os == PLI_OS_WINDOWS ? "windows"
                                  : NULL;
}

/* os-release values may be quoted. */
static pli_str unquoted(pli_str s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
        return (pli_str){s.p + 1, s.n - 2};
    return s;
}

static void distribution(pli_probe_context *context, plim_os *os)
{
    pli_str text, name;
    if (pli_read(context->m, context->scratch, "/etc/os-release", &text) != PLIM_OK &&
        pli_read(context->m, context->scratch, "/usr/lib/os-release", &text) != PLIM_OK)
        return;
    if (pli_find_value(text, "PRETTY_NAME", '=', &name) || pli_find_value(text, "NAME", '=', &name))
        PLI_SET_STR(os, os, distribution, pli_text(context->inv, unquoted(name)), "os-release");
}

static void kernel(pli_probe_context *context, plim_os *os)
{
    char names[1024];
    size_t n = 0;
    pli_str release = {"", 0};
    if (pli_query(context->m, "-", "host.uname", NULL, 0, names, sizeof names, &n) == PLIM_OK) {
        pli_str left = {names, n}, part;
        for (int i = 0; i < 2 && pli_next_part(&left, '\0', &part); i++)
            release = part;
        PLI_SET_STR(os, os, kernel, pli_text(context->inv, release), "uname");
    } else {
        release = pli_read_wordf(context->m, context->scratch, "/proc/sys/kernel/osrelease");
        PLI_SET_STR(os, os, kernel, pli_text(context->inv, release), "proc");
    }
}

static void run(pli_probe_context *context)
{
    plim_os *os = pli_os_of(context->inv);
    if (!os)
        return;
    const pli_facts *facts = &context->m->facts;
    PLI_SET_STR(os, os, name, os_name(facts->os), "facts");
    PLI_SET_STR(os, os, arch, pli_text(context->inv, pli_s(facts->arch)), "uname");
    if (facts->page_size)
        PLI_SET(os, os, page_size_bytes, facts->page_size, "sysconf");
    kernel(context, os);
    distribution(context, os);
}

const pli_probe pli_probe_host_os = {.run = run};
