#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_and_close(FILE *file, const char *bytes, size_t length)
{
    bool written = fwrite(bytes, 1, length, file) == length && fflush(file) == 0;
    int why = errno;
    bool closed = fclose(file) == 0;
    if (!written)
        errno = why;
    return written && closed;
}

/* A file of the rights that a new one would have. */
static FILE *open_neighbour(char *name)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    int fd = mkstemp(name);
    if (fd < 0)
        return NULL;
    (void)fchmod(fd, 0666 & ~mask);
    FILE *file = fdopen(fd, "wb");
    if (!file)
        (void)close(fd);
    return file;
}

bool cli_write_file(const char *path, const char *bytes, size_t length)
{
    struct stat before;
    char name[4096];
    if (lstat(path, &before) == 0 && !S_ISREG(before.st_mode)) {
        FILE *file = fopen(path, "wb");
        return file && write_and_close(file, bytes, length);
    }
    int n = snprintf(name, sizeof name, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    FILE *file = open_neighbour(name);
    if (!file)
        return false;
    if (write_and_close(file, bytes, length) && rename(name, path) == 0)
        return true;
    int why = errno;
    (void)unlink(name);
    errno = why;
    return false;
}
