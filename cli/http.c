#include "http.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"
#include "url.h"

enum { MAX_HOPS = 10, MAX_URL = 16384 };
#define FIRST_BLOCK ((size_t)512 << 10)   /* most headers are shorter */
#define LARGEST_BLOCK ((size_t)16 << 20)  /* vocabularies are */
#define MAX_PREFIX ((size_t)64 << 20)     /* of a server without ranges */
#define MAX_FETCHED ((uint64_t)256 << 20) /* of one file */

struct cli_http {
    cli_http_options options;
    cli_transfer *transfer;
    plim_error failure;
    const char *query;
};

/* One file on a server, and the block of it that was fetched last. */
struct remote {
    cli_http *http;
    char *name;  /* as it was asked for: messages show it, queries may hold secrets */
    char *url;   /* with the query */
    char *where; /* where redirects led, or NULL */
    char *etag;
    uint64_t size;
    bool size_known;
    bool no_ranges; /* every answer begins at the start */
    unsigned char *block;
    uint64_t start;
    size_t have, room;
    uint64_t fetched; /* bytes of all blocks */
};

/* ---- what went wrong ---- */

static plim_status fail(plim_error *error, plim_status status, const char *subject,
                        const char *format, ...) PLIM_PRINTF(4, 5);

static plim_status fail(plim_error *error, plim_status status, const char *subject,
                        const char *format, ...)
{
    va_list args;
    if (!error)
        return status;
    size_t n = strlen(subject), most = sizeof error->subject - 1;
    error->status = status;
    error->offset = PLIM_NO_OFFSET;
    (void)snprintf(error->subject, sizeof error->subject, "%s",
                   n > most ? subject + n - most : subject);
    va_start(args, format);
    (void)vsnprintf(error->what, sizeof error->what, format, args);
    va_end(args);
    return status;
}

static plim_status no_memory(plim_error *error, const char *subject)
{
    return fail(error, PLIM_NOMEM, subject, "out of memory");
}

static char *copy(const char *text, size_t n)
{
    char *to = malloc(n + 1);
    if (!to)
        return NULL;
    memcpy(to, text, n);
    to[n] = '\0';
    return to;
}

/* An answer that is neither a part, nor the whole, nor a redirect. */
static plim_status refusal(const struct remote *file, const cli_reply *reply, bool with_token,
                           plim_error *error)
{
    switch (reply->code) {
    case 401:
        return fail(error, PLIM_PERMISSION, file->name,
                    with_token ? "the server does not accept HF_TOKEN (401)"
                               : "the server wants to know who asks (401): the file is private or "
                                 "gated, or the address is wrong; a hub's token is taken from "
                                 "HF_TOKEN and sent to the server that HF_ENDPOINT names");
    case 403:
        return fail(error, PLIM_PERMISSION, file->name, "the server refuses access (403)");
    case 404:
    case 410:
        return fail(error, PLIM_NOT_FOUND, file->name, "the server has no such file (%ld)",
                    reply->code);
    case 416:
        if (reply->content_range && strcmp(reply->content_range, "bytes */0") == 0)
            return fail(error, PLIM_PARSE, file->name, "the file is empty");
        return fail(error, PLIM_IO, file->name, "the server has no such range of the file (416)");
    case 429:
    case 503:
        return fail(error, PLIM_BUSY, file->name, "the server %s (%ld)%s%.40s%s",
                    reply->code == 429 ? "got too many requests" : "is not available now",
                    reply->code, reply->retry_after ? "; it asks to come back: " : "",
                    reply->retry_after ? reply->retry_after : "",
                    reply->retry_after &&
                            strspn(reply->retry_after, "0123456789") == strlen(reply->retry_after)
                        ? " s"
                        : "");
    default:
        return fail(error, PLIM_IO, file->name, "the server answers %ld%s", reply->code,
                    reply->code >= 500 ? ", which is a failure of its own" : "");
    }
}

/* ---- one answer, behind whatever redirects ---- */

/* The token, where this URL is of the server that it is for. */
static const char *token_for(const cli_http *http, const cli_url *url)
{
    cli_url endpoint;
    const char *token = http->options.token;
    bool its = token && token[0] && http->options.endpoint &&
               cli_url_parse(http->options.endpoint, &endpoint) &&
               cli_url_same_origin(url, &endpoint);
    return its ? token : NULL;
}

static plim_status check_url(const char *text, const char *subject, plim_error *error, cli_url *url)
{
    if (strlen(text) > MAX_URL)
        return fail(error, PLIM_LIMIT, subject, "a URL of more than %d bytes", MAX_URL);
    if (!cli_url_parse(text, url))
        return fail(error, PLIM_INVALID, subject, "no URL of http or https");
    if (url->has_user)
        return fail(error, PLIM_INVALID, subject,
                    "names and passwords in a URL are not taken: they would be printed");
    return PLIM_OK;
}

/* Is this answer a redirect that may be followed? Its place is then in *to. */
static plim_status follow(const struct remote *file, const char *from, const cli_reply *reply,
                          plim_error *error, char **to)
{
    cli_url old, next;
    if (!reply->location)
        return fail(error, PLIM_IO, file->name, "the server redirects (%ld), but not where to",
                    reply->code);
    plim_error why = PLIM_ERROR_INIT;
    plim_status status = check_url(reply->location, file->name, &why, &next);
    if (status != PLIM_OK)
        return fail(error, PLIM_IO, file->name, "the server redirects to %.100s: %.100s",
                    reply->location, why.what);
    if (cli_url_parse(from, &old) && cli_url_is_https(&old) && !cli_url_is_https(&next))
        return fail(error, PLIM_IO, file->name, "the server redirects from https to http");
    *to = copy(reply->location, strlen(reply->location));
    return *to ? PLIM_OK : no_memory(error, file->name);
}

static bool redirects(long code)
{
    return code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
}

static plim_status request_once(const struct remote *file, const char *url, cli_request *request,
                                cli_reply *reply, plim_error *error)
{
    cli_url parsed;
    plim_status status = check_url(url, file->name, error, &parsed);
    if (status != PLIM_OK)
        return status;
    request->url = url;
    request->timeout = file->http->options.timeout;
    request->token = token_for(file->http, &parsed);
    if (request->token && strpbrk(request->token, "\r\n"))
        return fail(error, PLIM_INVALID, "HF_TOKEN", "a token of several lines");
    if (!cli_transfer_get(file->http->transfer, request, reply))
        return reply->status == PLIM_TIMEOUT
                   ? fail(error, PLIM_TIMEOUT, file->name,
                          "the server sent nothing, or almost nothing, for %g s", request->timeout)
                   : fail(error, reply->status, file->name, "%s", reply->why);
    return PLIM_OK;
}

/* From where the last redirects led, or anew; *reply is freed by the caller. */
static plim_status ask_at(struct remote *file, cli_request *request, cli_reply *reply,
                          plim_error *error)
{
    char *here =
        copy(file->where ? file->where : file->url, strlen(file->where ? file->where : file->url));
    plim_status status = here ? PLIM_OK : no_memory(error, file->name);
    for (unsigned hop = 0; status == PLIM_OK; hop++) {
        status = request_once(file, here, request, reply, error);
        if (status != PLIM_OK || !redirects(reply->code))
            break;
        char *next = NULL;
        if (hop == MAX_HOPS)
            status = fail(error, PLIM_IO, file->name, "more than %d redirects", MAX_HOPS);
        else
            status = follow(file, here, reply, error, &next);
        cli_reply_free(reply);
        free(here);
        here = next;
    }
    if (status == PLIM_OK) {
        free(file->where);
        file->where = here;
    } else {
        free(here);
    }
    return status;
}

/* An answer with a body: 200 or 206. The place that redirects led to may be signed for a while
 * only; when it refuses, the first address is asked once more. */
static plim_status ask(struct remote *file, cli_request *request, cli_reply *reply,
                       plim_error *error)
{
    bool again = file->where != NULL;
    plim_status status = ask_at(file, request, reply, error);
    if (status == PLIM_OK && again && reply->code >= 400 && reply->code < 500) {
        cli_reply_free(reply);
        free(file->where);
        file->where = NULL;
        status = ask_at(file, request, reply, error);
    }
    if (status != PLIM_OK)
        return status;
    if (reply->code != 200 && reply->code != 206)
        return refusal(file, reply, request->token != NULL, error);
    if (reply->content_encoding && strcmp(reply->content_encoding, "identity") != 0)
        return fail(error, PLIM_UNSUPPORTED, file->name,
                    "the server sends it compressed (%.40s), though it was asked not to",
                    reply->content_encoding);
    return PLIM_OK;
}

/* ---- what an answer says of the file ---- */

static bool number(const char **at, uint64_t *out)
{
    const char *c = *at;
    uint64_t n = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    bool any = c != *at;
    *at = c;
    *out = n;
    return any;
}

/* "bytes 0-524287/4692668896" */
static bool parse_range(const char *text, uint64_t *first, uint64_t *last, uint64_t *size)
{
    if (!text || strncmp(text, "bytes ", 6) != 0)
        return false;
    text += 6;
    return number(&text, first) && *text++ == '-' && number(&text, last) && *text++ == '/' &&
           number(&text, size) && *text == '\0';
}

static plim_status take_size(struct remote *file, uint64_t size, plim_error *error)
{
    if (file->size_known && file->size != size)
        return fail(error, PLIM_IO, file->name,
                    "the file changed while it was read: it had %" PRIu64
                    " bytes, now it has %" PRIu64,
                    file->size, size);
    file->size = size;
    file->size_known = true;
    return PLIM_OK;
}

static plim_status take_etag(struct remote *file, cli_reply *reply, plim_error *error)
{
    if (file->etag && reply->etag && strcmp(file->etag, reply->etag) != 0)
        return fail(error, PLIM_IO, file->name, "the file changed while it was read");
    if (!file->etag) {
        file->etag = reply->etag;
        reply->etag = NULL;
    }
    return PLIM_OK;
}

/* 206: exactly the bytes that were asked for, or all that are left of the file. */
static plim_status check_part(struct remote *file, const cli_request *request,
                              const cli_reply *reply, plim_error *error)
{
    uint64_t first, last, size, asked = request->first + request->room - 1;
    if (!request->ranged)
        return fail(error, PLIM_IO, file->name, "the server answers with a part that nobody asked");
    if (!parse_range(reply->content_range, &first, &last, &size))
        return fail(error, PLIM_IO, file->name,
                    reply->content_range ? "the server sends a range that is none: %.80s"
                                         : "the server does not say which range it sends",
                    reply->content_range);
    if (size > INT64_MAX || last >= size || first > last)
        return fail(error, PLIM_IO, file->name, "the server sends a range that is none: %.80s",
                    reply->content_range);
    plim_status status = take_size(file, size, error);
    if (status != PLIM_OK)
        return status;
    if (first != request->first || last != (asked < size ? asked : size - 1))
        return fail(error, PLIM_IO, file->name,
                    "the server sends another range than was asked for: %.80s",
                    reply->content_range);
    if (reply->longer || reply->got != last - first + 1)
        return fail(error, PLIM_IO, file->name,
                    "the server announces %" PRIu64 " bytes and sends %s", last - first + 1,
                    reply->longer ? "more" : "less");
    return PLIM_OK;
}

/* 200: the whole file from its start, of which as much was received as there was room for. */
static plim_status check_whole(struct remote *file, const cli_request *request,
                               const cli_reply *reply, plim_error *error)
{
    if (request->ranged && request->first > 0)
        return fail(error, PLIM_IO, file->name, "the server gives ranges only now and then");
    file->no_ranges = true;
    if (!reply->has_length && reply->longer)
        return fail(error, PLIM_UNSUPPORTED, file->name,
                    "the server gives neither ranges nor the file's size");
    uint64_t size = reply->has_length ? reply->length : reply->got;
    if (size > INT64_MAX || (reply->longer ? size <= reply->got : size != reply->got))
        return fail(error, PLIM_IO, file->name,
                    "the server announces %" PRIu64 " bytes and sends %s", size,
                    reply->longer ? "more" : "less");
    return take_size(file, size, error);
}

/* ---- blocks ---- */

/* Fetches `room` bytes at `first` (as far as there are any) into the file's block. */
static plim_status fetch(struct remote *file, uint64_t first, size_t room, plim_error *error)
{
    cli_reply reply = {0};
    if (room > file->room) {
        unsigned char *block = realloc(file->block, room);
        if (!block)
            return no_memory(error, file->name);
        file->block = block;
        file->room = room;
    }
    file->have = 0;
    cli_request request = {
        .ranged = !file->no_ranges, .first = first, .body = file->block, .room = room};
    plim_status status = ask(file, &request, &reply, error);
    if (status == PLIM_OK)
        status = take_etag(file, &reply, error);
    if (status == PLIM_OK)
        status = reply.code == 206 ? check_part(file, &request, &reply, error)
                                   : check_whole(file, &request, &reply, error);
    if (status == PLIM_OK) {
        file->start = first;
        file->have = reply.got;
        file->fetched += reply.got;
    }
    cli_reply_free(&reply);
    return status;
}

/* The next block, which holds the byte at `offset`: as large as all before it together, so that a
 * header is fetched in few requests, and what is fetched behind it is less than itself. */
static plim_status next_block(struct remote *file, uint64_t offset, plim_error *error)
{
    if (file->no_ranges) {
        size_t room = file->room ? file->room * 4 : FIRST_BLOCK;
        while (room <= offset && room < MAX_PREFIX)
            room *= 4;
        if (offset >= MAX_PREFIX || file->room >= MAX_PREFIX)
            return fail(error, PLIM_UNSUPPORTED, file->name,
                        "the server gives no ranges, and the header does not end in the first %zu "
                        "MiB: fetch the file, or ask another server",
                        MAX_PREFIX >> 20);
        return fetch(file, 0, room < MAX_PREFIX ? room : MAX_PREFIX, error);
    }
    if (file->fetched >= MAX_FETCHED)
        return fail(error, PLIM_LIMIT, file->name, "the header is longer than %" PRIu64 " MiB",
                    MAX_FETCHED >> 20);
    size_t room = file->fetched < FIRST_BLOCK     ? FIRST_BLOCK
                  : file->fetched < LARGEST_BLOCK ? (size_t)file->fetched
                                                  : LARGEST_BLOCK;
    return fetch(file, offset, room, error);
}

static bool holds(const struct remote *file, uint64_t offset)
{
    return offset >= file->start && offset - file->start < file->have;
}

static plim_status read_remote(void *user, uint64_t offset, void *buf, size_t n, size_t *got)
{
    struct remote *file = user;
    unsigned char *to = buf;
    *got = 0;
    while (*got < n && offset < file->size) {
        if (!holds(file, offset)) {
            plim_status status = next_block(file, offset, &file->http->failure);
            if (status != PLIM_OK)
                return status;
            continue;
        }
        size_t at = (size_t)(offset - file->start), piece = file->have - at;
        if (piece > n - *got)
            piece = n - *got;
        memcpy(to + *got, file->block + at, piece);
        *got += piece;
        offset += piece;
    }
    return PLIM_OK;
}

static void free_remote(struct remote *file)
{
    free(file->name);
    free(file->url);
    free(file->where);
    free(file->etag);
    free(file->block);
    free(file);
}

static struct remote *new_remote(cli_http *http, const char *name, const char *query)
{
    struct remote *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->http = http;
    file->name = copy(name, strlen(name));
    file->url = malloc(strlen(name) + strlen(query) + 1);
    if (!file->name || !file->url) {
        free_remote(file);
        return NULL;
    }
    memcpy(file->url, name, strlen(name));
    memcpy(file->url + strlen(name), query, strlen(query) + 1);
    return file;
}

static plim_status open_remote(void *user, const char *name, plim_reader *out, plim_error *error)
{
    cli_http *http = user;
    struct remote *file = new_remote(http, name, http->query);
    if (!file)
        return no_memory(error, name);
    plim_status status = next_block(file, 0, error);
    if (status != PLIM_OK) {
        free_remote(file);
        return status;
    }
    *out = (plim_reader){sizeof *out, file->name, file->size, file, read_remote};
    return PLIM_OK;
}

static void close_remote(void *user, plim_reader *reader)
{
    (void)user;
    free_remote(reader->user);
}

plim_files cli_http_files(cli_http *http, const char *query)
{
    http->query = query;
    return (plim_files){sizeof(plim_files), http, open_remote, close_remote};
}

const plim_error *cli_http_failure(const cli_http *http)
{
    return &http->failure;
}

/* ---- documents ---- */

plim_status cli_http_get(cli_http *http, const char *url, size_t max, plim_error *error,
                         char **text, size_t *length)
{
    cli_reply reply = {0};
    struct remote *file = new_remote(http, url, "");
    unsigned char *body = malloc(max + 1);
    plim_status status = PLIM_OK;
    *text = NULL;
    if (!file || !body) {
        status = no_memory(error, url);
    } else {
        file->name[strcspn(file->name, "?#")] = '\0';
        cli_request request = {.body = body, .room = max};
        status = ask(file, &request, &reply, error);
        if (status == PLIM_OK && reply.longer)
            status = fail(error, PLIM_LIMIT, file->name, "more than %zu bytes", max);
    }
    if (status == PLIM_OK) {
        body[reply.got] = '\0';
        *length = reply.got;
        *text = (char *)body;
    } else {
        free(body);
    }
    cli_reply_free(&reply);
    if (file)
        free_remote(file);
    return status;
}

/* ---- the client ---- */

plim_status cli_http_open(const cli_http_options *options, const char *subject, plim_error *error,
                          cli_http **out)
{
    char why[256];
    cli_http *http = calloc(1, sizeof *http);
    *out = NULL;
    if (!http)
        return no_memory(error, subject);
    http->options = *options;
    http->failure = (plim_error)PLIM_ERROR_INIT;
    http->query = "";
    plim_status status = cli_transfer_open(&http->transfer, why, sizeof why);
    if (status != PLIM_OK) {
        free(http);
        return fail(error, status, subject, "%s", why);
    }
    *out = http;
    return PLIM_OK;
}

void cli_http_close(cli_http *http)
{
    if (!http)
        return;
    cli_transfer_close(http->transfer);
    free(http);
}
