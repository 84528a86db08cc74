#include "dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "limits.h"
#include "status.h"

bool pli_dir_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

/* Names of an open directory; NULL when memory or the limit ended it (*status). */
static const char **read_names(pli_arena *arena, DIR *dir, size_t *count, plim_status *status)
{
    const char **names = NULL;
    *count = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        *status = *count == PLI_MAX_DIR_ENTRIES ? PLIM_LIMIT : PLIM_NOMEM;
        if (*count == PLI_MAX_DIR_ENTRIES)
            return NULL;
        names = pli_grow_array(arena, names, *count, sizeof *names);
        if (!names || !(names[*count] = pli_strdup(arena, entry->d_name)))
            return NULL;
        (*count)++;
    }
    *status = PLIM_OK;
    return names;
}

plim_status pli_dir_names(pli_arena *arena, const char *path, plim_error *error,
                          const char *const **names, size_t *count)
{
    plim_status status;
    DIR *dir = opendir(path);
    *names = NULL;
    if (!dir)
        return pli_fail(error, pli_status_of_errno(errno), path, PLIM_NO_OFFSET, "%s",
                        strerror(errno));
    const char **list = read_names(arena, dir, count, &status);
    (void)closedir(dir);
    if (status == PLIM_LIMIT)
        return pli_fail(error, status, path, PLIM_NO_OFFSET, "more than %u names in the directory",
                        PLI_MAX_DIR_ENTRIES);
    if (status != PLIM_OK)
        return pli_fail(error, status, path, PLIM_NO_OFFSET, "out of memory");
    if (*count)
        qsort(list, *count, sizeof *list, by_name);
    *names = list;
    return PLIM_OK;
}
