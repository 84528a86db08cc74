#define _GNU_SOURCE
#include "files_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/limits.h"

#define FIRST_READ 16384u /* most /proc and /sys files fit: one read(2) and one that sees the end */
#define MAX_LINKS 40      /* as the kernel */

/* ---- resolving below a root: every component is taken by itself, so that an absolute link and
 * ".." stay inside  */

/* Appends `part` to the resolved path, popping for "..". False when it grows too long. */
static bool push_part(char *at, size_t size, pli_str part)
{
    size_t n = strlen(at);
    if (part.n == 0 || pli_eq(part, "."))
        return true;
    if (pli_eq(part, "..")) {
        while (n > 0 && at[n - 1] != '/')
            n--;
        at[n > 0 ? n - 1 : 0] = '\0';
        return true;
    }
    if (n + part.n + 2 > size)
        return false;
    if (n)
        at[n++] = '/';
    memcpy(at + n, part.p, part.n);
    at[n + part.n] = '\0';
    return true;
}

/* Target of the link `done` in front of the rest of the path. */
static bool splice_link(char *rest, size_t size, const char *target, size_t length, pli_str tail)
{
    char joined[PLI_MAX_PATH];
    if (length + tail.n + 2 > size || length + tail.n + 2 > sizeof joined)
        return false;
    memcpy(joined, target, length);
    joined[length] = '/';
    if (tail.n)
        memcpy(joined + length + 1, tail.p, tail.n);
    joined[length + 1 + tail.n] = '\0';
    memcpy(rest, joined, length + tail.n + 2);
    return true;
}

/* What carries a tree may know no links, and leave a file that holds the target in their place (git
 * without core.symlinks, object stores): such a file stands for the link where one is needed. */
static ssize_t read_link(int root, const char *path, char *target, size_t size)
{
    struct stat st;
    ssize_t n = readlinkat(root, path, target, size);
    if (n >= 0 || errno != EINVAL || root < 0)
        return n;
    if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 3 && (size_t)st.st_size < size) {
        int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        n = fd < 0 ? -1 : read(fd, target, (size_t)st.st_size);
        if (fd >= 0)
            (void)close(fd);
        if (n == (ssize_t)st.st_size && memcmp(target, "../", 3) == 0 &&
            !memchr(target, '\n', (size_t)n) && !memchr(target, '\0', (size_t)n))
            return n;
    }
    errno = EINVAL;
    return -1;
}

/* Path below the root with all links resolved (the last one only if `follow`), relative, "." for
 * the root. */
static plim_status resolve(int root, const char *path, bool follow, char *out, size_t size)
{
    char rest[PLI_MAX_PATH], target[PLI_MAX_PATH];
    int links = 0;
    if (strlen(path) >= sizeof rest)
        return PLIM_INVALID;
    memcpy(rest, path, strlen(path) + 1);
    out[0] = '\0';
    for (pli_str left = pli_s(rest), part; pli_next_part(&left, '/', &part);) {
        size_t before = strlen(out);
        if (!push_part(out, size, part))
            return PLIM_INVALID;
        if (out[0] == '\0' || part.n == 0 || pli_eq(part, ".") || pli_eq(part, "..") ||
            (!left.n && !follow))
            continue;
        ssize_t n = left.n ? read_link(root, out, target, sizeof target)
                           : readlinkat(root, out, target, sizeof target);
        if (n < 0 && errno != EINVAL)
            return pli_status_of_errno(errno);
        if (n < 0)
            continue; /* no link */
        if (++links > MAX_LINKS ||
            !splice_link(rest, sizeof rest, target, (size_t)n, left.p ? left : pli_s("")))
            return PLIM_INVALID;
        out[target[0] == '/' ? 0 : before] = '\0';
        left = pli_s(rest);
    }
    if (out[0] == '\0')
        memcpy(out, ".", 2);
    return PLIM_OK;
}

/* Descriptor to start from and path from there. */
static plim_status locate(const pli_files *files, const char *path, bool follow, char *space,
                          int *at, const char **relative)
{
    *at = files->root < 0 ? AT_FDCWD : files->root;
    *relative = path;
    if (files->root < 0)
        return PLIM_OK;
    *relative = space;
    return resolve(files->root, path, follow, space, PLI_MAX_PATH);
}

plim_status pli_files_open(const pli_files *files, const char *path, int *fd)
{
    char space[PLI_MAX_PATH];
    const char *relative;
    int at;
    plim_status status = locate(files, path, true, space, &at, &relative);
    if (status != PLIM_OK)
        return status;
    /* Non-blocking: a pipe in a tree must not hang us. */
    *fd = openat(at, relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *fd < 0 ? pli_status_of_errno(errno) : PLIM_OK;
}

static plim_status read_all(int fd, pli_buf *out)
{
    size_t want = FIRST_READ;
    for (;;) {
        if (out->n >= out->max)
            return PLIM_LIMIT;
        if (want > out->max - out->n)
            want = out->max - out->n;
        plim_status status = pli_buf_reserve(out, want);
        if (status != PLIM_OK)
            return status;
        ssize_t n = read(fd, out->p + out->n, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pli_status_of_errno(errno);
        pli_buf_added(out, (size_t)n);
        /* /proc and /sys give all there is, and no file grows a second piece */
        if ((size_t)n < want)
            return PLIM_OK;
        want *= 2;
    }
}

plim_status pli_files_read(const pli_files *files, const char *path, pli_buf *out)
{
    int fd;
    plim_status status = pli_files_open(files, path, &fd);
    if (status != PLIM_OK)
        return status;
    status = read_all(fd, out);
    (void)close(fd);
    return status;
}

plim_status pli_files_reread(int fd, pli_buf *out)
{
    return lseek(fd, 0, SEEK_SET) < 0 ? pli_status_of_errno(errno) : read_all(fd, out);
}

plim_status pli_files_list(const pli_files *files, const char *path, pli_arena *arena,
                           pli_names *out)
{
    int fd;
    plim_status status = pli_files_open(files, path, &fd);
    if (status != PLIM_OK)
        return status;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        status = pli_status_of_errno(errno);
        (void)close(fd);
        return status;
    }
    for (struct dirent *entry; status == PLIM_OK && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char **items = pli_grow_array(arena, out->items, out->count, sizeof *items);
        if (!items || out->count >= PLI_MAX_DIR_ENTRIES) {
            status = items ? PLIM_LIMIT : PLIM_NOMEM;
            break;
        }
        out->items = items;
        out->items[out->count] = pli_strdup(arena, entry->d_name);
        status = out->items[out->count++] ? PLIM_OK : PLIM_NOMEM;
    }
    (void)closedir(dir);
    return status;
}

plim_status pli_files_link(const pli_files *files, const char *path, pli_buf *target)
{
    char space[PLI_MAX_PATH], text[PLI_MAX_PATH];
    const char *relative;
    int at;
    plim_status status = locate(files, path, false, space, &at, &relative);
    if (status != PLIM_OK)
        return status;
    ssize_t n = read_link(at, relative, text, sizeof text);
    if (n < 0)
        return errno == EINVAL ? PLIM_NOT_FOUND : pli_status_of_errno(errno);
    return pli_buf_add(target, text, (size_t)n);
}

static pli_file_type type_of(mode_t mode)
{
    return S_ISREG(mode)   ? PLI_FILE_REGULAR
           : S_ISDIR(mode) ? PLI_FILE_DIRECTORY
           : S_ISCHR(mode) ? PLI_FILE_CHAR
           : S_ISBLK(mode) ? PLI_FILE_BLOCK
                           : PLI_FILE_OTHER;
}

plim_status pli_files_stat(const pli_files *files, const char *path, pli_stat *out)
{
    char space[PLI_MAX_PATH];
    const char *relative;
    struct stat st;
    int at;
    plim_status status = locate(files, path, true, space, &at, &relative);
    if (status != PLIM_OK)
        return status;
    if (fstatat(at, relative, &st, 0) != 0)
        return pli_status_of_errno(errno);
    *out = (pli_stat){
        .type = type_of(st.st_mode),
        .size = st.st_size > 0 ? (uint64_t)st.st_size : 0,
        .dev_major = major(st.st_dev),
        .dev_minor = minor(st.st_dev),
        .rdev_major = major(st.st_rdev),
        .rdev_minor = minor(st.st_rdev),
        .readable = faccessat(at, relative, R_OK, 0) == 0,
        .writable = faccessat(at, relative, W_OK, 0) == 0,
    };
    return PLIM_OK;
}
