#include "cgroup.h"

#include <string.h>

#include "mounts.h"
#include "shared.h"

#define SELF "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"

static bool has_controller(pli_str list, const char *controller)
{
    pli_str part;
    while (pli_next_part(&list, ',', &part))
        if (pli_eq(part, controller))
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "5:memory:/a/b" (v1), "0::/a/b" (v2). */
static bool parse_line(pli_str line, pli_str *number, pli_str *controllers, pli_str *path)
{
    return pli_next_part(&line, ':', number) && pli_next_part(&line, ':', controllers) &&
           (*path = pli_trim(line)).n > 0 && path->p[0] == '/';
}

/* The process's path in the v1 hierarchy that has the controller, else in v2's. */
static bool own_path(pli_str text, const char *controller, bool *v2, pli_str *path)
{
    pli_str line, number, controllers, at;
    bool found = false;
    while (pli_next_line(&text, &line)) {
        if (!parse_line(line, &number, &controllers, &at))
            continue;
        if (has_controller(controllers, controller)) {
            *v2 = false;
            *path = at;
            return true;
        }
        if (pli_eq(number, "0") && controllers.n == 0) {
            *v2 = found = true;
            *path = at;
        }
    }
    return found;
}

static bool find_mount(pli_str mounts, bool v2, const char *controller, pli_mount *out)
{
    while (pli_next_mount(&mounts, out))
        if (v2 ? pli_eq(out->type, "cgroup2")
               : pli_eq(out->type, "cgroup") && has_controller(out->options, controller))
            return true;
    return false;
}

/* Is there a component ".."? The group then lies outside of what this process may see. */
static bool leaves(pli_str path)
{
    pli_str part;
    while (pli_next_part(&path, '/', &part))
        if (pli_eq(part, ".."))
            return true;
    return false;
}

/* The path below the mount point. A mount of a part of the hierarchy (a container's own group)
 * takes its root off the front; where the root is another's, the path is tried as it is: levels
 * that do not exist are passed by on the way up to the mount point. */
static pli_str below_mount(pli_str path, pli_str root)
{
    if (leaves(path))
        return (pli_str){"", 0};
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (root.n <= 1 || path.n < root.n || !pli_same((pli_str){path.p, root.n}, root) ||
        (path.n > root.n && path.p[root.n] != '/'))
        return path;
    return pli_skip(path, root.n);
}

bool pli_cgroup_find(pli_probe_context *context, const char *controller, pli_cgroup *out)
{
    pli_str self, mounts, path;
    pli_mount mount;
    bool v2 = false;
    *out = (pli_cgroup){0};
    if (pli_read_shared(context, SELF, &self) != PLIM_OK || !own_path(self, controller, &v2, &path))
        return false;
    (void)pli_read_shared(context, MOUNTS, &mounts);
    out->v2 = v2;
    if (find_mount(mounts, v2, controller, &mount)) {
        out->mount = pli_mount_path(context->scratch, mount.point);
        path = below_mount(path, mount.root);
    } else { /* a tree without mountinfo: the usual places */
        out->mount =
            v2 ? "/sys/fs/cgroup" : pli_printf(context->scratch, "/sys/fs/cgroup/%s", controller);
        path = below_mount(path, (pli_str){"/", 1});
    }
    out->path = pli_strndup(context->scratch, path);
    return out->mount && out->path;
}

bool pli_cgroup_up(pli_cgroup *group)
{
    char *slash = strrchr(group->path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

pli_str pli_cgroup_read(pli_probe_context *context, const pli_cgroup *group, const char *file)
{
    pli_str text = {"", 0};
    char *path = pli_printf(context->scratch, "%s%s/%s", group->mount, group->path, file);
    if (!path)
        return text;
    pli_note_unreadable(context, path, pli_read(context->m, context->scratch, path, &text));
    return pli_trim(text);
}

const char *pli_cgroup_version(pli_probe_context *context)
{
    pli_str text, line, number, controllers, path;
    bool v1 = false, v2 = false;
    if (pli_read_shared(context, SELF, &text) != PLIM_OK)
        return NULL;
    while (pli_next_line(&text, &line))
        if (parse_line(line, &number, &controllers, &path)) {
            bool unified = pli_eq(number, "0") && controllers.n == 0;
            v2 |= unified;
            v1 |= !unified && !pli_starts(controllers, "name=");
        }
    return v1 && v2 ? "hybrid" : v2 ? "2" : v1 ? "1" : NULL;
}
