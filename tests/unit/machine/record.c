/* Recording: what is written, and that a text made from a machine answers as the machine did. */
#include "machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "machine/query.h"

/* A machine, its recorder, and the text. */
struct fixture {
    pli_machine *inner, *m;
    pli_arena *arena;
    pli_buf text;
};

static void record(struct fixture *f, const char *machine, bool keep)
{
    *f = (struct fixture){.arena = pli_arena_new(NULL, PLI_MAX_ARENA)};
    pli_buf_init(&f->text, NULL, PLI_MAX_RECORDING);
    plim_status status = machine ? pli_machine_text(NULL, pli_s(machine), "test", NULL, &f->inner)
                                 : pli_machine_live(NULL, &f->inner);
    assert_int_equal(status, PLIM_OK);
    assert_int_equal(pli_machine_record(NULL, f->inner, keep, &f->text, &f->m), PLIM_OK);
}

/* What was written, without version and facts. */
static const char *entries(const struct fixture *f)
{
    assert_int_equal(f->text.failed, PLIM_OK);
    const char *facts = strstr(f->text.p, "-- facts --\n");
    assert_non_null(facts);
    const char *next = strstr(facts + 4, "\n-- ");
    return next ? next + 1 : "";
}

static pli_machine *replay(const struct fixture *f)
{
    pli_machine *m;
    plim_error error = PLIM_ERROR_INIT;
    plim_status status = pli_machine_text(NULL, pli_buf_str(&f->text), "replay", &error, &m);
    if (status != PLIM_OK)
        fail_msg("%s at %llu in\n%s", error.what, (unsigned long long)error.offset, f->text.p);
    return m;
}

static void done(struct fixture *f)
{
    pli_machine_close(f->m);
    pli_machine_close(f->inner);
    pli_arena_free(f->arena);
    pli_buf_free(&f->text);
}

static const char *read_text(pli_machine *m, pli_arena *arena, const char *path)
{
    pli_str text;
    plim_status status = pli_read(m, arena, path, &text);
    return status == PLIM_OK ? text.p : plim_status_name(status);
}

static void answers_are_written_once(void **state)
{
    (void)state;
    struct fixture f;
    record(&f,
           "-- file /a --\nx\n-- link /l --\na\n-- env E --\nv\n"
           "-- stat /s --\nchar rdev=226:128 access=r\n-- denied /d --\n"
           "-- cpuid 0x1 0x0 --\n1 2 3 4\n-- lib nvml --\n"
           "-- lib gone failed=NOT_FOUND --\n-- file /io failed=IO --\n"
           "-- query - host.xcr0 hex --\ne7 +7\n",
           true);
    pli_names names;
    pli_stat st;
    pli_buf target;
    uint32_t r[4];
    uint64_t xcr0;
    static const pli_lib nvml = {.id = "nvml"}, gone = {.id = "gone"}, none = {.id = "none"};
    pli_buf_init(&target, NULL, 100);
    for (int i = 0; i < 3; i++) {
        (void)read_text(f.m, f.arena, "/a");
        (void)read_text(f.m, f.arena, "/d");
        (void)read_text(f.m, f.arena, "/io");
        (void)read_text(f.m, f.arena, "/nothing");
        (void)f.m->ops->link(f.m, "/l", &target);
        (void)pli_stat_path(f.m, "/s", &st);
        (void)pli_stat_path(f.m, "/t", &st);
        (void)pli_list(f.m, f.arena, "/", &names);
        (void)pli_env(f.m, "E");
        (void)pli_env(f.m, "F");
        (void)f.m->ops->cpuid(f.m, 1, 0, r);
        (void)f.m->ops->cpuid(f.m, 2, 0, r);
        (void)f.m->ops->lib(f.m, &nvml, NULL);
        (void)f.m->ops->lib(f.m, &gone, NULL);
        (void)f.m->ops->lib(f.m, &none, NULL);
        (void)pli_query(f.m, "-", "host.xcr0", NULL, 0, &xcr0, sizeof xcr0, NULL);
        (void)pli_query(f.m, "-", "host.amx", NULL, 0, &xcr0, sizeof xcr0, NULL);
    }
    assert_string_equal(entries(&f), "-- file /a --\nx\n"
                                     "-- file /d failed=PERMISSION --\n"
                                     "-- file /io failed=IO --\n"
                                     "-- link /l --\na\n"
                                     "-- stat /s --\nchar rdev=226:128 access=r\n"
                                     "-- dir / --\na\nd\nio\nl\ns\n"
                                     "-- env E --\nv\n"
                                     "-- cpuid 0x1 0x0 --\n00000001 00000002 00000003 00000004\n"
                                     "-- lib nvml --\n"
                                     "-- lib gone failed=NOT_FOUND --\n"
                                     "-- query - host.xcr0 hex --\ne700000000000000\n");
    pli_buf_free(&target);
    done(&f);
}

static void a_series_keeps_its_order(void **state)
{
    (void)state;
    static const char *const seen[] = {"NOT_FOUND", "NOT_FOUND", "one\n", "one\n", "NOT_FOUND",
                                       "IO",        "two\n",     "two\n", "two\n"};
    struct fixture f;
    record(&f,
           "-- file /x failed=NOT_FOUND --\n-- file /x failed=NOT_FOUND --\n"
           "-- file /x --\none\n-- file /x --\none\n-- file /x failed=NOT_FOUND --\n"
           "-- file /x failed=IO --\n-- file /x --\ntwo\n",
           true);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_string_equal(read_text(f.m, f.arena, "/x"), seen[i]);
    pli_machine *again = replay(&f);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_string_equal(read_text(again, f.arena, "/x"), seen[i]);
    pli_machine_close(again);
    done(&f);
}

static void a_meter_is_a_series(void **state)
{
    (void)state;
    struct fixture f;
    record(&f, "-- file /m --\n1\n-- file /m --\n2\n-- file /m --\n3\n", true);
    void *file;
    pli_buf out;
    pli_buf_init(&out, NULL, 100);
    assert_int_equal(f.m->ops->open(f.m, "/m", &file), PLIM_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(f.m->ops->reread(f.m, file, &out), PLIM_OK);
    f.m->ops->close(f.m, file);
    assert_int_equal(f.m->ops->open(f.m, "/none", &file), PLIM_NOT_FOUND);
    assert_string_equal(out.p, "1\n2\n3\n3\n3\n");
    assert_string_equal(entries(&f), "-- file /m --\n1\n-- file /m --\n2\n-- file /m --\n3\n");
    pli_buf_free(&out);
    done(&f);
}

static int answer(uint64_t *out, char *name)
{
    *out = 0x1122;
    memcpy(name, "NVIDIA H200", 12);
    return 3;
}

static int call(pli_machine *m, const char *ordinal, int (*fn)(uint64_t *, char *), uint64_t *out,
                char *name)
{
    int rc;
    memset(name, 0, 32);
    PLI_CALL(m, rc, fn, "vendorAsk", ordinal, PLI_OUTS({out, sizeof *out}, {name, 32}),
             (out, name));
    return rc;
}

static void vendor_calls_are_kept(void **state)
{
    (void)state;
    struct fixture f;
    record(&f, NULL, true);
    uint64_t out = 0;
    char name[32];
    assert_int_equal(call(f.m, "0", answer, &out, name), 3);
    assert_int_equal(call(f.m, "1.0", NULL, &out, name), PLI_CALL_MISSING);
    assert_string_equal(entries(&f), "-- call vendorAsk 0 rc=3 --\n"
                                     "2211000000000000\n\"NVIDIA H200\" +21\n"
                                     "-- call vendorAsk 1.0 rc=missing --\n");
    pli_machine *again = replay(&f);
    out = 0;
    assert_int_equal(call(again, "0", answer, &out, name), 3);
    assert_int_equal(out, 0x1122);
    assert_string_equal(name, "NVIDIA H200");
    assert_int_equal(call(again, "1.0", answer, &out, name), PLI_CALL_MISSING);
    pli_machine_close(again);
    done(&f);
}

static void odd_contents_survive(void **state)
{
    (void)state;
    static const char *const files[] = {
        "",          "\n",         "no end",       "-- file /x --\n",
        "a\n-- b\n", "--\n",       "tab\tand é\n", "bell\a\n",
        "\xff\xfe",  "a\r\nb\r\n", "\n\n-- ",      "-- "};
    char machine[4096] = "-- facts --\n", path[64];
    size_t at = strlen(machine);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        at += (size_t)snprintf(machine + at, sizeof machine - at, "-- file /%zu\\040x hex --\n", i);
        for (const char *c = files[i]; *c; c++)
            at += (size_t)snprintf(machine + at, sizeof machine - at, "%02x", (unsigned char)*c);
        at += (size_t)snprintf(machine + at, sizeof machine - at, "\n");
    }
    struct fixture f;
    record(&f, machine, true);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "/%zu x", i);
        assert_string_equal(read_text(f.m, f.arena, path), files[i]);
    }
    pli_machine *again = replay(&f);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "/%zu x", i);
        assert_string_equal(read_text(again, f.arena, path), files[i]);
    }
    pli_machine_close(again);
    done(&f);
}

static void tools_are_kept(void **state)
{
    (void)state;
    struct fixture f;
    record(&f,
           "-- run t \\150ex exit=2 --\nout\n-- run t \\150ex exit=0 --\nout\n"
           "-- stderr t \\150ex --\n-- stderr t \\150ex --\noops\n"
           "-- run slow failed=TIMEOUT --\n",
           true);
    static const char *const argv[] = {"t", "hex", NULL}, *const slow[] = {"slow", NULL};
    for (int i = 0; i < 3; i++) {
        pli_run run = {.exit_status = 0};
        pli_buf_init(&run.out, NULL, 100);
        pli_buf_init(&run.err, NULL, 100);
        assert_int_equal(f.m->ops->run(f.m, argv, 1, &run), PLIM_OK);
        assert_int_equal(f.m->ops->run(f.m, slow, 1, &run), PLIM_TIMEOUT);
        pli_buf_free(&run.out);
        pli_buf_free(&run.err);
    }
    assert_string_equal(entries(&f), "-- run t \\150ex exit=2 --\nout\n"
                                     "-- run slow failed=TIMEOUT --\n"
                                     "-- run t \\150ex exit=0 --\nout\n"
                                     "-- stderr t \\150ex --\n"
                                     "-- stderr t \\150ex --\noops\n");
    done(&f);
}

static void the_live_machine_replays(void **state)
{
    (void)state;
    struct fixture f;
    record(&f, NULL, true);
    pli_names names, listed;
    const char *meminfo = read_text(f.m, f.arena, "/proc/meminfo");
    char uname[512], again_uname[512];
    size_t n = 0, again_n = 0;
    plim_status list = pli_list(f.m, f.arena, "/sys/class", &names);
    assert_int_equal(pli_query(f.m, "-", "host.uname", NULL, 0, uname, sizeof uname, &n), PLIM_OK);
    bool dev = pli_exists(f.m, "/dev/null"), none = pli_exists(f.m, "/dev/none");
    assert_true(dev && !none);
    pli_machine *again = replay(&f);
    assert_string_equal(read_text(again, f.arena, "/proc/meminfo"), meminfo);
    assert_int_equal(pli_list(again, f.arena, "/sys/class", &listed), list);
    assert_int_equal(listed.count, names.count);
    for (size_t i = 0; i < names.count; i++)
        assert_string_equal(listed.items[i], names.items[i]);
    assert_int_equal(
        pli_query(again, "-", "host.uname", NULL, 0, again_uname, sizeof again_uname, &again_n),
        PLIM_OK);
    assert_int_equal(n, again_n);
    assert_memory_equal(uname, again_uname, n);
    assert_true(pli_exists(again, "/dev/null") && !pli_exists(again, "/dev/none"));
    assert_string_equal(again->facts.arch, f.m->facts.arch);
    assert_int_equal(again->facts.page_size, f.m->facts.page_size);
    pli_machine_close(again);
    done(&f);
}

static void a_full_recording_says_so(void **state)
{
    (void)state;
    pli_machine *inner, *m;
    pli_arena *arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    pli_buf text;
    pli_buf_init(&text, NULL, 70);
    assert_int_equal(pli_machine_text(NULL,
                                      PLI_LIT("-- file /a hex --\n+150\n-- file /b --\n"
                                              "-- file /a --\nother\n"),
                                      "t", NULL, &inner),
                     PLIM_OK);
    assert_int_equal(pli_machine_record(NULL, inner, true, &text, &m), PLIM_OK);
    for (int i = 0; i < 300; i++) {
        (void)read_text(m, arena, "/a");
        (void)read_text(m, arena, "/b");
        (void)read_text(m, arena, "/none");
    }
    assert_int_equal(text.failed, PLIM_LIMIT);
    assert_true(text.n <= 70);
    pli_machine_close(m);
    pli_machine_close(inner);
    pli_buf_free(&text);
    pli_arena_free(arena);
}

/* An allocator that fails from the nth request on. */
static void *failing(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *left = user;
    if (new_size && *left == 0)
        return NULL;
    *left -= new_size != 0;
    return pli_hook_resize(NULL, ptr, old_size, new_size);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    pli_machine *inner;
    pli_arena *arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    assert_int_equal(
        pli_machine_text(NULL, PLI_LIT("-- file /a --\n1\n-- file /a --\n2\n"), "t", NULL, &inner),
        PLIM_OK);
    for (size_t n = 0;; n++) {
        size_t left = n;
        plim_allocator allocator = {failing, &left};
        pli_machine *m;
        pli_buf text;
        pli_buf_init(&text, &allocator, PLI_MAX_RECORDING);
        plim_status status = pli_machine_record(&allocator, inner, false, &text, &m);
        if (status == PLIM_OK) {
            for (int i = 0; i < 4; i++)
                (void)read_text(m, arena, i % 2 ? "/a" : "/b");
            (void)pli_exists(m, "/a");
            status = text.failed;
            pli_machine_close(m);
        }
        pli_buf_free(&text);
        assert_true(status == PLIM_OK || status == PLIM_NOMEM);
        if (status == PLIM_OK)
            break;
        assert_true(n < 1000);
    }
    pli_machine_close(inner);
    pli_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_written_once),
        cmocka_unit_test(a_series_keeps_its_order),
        cmocka_unit_test(a_meter_is_a_series),
        cmocka_unit_test(vendor_calls_are_kept),
        cmocka_unit_test(odd_contents_survive),
        cmocka_unit_test(tools_are_kept),
        cmocka_unit_test(the_live_machine_replays),
        cmocka_unit_test(a_full_recording_says_so),
        cmocka_unit_test(every_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
