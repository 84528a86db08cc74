#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dir.h"
#include "status.h"

/* stdio with 64-bit offsets: fseeko is POSIX; _FILE_OFFSET_BITS=64 is set by the build. */
static plim_status file_read(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    FILE *f = user;
    *got = 0;
    if (offset > INT64_MAX)
        return PLIM_OK;
    if (fseeko(f, (off_t)offset, SEEK_SET) != 0)
        return PLIM_IO;
    *got = fread(buf, 1, n, f);
    return ferror(f) ? PLIM_IO : PLIM_OK;
}

plim_status pli_reader_open(const char *path, const plim_allocator *allocator, plim_error *error,
                            plim_reader *out)
{
    struct stat st;
    (void)allocator;
    /* Asked before it is opened: opening a pipe would wait for its writer. */
    if (stat(path, &st) != 0)
        return pli_fail(error, pli_status_of_errno(errno), path, PLIM_NO_OFFSET, "%s",
                        strerror(errno));
    if (!S_ISREG(st.st_mode))
        return pli_fail(error, PLIM_INVALID, path, PLIM_NO_OFFSET, "not a regular file");
    FILE *f = fopen(path, "rbe");
    if (!f)
        return pli_fail(error, pli_status_of_errno(errno), path, PLIM_NO_OFFSET, "%s",
                        strerror(errno));
    *out = (plim_reader){sizeof *out, path, (uint64_t)st.st_size, f, file_read};
    return PLIM_OK;
}

void pli_reader_close(plim_reader *reader)
{
    if (reader->read == file_read && reader->user)
        (void)fclose(reader->user);
    reader->user = NULL;
}

static plim_status open_here(void *user, const char *name, plim_reader *out, plim_error *error)
{
    (void)user;
    return pli_reader_open(name, NULL, error, out);
}

static void close_here(void *user, plim_reader *reader)
{
    (void)user;
    pli_reader_close(reader);
}

const plim_files pli_files_here = {sizeof(plim_files), NULL, open_here, close_here};

static plim_status memory_read(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    const pli_str *view = user;
    *got = 0;
    if (offset >= view->n)
        return PLIM_OK;
    size_t left = view->n - (size_t)offset;
    *got = n < left ? n : left;
    memcpy(buf, view->p + offset, *got);
    return PLIM_OK;
}

plim_reader pli_reader_memory(const char *name, const pli_str *view)
{
    union {
        const pli_str *in;
        void *out;
    } user = {.in = view};
    return (plim_reader){sizeof(plim_reader), name, view->n, user.out, memory_read};
}

plim_status pli_reader_exact(const plim_reader *reader, uint64_t offset, void *buf, size_t n,
                             plim_error *error)
{
    size_t got = 0;
    plim_status status = reader->read(reader->user, offset, buf, n, &got);
    if (status != PLIM_OK)
        return pli_fail(error, status, reader->name, offset, "%s", plim_status_text(status));
    if (got != n)
        return pli_fail(error, PLIM_PARSE, reader->name, offset + got,
                        "the file ends here, %zu bytes too early", n - got);
    return PLIM_OK;
}
