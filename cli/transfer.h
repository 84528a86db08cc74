/* One HTTP request and what came of it. Redirects are not followed and nothing is judged here: that
 * is http.c's. Made of libcurl, which is loaded by the first request and not before
 * (transfer_curl.c), or of nothing (transfer_none.c). */
#ifndef CLI_TRANSFER_H
#define CLI_TRANSFER_H

#include <plimsoll/base.h>

typedef struct cli_transfer cli_transfer;

typedef struct cli_request {
    const char *url;
    const char *token; /* sent as the bearer's; NULL: none */
    bool ranged;       /* bytes first ... first + room - 1 are asked for; else the whole */
    uint64_t first;
    double timeout; /* seconds without a byte, or almost without */
    unsigned char *body;
    size_t room; /* of body; what follows is not received */
} cli_request;

/* The texts are NULL where there is none; cli_reply_free() frees them. */
typedef struct cli_reply {
    long code;      /* 0: no answer, `why` says the reason */
    char *location; /* of a redirect, absolute */
    char *content_range, *content_encoding, *etag, *retry_after;
    bool has_length;
    uint64_t length; /* of the whole body */
    size_t got;      /* bytes in the request's body */
    bool longer;     /* more would have come; the transfer was ended */
    plim_status status;
    char why[256];
} cli_reply;

/* Errors: UNSUPPORTED (no libcurl; why says what to do), NOMEM. */
plim_status cli_transfer_open(cli_transfer **out, char *why, size_t size);
/* True: an HTTP answer came, with its whole body or the part there is room for. False:
 * reply->status and reply->why. */
bool cli_transfer_get(cli_transfer *transfer, const cli_request *request, cli_reply *reply);
void cli_transfer_close(cli_transfer *transfer);
void cli_reply_free(cli_reply *reply);

#endif
