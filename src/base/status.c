#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "str.h"

const char *plim_version(void)
{
    return PLIM_VERSION_TEXT;
}

static const struct {
    plim_status status;
    const char *name, *text;
} statuses[] = {
#define X(name, code, text) {PLIM_##name, #name, text},
    PLIM_STATUS_MAP(X)
#undef X
};

const char *plim_status_name(plim_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "?";
}

const char *plim_status_text(plim_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "unknown status";
}

plim_status pli_status_of_errno(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
        return PLIM_NOT_FOUND;
    case EACCES:
    case EPERM:
        return PLIM_PERMISSION;
    case ENOMEM:
        return PLIM_NOMEM;
    case EBUSY:
        return PLIM_BUSY;
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:
        return PLIM_INVALID;
    case EOPNOTSUPP:
    case ENOTTY:
    case ENOSYS:
        return PLIM_UNSUPPORTED;
    default:
        return PLIM_IO;
    }
}

/* A long subject keeps its end: of a path that is the file's name. */
static void set_subject(char *out, size_t size, const char *subject)
{
    pli_str s = pli_s(subject);
    if (s.n < size) {
        (void)pli_clean(s, out, size);
        return;
    }
    memcpy(out, "...", 3);
    (void)pli_clean(pli_skip(s, s.n - (size - 4)), out + 3, size - 3);
}

plim_status pli_fail(plim_error *error, plim_status status, const char *subject, uint64_t offset,
                     const char *format, ...)
{
    if (!error)
        return status;
    char what[sizeof error->what];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    error->status = status;
    error->offset = offset;
    set_subject(error->subject, sizeof error->subject, subject);
    (void)pli_clean(pli_s(what), error->what, sizeof error->what);
    return status;
}

const char *plim_error_text(const plim_error *error, char *buf, size_t size)
{
    const char *what = error->what[0] ? error->what : plim_status_text(error->status);
    if (error->offset != PLIM_NO_OFFSET)
        (void)snprintf(buf, size, "%s: at byte %" PRIu64 ": %s", error->subject, error->offset,
                       what);
    else
        (void)snprintf(buf, size, "%s%s%s", error->subject, error->subject[0] ? ": " : "", what);
    return buf;
}

void plim_text_free(char *text)
{
    pli_hook_resize(NULL, text, 0, 0);
}
