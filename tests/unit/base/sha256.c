/* The example messages of FIPS 180-4 and of NIST's CAVP. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void expect(pli_sha256 *h, const char *digest)
{
    unsigned char bytes[32];
    char text[65];
    pli_sha256_end(h, bytes);
    for (size_t i = 0; i < 32; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, digest);
}

static void messages_of_the_standard(void **state)
{
    static const struct {
        const char *message, *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pli_sha256 h;
        pli_sha256_init(&h);
        pli_sha256_add(&h, rows[i].message, strlen(rows[i].message));
        expect(&h, rows[i].digest);
    }
}

static void a_million_in_pieces(void **state)
{
    pli_sha256 h;
    char a[1000];
    (void)state;
    memset(a, 'a', sizeof a);
    pli_sha256_init(&h);
    for (size_t left = 1000000, some = 1; left; left -= some, some = (some * 7 + 3) % 1000) {
        some = some < left ? some : left;
        pli_sha256_add(&h, a, some);
    }
    expect(&h, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_the_standard),
        cmocka_unit_test(a_million_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
