/* Files on servers, read by ranges: the beginning first, then what is asked for in growing blocks.
 * Answers are checked (offsets, sizes, one and the same file throughout); the weights behind a
 * header are never fetched but for the rest of its last block.
 *
 * A server without ranges is read from the start, up to a bound. Redirects are followed to http and
 * https, and not from the latter to the former. HF_TOKEN goes to the origin of HF_ENDPOINT alone,
 * also among redirects. Proxies are those of the environment, as libcurl reads it. */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <plimsoll/base.h>

typedef struct cli_http cli_http;

typedef struct cli_http_options {
    double timeout;       /* seconds that a server may say nothing, or almost nothing */
    const char *endpoint; /* HF_ENDPOINT, or NULL; with `token`, who may see it */
    const char *token;    /* HF_TOKEN, or NULL */
} cli_http_options;

/* Loads libcurl. `options` with its texts must live as long; `subject` is what the error is about.
 * Freed with cli_http_close(). Errors: UNSUPPORTED (no libcurl), NOMEM. */
plim_status cli_http_open(const cli_http_options *options, const char *subject, plim_error *error,
                          cli_http **out);
void cli_http_close(cli_http *http);

/* For plim_model_open_files(): the names are URLs without their query, which is `query` ("?a=b" or
 * "") for each of them. Errors: INVALID (no URL of http or https), NOT_FOUND, PERMISSION, TIMEOUT,
 * BUSY, UNSUPPORTED, IO, LIMIT, NOMEM. */
plim_files cli_http_files(cli_http *http, const char *query);
/* Why a read failed, which its reader can only say by a status; status PLIM_OK: none did. */
const plim_error *cli_http_failure(const cli_http *http);
/* A whole document of at most `max` bytes, NUL-terminated; freed with free(). */
plim_status cli_http_get(cli_http *http, const char *url, size_t max, plim_error *error,
                         char **text, size_t *length);

#endif
