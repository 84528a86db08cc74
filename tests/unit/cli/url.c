/* URLs: whose they are decides who may see a token. */
#include "unit/test.h"

#include "cli/url.h"

#include <string.h>

static void parsed(void **state)
{
    static const struct {
        const char *text, *host, *tail;
        unsigned port;
        bool https, user;
    } good[] = {
        {"http://a", "a", "", 80, false, false},
        {"HTTPS://Hub.Example/x?y#z", "Hub.Example", "/x?y#z", 443, true, false},
        {"http://a:8080/x", "a", "/x", 8080, false, false},
        {"http://a:/x", "a", "/x", 80, false, false},
        {"http://[::1]:81/x", "[::1]", "/x", 81, false, false},
        {"https://me:pw@a:1/x@y", "a", "/x@y", 1, true, true},
        {"http://a?b@c", "a", "?b@c", 80, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        cli_url url;
        assert_true(cli_url_parse(good[i].text, &url));
        assert_int_equal(url.host_length, strlen(good[i].host));
        assert_memory_equal(url.host, good[i].host, url.host_length);
        assert_string_equal(url.tail, good[i].tail);
        assert_int_equal(url.port, good[i].port);
        assert_int_equal(cli_url_is_https(&url), good[i].https);
        assert_int_equal(url.has_user, good[i].user);
    }
}

static void refused(void **state)
{
    static const char *const bad[] = {
        "",
        "http",
        "http:/a",
        "ftp://a",
        "file:///x",
        "http://",
        "http:///",
        "http://:80/",
        "http://a:0/",
        "http://a:x",
        "http://a:1:2",
        "http://a:65536/",
        "http://a b/",
        "http://a/\n",
        "http://[::1/",
        "https://a\\@b/",
        "http://me@/",
    };
    cli_url url;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(cli_url_parse(bad[i], &url));
}

static void origins(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"https://hub/x", "https://HUB:443/y?z", true},
        {"https://hub/x", "http://hub/x", false},
        {"https://hub/x", "https://hub:8443/x", false},
        {"https://hub/x", "https://hub.evil/x", false},
        {"https://hub/x", "https://hub@evil/x", false},
        {"https://hub/x", "https://hub?@evil/x", true}, /* '?' ends the host */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        cli_url a, b;
        assert_true(cli_url_parse(pairs[i].a, &a) && cli_url_parse(pairs[i].b, &b));
        assert_int_equal(cli_url_same_origin(&a, &b), pairs[i].same);
    }
}

static void likeness(void **state)
{
    (void)state;
    assert_true(cli_url_like("http://x") && cli_url_like("s3+v4://bucket"));
    assert_false(cli_url_like("/models/x.gguf") || cli_url_like("C:/x.gguf"));
    assert_false(cli_url_like("a:b") || cli_url_like("://") || cli_url_like("4://x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsed),
        cmocka_unit_test(refused),
        cmocka_unit_test(origins),
        cmocka_unit_test(likeness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
