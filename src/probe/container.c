#include <string.h>

#include "environment.h"
#include "mounts.h"
#include "shared.h"

#define ID_DIGITS 12u /* the short form of a container's id */

static const struct trace {
    enum { CGROUP, CGROUP_ID, MOUNT } where;
    const char *text, *runtime;
} traces[] = {
#define CONTAINER(where, text, runtime) {where, text, runtime},
#include "../know/containers.def"
#undef CONTAINER
};

/* ---- control groups -------------------------------------------------------------------------- */

static bool is_id(pli_str s)
{
    size_t n = 0;
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || (s.p[n] >= 'a' && s.p[n] <= 'f')))
        n++;
    return n >= ID_DIGITS;
}

static bool has_trace(pli_str text, const char *trace, bool needs_id)
{
    size_t n = strlen(trace);
    while (text.n >= n) {
        const char *at = memchr(text.p, trace[0], text.n - n + 1);
        if (!at)
            return false;
        text = pli_skip(text, (size_t)(at - text.p));
        if (memcmp(text.p, trace, n) == 0 && (!needs_id || is_id(pli_skip(text, n))))
            return true;
        text = pli_skip(text, 1);
    }
    return false;
}

static const char *from_cgroups(pli_str cgroups)
{
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        if (traces[i].where != MOUNT &&
            has_trace(cgroups, traces[i].text, traces[i].where == CGROUP_ID))
            return traces[i].runtime;
    return NULL;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

/* A host that runs containers has their mounts too, elsewhere. */
static bool is_given(pli_str point)
{
    static const char *const points[] = {"/", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf",
                                         "/proc/meminfo"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (pli_eq(point, points[i]))
            return true;
    return false;
}

static const char *from_mount(const pli_mount *mount)
{
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        if (traces[i].where == MOUNT && (pli_contains(mount->root, traces[i].text) ||
                                         pli_contains(mount->source, traces[i].text) ||
                                         pli_contains(mount->options, traces[i].text)))
            return traces[i].runtime;
    return NULL;
}

static const char *from_mounts(pli_probe_context *context)
{
    pli_str mounts;
    pli_mount mount;
    (void)pli_read_shared(context, "/proc/self/mountinfo", &mounts);
    while (pli_next_mount(&mounts, &mount)) {
        const char *runtime = is_given(mount.point) ? from_mount(&mount) : NULL;
        if (runtime)
            return runtime;
    }
    return NULL;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* A virtual machine made from an image (Firecracker, fly.io) keeps the image's files: its root is a
 * whole block device's, while a container's is an overlay or a part of the host's disk. */
static bool has_disk_of_its_own(pli_probe_context *context)
{
    pli_str mounts;
    pli_mount mount;
    bool own = false;
    (void)pli_read_shared(context, "/proc/self/mountinfo", &mounts);
    while (pli_next_mount(&mounts, &mount)) /* the last one mounted is on top */
        if (pli_eq(mount.point, "/"))
            own = pli_eq(mount.root, "/") && pli_starts(mount.source, "/dev/") &&
                  !pli_contains(mount.source, "docker-");
    return own;
}

/* The files and the variable by which managers tell their containers so. */
static const char *from_marks(pli_probe_context *context)
{
    bool podman = pli_exists(context->m, "/run/.containerenv");
    bool docker = !podman && pli_exists(context->m, "/.dockerenv");
    if ((podman || docker) && !has_disk_of_its_own(context))
        return podman ? "podman" : "docker";
    pli_str told = pli_read_wordf(context->m, context->scratch, "/run/systemd/container");
    if (told.n == 0)
        told = pli_trim(pli_s(pli_env(context->m, "container")));
    return told.n && !pli_eq(told, "wsl") ? pli_text(context->inv, told) : NULL;
}

void pli_container_find(pli_probe_context *context, plim_environment *e)
{
    pli_str cgroups;
    (void)pli_read_shared(context, "/proc/self/cgroup", &cgroups);
    const char *runtime = from_marks(context), *source = "marker";
    if (!runtime) {
        runtime = from_cgroups(cgroups);
        source = "cgroup";
    }
    if (!runtime) {
        runtime = from_mounts(context);
        source = "mountinfo";
    }
    bool kubernetes = pli_env(context->m, "KUBERNETES_SERVICE_HOST") ||
                      pli_contains(cgroups, "kubepods") ||
                      pli_exists(context->m, "/var/run/secrets/kubernetes.io");
    if (kubernetes && runtime && strcmp(runtime, "podman") == 0)
        runtime = "cri-o"; /* it shares podman's storage and mark */
    PLI_SET_STR(environment, e, container, runtime, source);
    if (kubernetes)
        PLI_SET(environment, e, kubernetes, true, source);
}
