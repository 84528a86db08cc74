/* Recorded machines: what a text answers, and what is refused. */
#include "machine/machine.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/num.h"
#include "machine/archive.h"
#include "machine/query.h"

struct fixture {
    pli_machine *m;
    pli_arena *arena;
};

static struct fixture open_text(const char *text)
{
    plim_error error = PLIM_ERROR_INIT;
    struct fixture f = {NULL, pli_arena_new(NULL, PLI_MAX_ARENA)};
    plim_status status = pli_machine_text(NULL, pli_s(text), "test", &error, &f.m);
    if (status != PLIM_OK)
        print_error("%s at %llu\n", error.what, (unsigned long long)error.offset);
    assert_int_equal(status, PLIM_OK);
    return f;
}

static void close_text(struct fixture *f)
{
    pli_machine_close(f->m);
    pli_arena_free(f->arena);
}

static void expect_file(struct fixture *f, const char *path, const char *content)
{
    pli_str text;
    assert_int_equal(pli_read(f->m, f->arena, path, &text), PLIM_OK);
    assert_int_equal(text.n, strlen(content));
    assert_memory_equal(text.p, content, text.n);
}

static void files_are_answered(void **state)
{
    (void)state;
    struct fixture f = open_text("made by hand\n"
                                 "-- file /proc/meminfo --\n"
                                 "MemTotal: 17 kB\n"
                                 "MemFree: 1 kB\n"
                                 "-- # two odd ones --\n"
                                 "remarks\n"
                                 "-- file /a\\040b\\134c nonl --\n"
                                 "no end\n"
                                 "-- file /empty --\n"
                                 "-- file /bytes hex --\n"
                                 "00ff \"te xt\" +3\n"
                                 "0A\n"
                                 "-- file /broken failed=IO --\n"
                                 "-- denied /dev/kfd --\n");
    pli_str text;
    expect_file(&f, "/proc/meminfo", "MemTotal: 17 kB\nMemFree: 1 kB\n");
    expect_file(&f, "/a b\\c", "no end");
    expect_file(&f, "/empty", "");
    assert_int_equal(pli_read(f.m, f.arena, "/bytes", &text), PLIM_OK);
    assert_int_equal(text.n, 11);
    assert_memory_equal(text.p, "\0\xffte xt\0\0\0\n", 11);
    assert_int_equal(pli_read(f.m, f.arena, "/broken", &text), PLIM_IO);
    assert_int_equal(pli_read(f.m, f.arena, "/dev/kfd", &text), PLIM_PERMISSION);
    assert_int_equal(pli_read(f.m, f.arena, "/proc", &text), PLIM_IO);
    assert_int_equal(pli_read(f.m, f.arena, "/proc/mem", &text), PLIM_NOT_FOUND);
    close_text(&f);
}

static void the_cap_of_a_read_holds(void **state)
{
    (void)state;
    struct fixture f = open_text("-- file /zeros hex --\n+65536\n");
    pli_buf buf;
    pli_buf_init(&buf, NULL, 1000);
    assert_int_equal(f.m->ops->read(f.m, "/zeros", &buf), PLIM_LIMIT);
    assert_int_equal(buf.n, 0);
    pli_buf_free(&buf);
    close_text(&f);
}

static void directories_follow_from_paths(void **state)
{
    (void)state;
    struct fixture f = open_text("-- file /sys/class/drm/card10/dev --\n1\n"
                                 "-- file /sys/class/drm/card2/dev --\n1\n"
                                 "-- file /sys/class/drm/card2/vendor --\n1\n"
                                 "-- file /sys/class/drm/card2-DP-1 --\n1\n"
                                 "-- denied /sys/class/drm/card2/rom --\n"
                                 "-- dir /given --\n"
                                 "two words\n"
                                 "line\\012end\n"
                                 "-- dir /closed failed=PERMISSION --\n");
    pli_names names;
    assert_int_equal(pli_list(f.m, f.arena, "/sys/class/drm", &names), PLIM_OK);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], "card2");
    assert_string_equal(names.items[1], "card2-DP-1");
    assert_string_equal(names.items[2], "card10");
    assert_int_equal(pli_list(f.m, f.arena, "/", &names), PLIM_OK);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], "closed");
    assert_int_equal(pli_list(f.m, f.arena, "/given", &names), PLIM_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "line\nend");
    assert_int_equal(pli_list(f.m, f.arena, "/closed", &names), PLIM_PERMISSION);
    assert_int_equal(pli_list(f.m, f.arena, "/sys/class/drm/card2/dev", &names), PLIM_NOT_FOUND);
    assert_int_equal(pli_list(f.m, f.arena, "/nothing", &names), PLIM_NOT_FOUND);
    close_text(&f);
}

static const char linked[] = "-- link /sys/bus/pci/devices/0000:03:00.0 --\n"
                             "../../../devices/pci0000:00/0000:03:00.0\n"
                             "-- file /sys/devices/pci0000:00/0000:03:00.0/vendor --\n"
                             "0x1002\n"
                             "-- link /sys/devices/pci0000:00/0000:03:00.0/driver --\n"
                             "/sys/bus/pci/drivers/amdgpu\n"
                             "-- file /sys/bus/pci/drivers/amdgpu/module/version --\n"
                             "6.1\n"
                             "-- link /loop --\n"
                             "loop\n";

static void links_in_the_middle_resolve(void **state)
{
    (void)state;
    struct fixture f = open_text(linked);
    pli_names names;
    pli_str text;
    expect_file(&f, "/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
    expect_file(&f, "/sys/bus/pci/devices/0000:03:00.0/driver/module/version", "6.1\n");
    expect_file(&f, "/sys/bus/pci/devices/0000:03:00.0/../0000:03:00.0/./vendor", "0x1002\n");
    assert_string_equal(
        pli_link_namef(f.m, f.arena, "/sys/bus/pci/devices/%s/driver", "0000:03:00.0"), "amdgpu");
    assert_int_equal(pli_list(f.m, f.arena, "/sys/bus/pci/devices/0000:03:00.0", &names), PLIM_OK);
    assert_int_equal(names.count, 2);
    assert_true(pli_exists(f.m, "/sys/bus/pci/devices/0000:03:00.0/driver"));
    assert_int_equal(pli_read(f.m, f.arena, "/loop/x", &text), PLIM_NOT_FOUND);
    assert_false(pli_exists(f.m, "/loop"));
    close_text(&f);
}

static void what_was_read_through_a_link_is_found_again(void **state)
{
    (void)state;
    struct fixture f = open_text("-- link /sys/class/drm/card0 --\n../../devices/card0\n"
                                 "-- file /sys/class/drm/card0/device/vendor --\n0x8086\n");
    pli_stat st;
    expect_file(&f, "/sys/class/drm/card0/device/vendor", "0x8086\n");
    assert_int_equal(pli_stat_path(f.m, "/sys/class/drm/card0/device/vendor", &st), PLIM_OK);
    assert_int_equal(st.type, PLI_FILE_REGULAR);
    assert_true(pli_exists(f.m, "/sys/class/drm/card0/device"));
    close_text(&f);
}

static void stat_says_what_was_recorded_or_implied(void **state)
{
    (void)state;
    struct fixture f =
        open_text("-- stat /dev/dri/renderD128 --\nchar dev=0:6 rdev=226:128 access=rw\n"
                  "-- stat /gone failed=PERMISSION --\n"
                  "-- file /size hex --\n0102 +6\n"
                  "-- denied /dev/kfd --\n");
    pli_stat st;
    assert_int_equal(pli_stat_path(f.m, "/dev/dri/renderD128", &st), PLIM_OK);
    assert_int_equal(st.type, PLI_FILE_CHAR);
    assert_int_equal(st.rdev_major, 226);
    assert_int_equal(st.rdev_minor, 128);
    assert_int_equal(st.dev_minor, 6);
    assert_true(st.readable && st.writable);
    assert_int_equal(pli_stat_path(f.m, "/gone", &st), PLIM_PERMISSION);
    assert_int_equal(pli_stat_path(f.m, "/size", &st), PLIM_OK);
    assert_int_equal(st.size, 8);
    assert_int_equal(pli_stat_path(f.m, "/dev/dri", &st), PLIM_OK);
    assert_int_equal(st.type, PLI_FILE_DIRECTORY);
    assert_int_equal(pli_stat_path(f.m, "/dev/kfd", &st), PLIM_OK);
    assert_false(st.readable);
    close_text(&f);
}

static void repeated_entries_are_a_series(void **state)
{
    (void)state;
    struct fixture f = open_text("-- file /x --\none\n-- file /x --\ntwo\n-- file /x failed=IO --\n"
                                 "-- clock --\n5\n-- clock --\n7\n");
    void *file;
    pli_buf buf;
    pli_buf_init(&buf, NULL, 100);
    assert_int_equal(f.m->ops->open(f.m, "/x", &file), PLIM_OK);
    assert_int_equal(f.m->ops->reread(f.m, file, &buf), PLIM_OK);
    assert_string_equal(buf.p, "one\n");
    expect_file(&f, "/x", "two\n");
    assert_int_equal(f.m->ops->reread(f.m, file, &buf), PLIM_IO);
    assert_int_equal(f.m->ops->reread(f.m, file, &buf), PLIM_IO);
    f.m->ops->close(f.m, file);
    assert_int_equal(f.m->ops->open(f.m, "/y", &file), PLIM_NOT_FOUND);
    assert_int_equal(f.m->ops->clock(f.m), 5);
    assert_int_equal(f.m->ops->clock(f.m), 7);
    assert_int_equal(f.m->ops->clock(f.m), 7);
    pli_buf_free(&buf);
    close_text(&f);
}

static void the_rest_is_answered(void **state)
{
    (void)state;
    struct fixture f = open_text("-- facts --\nos=darwin\narch=arm64\npage_size=16384\nuid=501\n"
                                 "-- env HOME --\n/home/a b\n"
                                 "-- env EMPTY --\n\n"
                                 "-- cpuid 0x7 0 --\n00000001 0000000a ffffffff 0\n"
                                 "-- query - host.xcr0 hex --\ne702 +6\n"
                                 "-- query /dev/dri/renderD128 drm.driver nonl --\namdgpu\n"
                                 "-- query /dev/dri/renderD129 drm.driver failed=PERMISSION --\n");
    uint32_t r[4];
    uint64_t xcr0;
    char name[32];
    size_t n = 0;
    assert_int_equal(f.m->facts.os, PLI_OS_DARWIN);
    assert_string_equal(f.m->facts.arch, "arm64");
    assert_int_equal(f.m->facts.page_size, 16384);
    assert_string_equal(pli_env(f.m, "HOME"), "/home/a b");
    assert_string_equal(pli_env(f.m, "EMPTY"), "");
    assert_null(pli_env(f.m, "PATH"));
    assert_true(f.m->ops->cpuid(f.m, 7, 0, r));
    assert_int_equal(r[1], 10);
    assert_int_equal(r[2], 0xffffffff);
    assert_false(f.m->ops->cpuid(f.m, 7, 1, r));
    assert_int_equal(pli_query(f.m, "-", "host.xcr0", NULL, 0, &xcr0, sizeof xcr0, NULL), PLIM_OK);
    assert_int_equal(xcr0, 0x2e7);
    assert_int_equal(
        pli_query(f.m, "/dev/dri/renderD128", "drm.driver", NULL, 0, name, sizeof name, &n),
        PLIM_OK);
    assert_int_equal(n, 6);
    assert_memory_equal(name, "amdgpu", 6);
    assert_int_equal(pli_query(f.m, "/dev/dri/renderD128", "drm.driver", NULL, 0, name, 5, &n),
                     PLIM_LIMIT);
    assert_int_equal(
        pli_query(f.m, "/dev/dri/renderD129", "drm.driver", NULL, 0, name, sizeof name, &n),
        PLIM_PERMISSION);
    assert_int_equal(
        pli_query(f.m, "/dev/dri/renderD130", "drm.driver", NULL, 0, name, sizeof name, &n),
        PLIM_NOT_FOUND);
    close_text(&f);
}

static void tools_are_answered(void **state)
{
    (void)state;
    struct fixture f = open_text("-- run nvidia-smi -q \\150ex \\e exit=9 --\nout\n"
                                 "-- stderr nvidia-smi -q \\150ex \\e nonl --\nerr\n"
                                 "-- run hangs failed=TIMEOUT --\n");
    static const char *const argv[] = {"nvidia-smi", "-q", "hex", "", NULL};
    static const char *const hangs[] = {"hangs", NULL}, *const absent[] = {"absent", NULL};
    pli_run run = {.exit_status = 0};
    pli_buf_init(&run.out, NULL, 100);
    pli_buf_init(&run.err, NULL, 2);
    assert_int_equal(f.m->ops->run(f.m, argv, 1, &run), PLIM_OK);
    assert_int_equal(run.exit_status, 9);
    assert_string_equal(run.out.p, "out\n");
    assert_int_equal(run.err.failed, PLIM_LIMIT);
    assert_int_equal(f.m->ops->run(f.m, hangs, 1, &run), PLIM_TIMEOUT);
    assert_int_equal(f.m->ops->run(f.m, absent, 1, &run), PLIM_NOT_FOUND);
    pli_buf_free(&run.out);
    pli_buf_free(&run.err);
    close_text(&f);
}

static int must_not_be_called(unsigned *out)
{
    (void)out;
    fail_msg("a recording never calls");
    return 0;
}

static int call_u32(pli_machine *m, const char *name, const char *ordinal, uint32_t *out)
{
    int rc, (*fn)(unsigned *) = must_not_be_called;
    PLI_CALL(m, rc, fn, name, ordinal, PLI_OUTS({out, sizeof *out}), (out));
    return rc;
}

static void vendor_calls_are_answered(void **state)
{
    (void)state;
    struct fixture f = open_text("-- lib nvml --\n"
                                 "-- lib old failed=VERSION --\n"
                                 "-- call count - rc=0 --\n08000000\n"
                                 "-- call count - rc=0 --\n07000000\n"
                                 "-- call short - rc=0 --\n0800\n"
                                 "-- call long - rc=0 --\n08000000 00\n"
                                 "-- call many - rc=0 --\n08000000\n00\n"
                                 "-- call bare - rc=0 --\n"
                                 "-- call refused 0.1 rc=-3 --\n"
                                 "-- call lacks - rc=missing --\n");
    static const pli_lib nvml = {.id = "nvml"}, old = {.id = "old"}, none = {.id = "none"};
    assert_int_equal(f.m->ops->lib(f.m, &nvml, NULL), PLIM_OK);
    assert_int_equal(f.m->ops->lib(f.m, &old, NULL), PLIM_VERSION);
    assert_int_equal(f.m->ops->lib(f.m, &none, NULL), PLIM_UNSUPPORTED);
    uint32_t count = 77;
    assert_int_equal(call_u32(f.m, "count", "-", &count), 0);
    assert_int_equal(pli_load(&count, 4, false), 8);
    assert_int_equal(call_u32(f.m, "count", "-", &count), 0);
    assert_int_equal(call_u32(f.m, "count", "-", &count), 0);
    assert_int_equal(pli_load(&count, 4, false), 7);
    count = 77;
    static const char *const wrong[] = {"short", "long", "many", "bare", "lacks", "absent"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(call_u32(f.m, wrong[i], "-", &count), PLI_CALL_MISSING);
    assert_int_equal(call_u32(f.m, "refused", "0.1", &count), -3);
    assert_int_equal(count, 77);
    close_text(&f);
}

static void look(pli_machine *m, void *arg)
{
    *(bool *)arg = pli_exists(m, "/x");
}

static void an_isolated_job_ends_as_it_was_recorded(void **state)
{
    (void)state;
    struct fixture f = open_text("-- file /x --\n"
                                 "-- isolated nvidia failed=TIMEOUT --\n"
                                 "last_call=nvmlInit_v2 -\nsignal=9\nelapsed_us=10000000\n");
    pli_isolation end;
    bool ran = false;
    f.m->ops->isolate(f.m, "nvidia", look, &ran, 1, &end);
    assert_true(ran);
    assert_int_equal(end.status, PLIM_TIMEOUT);
    assert_int_equal(end.signal, 9);
    assert_int_equal(end.elapsed_us, 10000000);
    assert_string_equal(end.last_call, "nvmlInit_v2 -");
    f.m->ops->isolate(f.m, "other", look, &ran, 1, &end);
    assert_int_equal(end.status, PLIM_OK);
    close_text(&f);
}

/* However they are written, these are no names: a NUL would cut them short, a slash lead away. */
static void names_that_no_directory_has_are_left_out(void **state)
{
    static const char text[] = "-- dir /d --\na\n.\0x\n\\056\n..\nb\\057c\nd\n";
    pli_arena *arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    pli_machine *m;
    pli_names names;
    (void)state;
    assert_int_equal(pli_machine_text(NULL, (pli_str){text, sizeof text - 1}, "t", NULL, &m),
                     PLIM_OK);
    assert_int_equal(pli_list(m, arena, "/d", &names), PLIM_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "a");
    assert_string_equal(names.items[1], "d");
    pli_machine_close(m);
    pli_arena_free(arena);
}

/* A path would end there for some and go on for others. */
static void a_header_holds_no_nul(void **state)
{
    static const char text[] = "-- file /a --\nx\n-- file /b\0c --\ny\n";
    plim_error error = PLIM_ERROR_INIT;
    pli_machine *m = NULL;
    (void)state;
    assert_int_equal(pli_machine_text(NULL, (pli_str){text, sizeof text - 1}, "t", &error, &m),
                     PLIM_PARSE);
    assert_null(m);
    assert_int_equal(error.offset, 16);
}

#define X16 "xxxxxxxxxxxxxxxx"
#define X64 X16 X16 X16 X16

static void malformed_texts_are_refused_with_their_offset(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
        plim_status status;
    } rows[] = {
        {"", 0, PLIM_PARSE},
        {"MemTotal: 1 kB\n", 0, PLIM_PARSE},
        {"-- file /a --\nx\n-- fil /b --\n", 16, PLIM_PARSE},
        {"-- file /a --\nx\n-- file /b\n", 16, PLIM_PARSE},
        {"-- file relative --\n", 0, PLIM_PARSE},
        {"-- file --\n", 0, PLIM_PARSE},
        {"-- file /a /b --\n", 0, PLIM_PARSE},
        {"-- --\n", 0, PLIM_PARSE},
        {"-- file /a exit=1 --\n", 0, PLIM_PARSE},
        {"-- file /a failed=OK --\n", 0, PLIM_PARSE},
        {"-- file /a failed=NONSENSE --\n", 0, PLIM_PARSE},
        {"-- file /a hex --\n0g\n", 0, PLIM_PARSE},
        {"-- file /a hex --\n012\n", 0, PLIM_PARSE},
        {"-- file /a hex --\n\"open\n", 0, PLIM_PARSE},
        {"-- file /a hex --\n+99999999999999999999\n", 0, PLIM_PARSE},
        {"-- dir /a --\n../b\n", 0, PLIM_PARSE},
        {"-- dir /a hex --\n2f\n", 0, PLIM_PARSE},
        {"-- stat /a --\nsocket\n", 0, PLIM_PARSE},
        {"-- stat /a --\nchar rdev=1\n", 0, PLIM_PARSE},
        {"-- facts --\nos=plan9\n", 0, PLIM_PARSE},
        {"-- cpuid 0x1 --\n", 0, PLIM_PARSE},
        {"-- cpuid 1 0 --\n1 2 3\n", 0, PLIM_PARSE},
        {"-- cpuid 100000000 0 --\n1 2 3 4\n", 0, PLIM_PARSE},
        {"-- call f 0 rc=x --\n", 0, PLIM_PARSE},
        {"-- call f 0 rc=99999999999 --\n", 0, PLIM_PARSE},
        {"-- call f 0 rc=0 --\nzz\n", 0, PLIM_PARSE},
        {"-- lib nvml rc=0 --\n", 0, PLIM_PARSE},
        {"-- clock --\nnoon\n", 0, PLIM_PARSE},
        {"-- isolated x failed=CRASHED --\nsignal=-1\n", 0, PLIM_PARSE},
        {"-- isolated x --\nlast_call=f\nsignal=11\n", 0, PLIM_PARSE},
        {"-- isolated x failed=CRASHED --\nlast_call=" X64 X64 "\n", 0, PLIM_PARSE},
        {"-- plimsoll 1 --\n-- plimsoll 2 --\n", 17, PLIM_VERSION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        plim_error error = PLIM_ERROR_INIT;
        pli_machine *m;
        plim_status status = pli_machine_text(NULL, pli_s(rows[i].text), "bad", &error, &m);
        if (status != rows[i].status || error.offset != rows[i].offset)
            fail_msg("row %zu: %s at %llu: %s", i, plim_status_name(status),
                     (unsigned long long)error.offset, error.what);
        assert_null(m);
        assert_string_equal(error.subject, "bad");
    }
}

static void header_words_are_counted(void **state)
{
    (void)state;
    char text[4096] = "-- run tool";
    plim_error error = PLIM_ERROR_INIT;
    pli_machine *m;
    for (int i = 0; i < 200; i++)
        memcpy(text + strlen(text), " x", 3);
    memcpy(text + strlen(text), " --\n", 5);
    assert_int_equal(pli_machine_text(NULL, pli_s(text), "bad", &error, &m), PLIM_PARSE);
}

/* Source of a manual page into the text that a reader copies. */
static char *examples_of(const char *path, char *out, size_t size)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    bool examples = false, inside = false;
    size_t n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        examples = examples || strcmp(line, ".Sh EXAMPLES\n") == 0;
        bool display = strncmp(line, ".Bd -literal", 12) == 0;
        inside = examples && (inside || display) && strcmp(line, ".Ed\n") != 0;
        for (const char *c = line; inside && !display && *c && n + 1 < size; c++) {
            if (c[0] == '\\' && c[1] == '&')
                c++;
            else if (c[0] != '\\')
                out[n++] = *c;
        }
    }
    out[n] = '\0';
    assert_int_equal(fclose(file), 0);
    return out;
}

static void the_manual_is_right(void **state)
{
    (void)state;
    static const char *const names[] = {
#define X(id, name, least, most, attributes) name,
        PLI_KIND_MAP(X)
#undef X
    };
    const char *path = SOURCE_DIR "/man/plimsoll-machine.5";
    char text[8192], row[64], manual[32768];
    struct fixture f = open_text(examples_of(path, text, sizeof text));
    uint32_t count = 0;
    expect_file(&f, "/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "25753026560\n");
    assert_int_equal(call_u32(f.m, "nvmlDeviceGetCount_v2", "-", &count), 0);
    assert_int_equal(pli_load(&count, 4, false), 2);
    close_text(&f);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(manual, 1, sizeof manual - 1, file);
    manual[n] = '\0';
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(row, sizeof row, "\n.It Cm %s", names[i]);
        if (!strstr(manual, row))
            fail_msg("the manual says nothing of \"%s\"", names[i]);
    }
}

static void every_failed_allocation_is_survived(void **state);

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_answered),
        cmocka_unit_test(the_cap_of_a_read_holds),
        cmocka_unit_test(directories_follow_from_paths),
        cmocka_unit_test(links_in_the_middle_resolve),
        cmocka_unit_test(what_was_read_through_a_link_is_found_again),
        cmocka_unit_test(stat_says_what_was_recorded_or_implied),
        cmocka_unit_test(repeated_entries_are_a_series),
        cmocka_unit_test(the_rest_is_answered),
        cmocka_unit_test(tools_are_answered),
        cmocka_unit_test(vendor_calls_are_answered),
        cmocka_unit_test(an_isolated_job_ends_as_it_was_recorded),
        cmocka_unit_test(names_that_no_directory_has_are_left_out),
        cmocka_unit_test(a_header_holds_no_nul),
        cmocka_unit_test(malformed_texts_are_refused_with_their_offset),
        cmocka_unit_test(header_words_are_counted),
        cmocka_unit_test(the_manual_is_right),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* An allocator that fails from the nth request on. */
static void *failing(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *left = user;
    if (new_size == 0 || *left == 0)
        return new_size ? NULL : pli_hook_resize(NULL, ptr, old_size, 0);
    --*left;
    return pli_hook_resize(NULL, ptr, old_size, new_size);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        size_t left = n;
        plim_allocator allocator = {failing, &left};
        pli_machine *m;
        plim_status status = pli_machine_text(&allocator, pli_s(linked), "test", NULL, &m);
        assert_true(status == PLIM_OK || status == PLIM_NOMEM);
        if (status != PLIM_OK)
            continue;
        uint32_t out = 0;
        pli_buf buf;
        pli_buf_init(&buf, &allocator, 100);
        left = 0;
        (void)call_u32(m, "x", "0", &out);
        assert_int_equal(m->ops->read(m, "/sys/devices/pci0000:00/0000:03:00.0/vendor", &buf),
                         PLIM_NOMEM);
        pli_buf_free(&buf);
        pli_machine_close(m);
        return;
    }
    fail_msg("never enough memory");
}
