/* URLs as far as a reader of models needs them: whose they are, what they name. Nothing is
 * decoded. */
#ifndef CLI_URL_H
#define CLI_URL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_url {
    const char *text;
    size_t scheme;      /* bytes before "://" */
    const char *host;   /* in text; with the brackets of an IPv6 address */
    size_t host_length; /* without the port */
    unsigned port;      /* the scheme's own where none is given */
    bool has_user;      /* a name or a password stands before the host */
    const char *tail;   /* the path, "" where there is none */
    size_t name_length; /* of text, up to '?' or '#' */
} cli_url;

/* Does it begin like a URL of any scheme, "ftp://"? Paths may hold colons, but not that. */
bool cli_url_like(const char *text);
/* An absolute URL of http or https with a host, without blanks or control characters. */
bool cli_url_parse(const char *text, cli_url *out);
bool cli_url_is_https(const cli_url *url);
/* Same scheme, host and port: what is meant for one is meant for the other. */
bool cli_url_same_origin(const cli_url *a, const cli_url *b);

#endif
