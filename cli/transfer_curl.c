/* Requests by libcurl. It is not linked: with the libraries behind it, it would cost every run of
 * the command ten times what the command itself takes to start. Its headers are used at build time,
 * the library is loaded when the first URL is read. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

/* What is used of it, held against the header's own declarations below. */
#define CURL_API(X)                                                                                \
    X(global_init, CURLcode, (long))                                                               \
    X(easy_init, CURL *, (void))                                                                   \
    X(easy_reset, void, (CURL *))                                                                  \
    X(easy_cleanup, void, (CURL *))                                                                \
    X(easy_setopt, CURLcode, (CURL *, CURLoption, ...))                                            \
    X(easy_getinfo, CURLcode, (CURL *, CURLINFO, ...))                                             \
    X(easy_perform, CURLcode, (CURL *))                                                            \
    X(easy_strerror, const char *, (CURLcode))                                                     \
    X(slist_append, struct curl_slist *, (struct curl_slist *, const char *))                      \
    X(slist_free_all, void, (struct curl_slist *))

struct api {
#define MEMBER(name, type, args) type(*name) args;
    CURL_API(MEMBER)
#undef MEMBER
};
#define CHECK(name, type, args)                                                                    \
    _Static_assert(_Generic(&curl_##name, type(*) args : 1, default : 0), "curl_" #name);
CURL_API(CHECK)
#undef CHECK

static const struct symbol {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name, type, args) {"curl_" #name, offsetof(struct api, name)},
    CURL_API(SYMBOL)
#undef SYMBOL
};

/* The same interface under the names that systems give it. */
static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4",
                                        "libcurl.4.dylib"};

enum { MAX_ERROR_BODY = 64 << 10, SLOWEST = 256 /* bytes per second */ };

struct cli_transfer {
    struct api api;
    CURL *easy;
};

static bool load(struct api *api, char *why, size_t size)
{
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        (void)snprintf(why, size,
                       "reading a URL needs libcurl, which is not installed (Debian and Ubuntu: "
                       "the package libcurl4)");
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            (void)snprintf(why, size, "the libcurl that is installed has no %s", symbols[i].name);
            return false;
        }
        memcpy((char *)api + symbols[i].offset, &address, sizeof address);
    }
    return true;
}

plim_status cli_transfer_open(cli_transfer **out, char *why, size_t size)
{
    *out = NULL;
    (void)snprintf(why, size, "%s", plim_status_text(PLIM_NOMEM));
    cli_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return PLIM_NOMEM;
    if (!load(&transfer->api, why, size)) {
        free(transfer);
        return PLIM_UNSUPPORTED;
    }
    if (transfer->api.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        transfer->easy = transfer->api.easy_init();
    if (!transfer->easy) {
        free(transfer);
        return PLIM_NOMEM;
    }
    *out = transfer;
    return PLIM_OK;
}

/* libcurl stays loaded and set up: another one in this process may be using it, and so may its own
 * threads. */
void cli_transfer_close(cli_transfer *transfer)
{
    if (!transfer)
        return;
    transfer->api.easy_cleanup(transfer->easy);
    free(transfer);
}

void cli_reply_free(cli_reply *reply)
{
    char *texts[] = {reply->location, reply->content_range, reply->content_encoding, reply->etag,
                     reply->retry_after};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    *reply = (cli_reply){0};
}

/* ---- while an answer comes in ---- */

struct answer {
    cli_transfer *transfer;
    const cli_request *request;
    cli_reply *reply;
    size_t ignored; /* bytes of a body that nobody wants */
    bool ended;     /* by us: not an error */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The value of the line if it is the header `name` (in lower case), as a new string. */
static void take(const char *line, size_t length, const char *name, char **to)
{
    size_t n = strlen(name), i = 0;
    if (length <= n || line[n] != ':')
        return;
    for (; i < n; i++)
        if ((line[i] | 0x20) != name[i] && line[i] != name[i])
            return;
    const char *begin = line + n + 1, *end = line + length;
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    char *text = malloc((size_t)(end - begin) + 1);
    if (!text)
        return;
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
    free(*to);
    *to = text;
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    struct answer *answer = user;
    cli_reply *reply = answer->reply;
    (void)one;
    if (n > 5 && memcmp(line, "HTTP/", 5) == 0) /* another answer: that of a proxy, or "continue" */
        cli_reply_free(reply);
    take(line, n, "content-range", &reply->content_range);
    take(line, n, "content-encoding", &reply->content_encoding);
    take(line, n, "etag", &reply->etag);
    take(line, n, "retry-after", &reply->retry_after);
    return n;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    struct answer *answer = user;
    cli_reply *reply = answer->reply;
    long code = 0;
    (void)one;
    (void)answer->transfer->api.easy_getinfo(answer->transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 && code != 206) {
        answer->ignored += n;
        answer->ended = answer->ignored > MAX_ERROR_BODY;
        return answer->ended ? 0 : n;
    }
    size_t room = answer->request->room - reply->got, fits = n < room ? n : room;
    memcpy(answer->request->body + reply->got, bytes, fits);
    reply->got += fits;
    if (fits == n)
        return n;
    reply->longer = answer->ended = true;
    return 0;
}

/* ---- a request ---- */

static bool set_headers(cli_transfer *transfer, const cli_request *request,
                        struct curl_slist **headers)
{
    char bearer[1100];
    /* what is asked for are the file's own bytes, not their compressed form */
    *headers = transfer->api.slist_append(NULL, "Accept-Encoding: identity");
    if (!*headers)
        return false;
    if (!request->token)
        return true;
    int n = snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", request->token);
    struct curl_slist *both =
        n > 0 && (size_t)n < sizeof bearer ? transfer->api.slist_append(*headers, bearer) : NULL;
    if (both)
        *headers = both;
    return both != NULL;
}

static void set_options(struct answer *answer, const struct curl_slist *headers, char *why)
{
    const struct api *api = &answer->transfer->api;
    const cli_request *request = answer->request;
    CURL *easy = answer->transfer->easy;
    long seconds = request->timeout > 1 ? (long)request->timeout : 1;
    api->easy_reset(easy); /* connections are kept */
    (void)api->easy_setopt(easy, CURLOPT_URL, request->url);
    (void)api->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)api->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)api->easy_setopt(easy, CURLOPT_USERAGENT, "plimsoll/" PLIM_VERSION_TEXT);
    (void)api->easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)api->easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)api->easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
    (void)api->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)api->easy_setopt(easy, CURLOPT_HEADERDATA, answer);
    (void)api->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)api->easy_setopt(easy, CURLOPT_WRITEDATA, answer);
    (void)api->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, seconds);
    (void)api->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, seconds);
    (void)api->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
}

static plim_status status_of(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return PLIM_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
        return PLIM_NOMEM;
    case CURLE_COULDNT_RESOLVE_HOST:
        return PLIM_NOT_FOUND;
    default:
        return PLIM_IO;
    }
}

static bool finish(struct answer *answer, CURLcode code, const char *why)
{
    const struct api *api = &answer->transfer->api;
    CURL *easy = answer->transfer->easy;
    cli_reply *reply = answer->reply;
    curl_off_t length = -1;
    char *location = NULL;
    if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && answer->ended)) {
        reply->status = status_of(code);
        (void)snprintf(reply->why, sizeof reply->why, "%s",
                       why[0] ? why : api->easy_strerror(code));
        return false;
    }
    (void)api->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply->code);
    (void)api->easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    (void)api->easy_getinfo(easy, CURLINFO_REDIRECT_URL, &location);
    reply->has_length = length >= 0;
    reply->length = length >= 0 ? (uint64_t)length : 0;
    if (location && !(reply->location = malloc(strlen(location) + 1))) {
        reply->status = PLIM_NOMEM;
        return false;
    }
    if (location)
        memcpy(reply->location, location, strlen(location) + 1);
    return true;
}

bool cli_transfer_get(cli_transfer *transfer, const cli_request *request, cli_reply *reply)
{
    char why[CURL_ERROR_SIZE] = "", range[64];
    struct answer answer = {.transfer = transfer, .request = request, .reply = reply};
    struct curl_slist *headers = NULL;
    *reply = (cli_reply){.status = PLIM_NOMEM, .why = "out of memory"};
    if (set_headers(transfer, request, &headers)) {
        set_options(&answer, headers, why);
        (void)snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)request->first,
                       (unsigned long long)(request->first + request->room - 1));
        if (request->ranged)
            (void)transfer->api.easy_setopt(transfer->easy, CURLOPT_RANGE, range);
        *reply = (cli_reply){.status = PLIM_OK};
        (void)finish(&answer, transfer->api.easy_perform(transfer->easy), why);
    }
    transfer->api.slist_free_all(headers);
    return reply->status == PLIM_OK;
}
