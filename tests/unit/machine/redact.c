/* Identities in a recording: gone, but the same ones stay the same, in the same shape. */
#include "machine/redact.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/num.h"
#include "machine/token.h"

static pli_redactor *redactor(const char *machine)
{
    pli_machine *m;
    assert_int_equal(pli_machine_text(NULL, pli_s(machine), "test", NULL, &m), PLIM_OK);
    pli_redactor *r = pli_redactor_new(NULL, m);
    assert_non_null(r);
    pli_machine_close(m);
    return r;
}

static const char *host = "-- file /proc/sys/kernel/hostname --\nanvil7.forge.example\n";

/* text after redaction as the content of this file, in one of four places that take turns */
static const char *file(const pli_redactor *r, const char *path, const char *text)
{
    static char buffers[4][512];
    static int turn;
    char *buffer = buffers[turn++ % 4];
    (void)snprintf(buffer, 512, "%s", text);
    pli_redact(r, PLI_SUBJECT_FILE, path, buffer, strlen(buffer));
    assert_int_equal(strlen(buffer), strlen(text));
    return buffer;
}

/* Every letter another letter, every digit another digit or letter where hex, the rest kept. */
static void expect_shape(const char *was, const char *is, bool hex)
{
    assert_string_not_equal(was, is);
    for (size_t i = 0; was[i]; i++) {
        bool ok = hex && isxdigit((unsigned char)was[i]) ? isxdigit((unsigned char)is[i]) != 0
                  : isdigit((unsigned char)was[i])       ? isdigit((unsigned char)is[i]) != 0
                  : isalpha((unsigned char)was[i])       ? isalpha((unsigned char)is[i]) != 0
                                                         : was[i] == is[i];
        if (!ok)
            fail_msg("%s became %s", was, is);
    }
}

static void uuids_keep_their_shape_everywhere(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    const char *uuid = "GPU-8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c";
    const char *token = file(r, "/x", uuid);
    expect_shape(uuid + 4, token + 4, true);
    assert_memory_equal(token, "GPU-", 4);
    /* the same one: alone, inside a line, in a name, in a driver's buffer, in capitals, undashed */
    char line[128] = "GPU UUID:\t MIG-8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c/1";
    pli_redact(r, PLI_SUBJECT_TEXT, "", line, strlen(line));
    assert_non_null(strstr(line, token + 4));
    assert_non_null(strstr(line, "\t MIG-"));
    char path[64] = "/kubepods/pod8c1e7d2a_90b4_4f51_a3c6_0d2e4f6a8b9c/memory.max";
    pli_redact(r, PLI_SUBJECT_NAME, path, path, strlen(path));
    assert_memory_equal(path, "/kubepods/pod", 13);
    assert_memory_equal(path + 13, token + 4, 8);
    assert_memory_equal(path + 22, token + 13, 4);
    char out[96] = "GPU-8C1E7D2A-90B4-4F51-A3C6-0D2E4F6A8B9C";
    pli_redact(r, PLI_SUBJECT_OUTPUT, "nvmlDeviceGetUUID", out, sizeof out);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(out[i], toupper((unsigned char)token[i]));
    assert_int_equal(out[95], 0);
    unsigned char raw[16] = {0x8c, 0x1e, 0x7d, 0x2a, 0x90, 0xb4, 0x4f, 0x51,
                             0xa3, 0xc6, 0x0d, 0x2e, 0x4f, 0x6a, 0x8b, 0x9c};
    char text[3];
    pli_redact(r, PLI_SUBJECT_OUTPUT, "cuDeviceGetUuid_v2", raw, sizeof raw);
    (void)snprintf(text, sizeof text, "%02x", raw[0]);
    assert_memory_equal(text, token + 4, 2);
    (void)snprintf(text, sizeof text, "%02x", raw[15]);
    assert_memory_equal(text, token + 38, 2);
    const char *undashed = file(r, "/etc/machine-id", "8c1e7d2a90b44f51a3c60d2e4f6a8b9c\n");
    assert_memory_equal(undashed, token + 4, 8);
    pli_redactor_free(r);
}

static void salts_differ(void **state)
{
    (void)state;
    pli_redactor *a = redactor(host), *b = redactor(host);
    const char *uuid = "8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c";
    assert_string_not_equal(file(a, "/x", uuid), file(b, "/x", uuid));
    assert_string_equal(file(a, "/x", uuid), file(a, "/y", uuid));
    pli_redactor_free(a);
    pli_redactor_free(b);
}

static void other_shapes_are_found(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    static const char *const rows[] = {
        "00:1a:2b:3c:4d:5e",
        "link 80:00:00:48:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:a1:b2:c3\n",
        "0::/docker/3f4e5d6c7b8a99887766554433221100ffeeddccbbaa00112233445566778899",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *is = file(r, "/x", rows[i]);
        assert_string_not_equal(is, rows[i]);
        assert_memory_equal(is, rows[i], i == 1 ? 5 : i == 2 ? 11 : 0);
    }
    pli_redactor_free(r);
}

static void what_is_no_identity_stays(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    static const char *const rows[] = {
        "0000:03:00.0",
        "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00",
        "ffffffff,ffffffff,00000000,0000ffff",
        "00000000000000000000000000000001",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "00000000-0000-0000-0000-000000000000",
        "00:00:00:00:00:00",
        "ff:ff:ff:ff:ff:ff",
        "12:34:56",
        "8 GT/s PCIe",
        "anvil77 forge anvil7-b",
        "serial8250: ttyS0",
        "MemTotal:       24731708 kB",
        "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2330\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(file(r, "/x", rows[i]), rows[i]);
    static const char *const none[] = {"None\n", "0\n", "To Be Filled By O.E.M.\n", "[N/A]\n",
                                       "\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_string_equal(file(r, "/sys/class/dmi/id/board_serial", none[i]), none[i]);
    pli_redactor_free(r);
}

/* amdgpu writes the unique id in hex, KFD in decimal: a probe joins them. */
/* A host may be called 4096, or have nonsense behind its name: the other numbers stay. */
static void a_host_that_is_a_number(void **state)
{
    static const char *const machines[] = {
        "-- file /proc/sys/kernel/hostname --\n4096\n",
        "-- file /proc/sys/kernel/hostname hex --\n\"1\" 00 5e5e\n"};
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        pli_redactor *r = redactor(machines[i]);
        assert_string_equal(file(r, "/x", "4096 1\n"), "4096 1\n");
        pli_redactor_free(r);
    }
}

/* Two cards whose ids have two digits must stay two cards. */
static void numbers_do_not_collide(void **state)
{
    static const unsigned ranges[][2] = {{1, 9}, {16, 99}, {100, 255}, {256, 999}, {1000, 4095}};
    const pli_salt salt = {{7, 3, 1}};
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        bool taken[4096] = {false};
        for (unsigned v = ranges[r][0]; v <= ranges[r][1]; v++) {
            char text[8];
            uint64_t token;
            int n = snprintf(text, sizeof text, "%u", v);
            assert_true(pli_token_number(&salt, text, (size_t)n, false));
            assert_true(pli_parse_u64(pli_s(text), &token));
            assert_in_range(token, ranges[r][0], ranges[r][1]); /* as many digits, hex too */
            assert_false(taken[token]);
            taken[token] = true;
        }
    }
}

static void a_number_is_the_same_in_hex_and_decimal(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    const uint64_t ids[] = {0x1db9e4ef2c2a3f5eu, 0xf1b9e4ef2c2a3f5eu, 0x00b9e4ef2c2a3f5eu, 42};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char hex[32], decimal[64], amd[32];
        (void)snprintf(hex, sizeof hex, "%016llx\n", (unsigned long long)ids[i]);
        (void)snprintf(decimal, sizeof decimal, "gfx_target_version 90402\nunique_id %llu\n",
                       (unsigned long long)ids[i]);
        (void)snprintf(amd, sizeof amd, "GPU-%016llx", (unsigned long long)ids[i]);
        const char *a = file(r, "/sys/class/drm/card0/device/unique_id", hex);
        const char *b = file(r, "/sys/class/kfd/kfd/topology/nodes/1/properties", decimal);
        const char *c = file(r, "/x", amd);
        if (ids[i] > 1000) /* the small one has few others to become */
            assert_string_not_equal(a, hex);
        uint64_t token = strtoull(a, NULL, 16);
        assert_true(token == strtoull(strstr(b, "unique_id ") + 10, NULL, 10));
        assert_true(token == strtoull(c + 4, NULL, 16));
        assert_memory_equal(b, decimal, 35);
    }
    const char *zero = file(r, "/kfd/properties", "unique_id 0\nlocation_id 768\n");
    assert_string_equal(zero, "unique_id 0\nlocation_id 768\n");
    pli_redactor_free(r);
}

static void serials_are_replaced_where_they_stand(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    const char *is = file(r, "/proc/cpuinfo",
                          "Hardware\t: BCM2711\nSerial\t\t: 10000000e3a1b2c4\nModel\t\t: Pi 4\n");
    assert_memory_equal(is, "Hardware\t: BCM2711\nSerial\t\t: ", 29);
    assert_null(strstr(is, "e3a1b2c4"));
    assert_non_null(strstr(is, "Model\t\t: Pi 4\n"));
    expect_shape("1324217012345", file(r, "/sys/block/sda/device/serial", "1324217012345"), false);
    is = file(r, "/sys/block/nvme0n1/wwid", "eui.0025385b71b0a1c2\n");
    assert_memory_equal(is, "eui.", 4);
    expect_shape("0025385b71b0a1c2\n", is + 4, true);
    is = file(r, "/sys/block/dm-0/dm/uuid", "LVM-Zx9aQ\n");
    assert_memory_equal(is, "LVM-", 4);
    char out[30] = "1324217012345";
    pli_redact(r, PLI_SUBJECT_OUTPUT, "nvmlDeviceGetSerial", out, sizeof out);
    expect_shape("1324217012345", out, false);
    char json[64] = "  \"serial_number\": \"AB12CD\",\n  \"x\": 1\n";
    pli_redact(r, PLI_SUBJECT_TEXT, "hl-smi", json, strlen(json));
    assert_null(strstr(json, "AB12CD"));
    assert_non_null(strstr(json, "\",\n  \"x\": 1\n"));
    pli_redactor_free(r);
}

static void the_host_name_is_found(void **state)
{
    (void)state;
    pli_redactor *r = redactor(host);
    const char *whole = file(r, "/proc/sys/kernel/hostname", "anvil7.forge.example\n");
    expect_shape("anvil7.forge.example\n", whole, false);
    const char *is = file(r, "/etc/mtab", "anvil7:/export /mnt nfs addr=anvil7.forge.example");
    assert_memory_equal(is, whole, 6);
    assert_memory_equal(is + 29, whole, 20);
    char env[32] = "anvil7";
    pli_redact(r, PLI_SUBJECT_ENV, "HOSTNAME", env, strlen(env));
    assert_memory_equal(env, whole, 6);
    pli_redactor_free(r);
    /* a name that is an ordinary word is replaced only where it is said to be a name */
    r = redactor("-- file /proc/sys/kernel/hostname --\nnode0\n");
    assert_string_equal(file(r, "/x", "node0 and node0.bus"), "node0 and node0.bus");
    expect_shape("node0", file(r, "/etc/hostname", "node0"), false);
    pli_redactor_free(r);
}

static void nothing_is_kept_when_asked(void **state)
{
    (void)state;
    char text[] = "8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c";
    pli_redact(NULL, PLI_SUBJECT_TEXT, "", text, strlen(text));
    assert_string_equal(text, "8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c");
}

/* In a whole recording: paths and bodies agree. */
static void a_recording_finds_its_way(void **state)
{
    (void)state;
    pli_machine *inner, *m, *again;
    pli_arena *arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    pli_buf text;
    pli_str group, limit;
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    assert_int_equal(
        pli_machine_text(
            NULL,
            PLI_LIT("-- file /proc/self/cgroup --\n"
                    "/pod8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c\n"
                    "-- file /cg/pod8c1e7d2a-90b4-4f51-a3c6-0d2e4f6a8b9c/memory.max --\n"
                    "17\n"),
            "t", NULL, &inner),
        PLIM_OK);
    assert_int_equal(pli_machine_record(NULL, inner, false, &text, &m), PLIM_OK);
    for (pli_machine *look = m; look; look = look == m ? again : NULL) {
        if (look == m)
            again = NULL;
        assert_int_equal(pli_read(look, arena, "/proc/self/cgroup", &group), PLIM_OK);
        group = pli_trim(group);
        assert_int_equal(
            pli_readf(look, arena, &limit, "/cg%.*s/memory.max", (int)group.n, group.p), PLIM_OK);
        assert_int_equal(limit.n, 3);
        if (look == m)
            assert_int_equal(pli_machine_text(NULL, pli_buf_str(&text), "again", NULL, &again),
                             PLIM_OK);
    }
    assert_null(strstr(text.p, "8c1e7d2a"));
    pli_machine_close(again);
    pli_machine_close(m);
    pli_machine_close(inner);
    pli_buf_free(&text);
    pli_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids_keep_their_shape_everywhere),
        cmocka_unit_test(salts_differ),
        cmocka_unit_test(other_shapes_are_found),
        cmocka_unit_test(what_is_no_identity_stays),
        cmocka_unit_test(a_host_that_is_a_number),
        cmocka_unit_test(numbers_do_not_collide),
        cmocka_unit_test(a_number_is_the_same_in_hex_and_decimal),
        cmocka_unit_test(serials_are_replaced_where_they_stand),
        cmocka_unit_test(the_host_name_is_found),
        cmocka_unit_test(nothing_is_kept_when_asked),
        cmocka_unit_test(a_recording_finds_its_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
