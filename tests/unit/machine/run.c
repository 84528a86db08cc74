/* Tools that misbehave. Each is a shell script; nothing here may take longer than its deadline. */
#define _GNU_SOURCE
#include "machine/machine.h"
#include "unit/machine/process_state.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    pli_machine *m;
    char directory[64];
    char path[4200]; /* PATH as it was */
    pli_run run;
};

static int set_up(void **state)
{
    static struct fixture f;
    memcpy(f.directory, "/tmp/plim-run-XXXXXX", 21);
    if (!mkdtemp(f.directory) || pli_machine_live(NULL, &f.m) != PLIM_OK)
        return -1;
    (void)snprintf(f.path, sizeof f.path, "%s", getenv("PATH"));
    char path[4300];
    (void)snprintf(path, sizeof path, "relative:%s:%s", f.directory, f.path);
    *state = &f;
    return setenv("PATH", path, 1);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    pli_machine_close(f->m);
    (void)setenv("PATH", f->path, 1);
    (void)snprintf(command, sizeof command, "rm -rf %s", f->directory);
    return system(command);
}

static void tool(struct fixture *f, const char *name, const char *script)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "#!/bin/sh\n%s\n", script) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static plim_status run(struct fixture *f, const char *name, uint32_t timeout_ms, size_t cap)
{
    const char *const argv[] = {name, "first", "two words", NULL};
    pli_buf_init(&f->run.out, NULL, cap);
    pli_buf_init(&f->run.err, NULL, cap);
    return f->m->ops->run(f->m, argv, timeout_ms, &f->run);
}

static void done(struct fixture *f)
{
    pli_buf_free(&f->run.out);
    pli_buf_free(&f->run.err);
}

static void output_and_status_are_taken(void **state)
{
    struct fixture *f = *state;
    tool(f, "plain", "echo \"$1|$2\"; echo oops >&2; exit 9");
    assert_int_equal(run(f, "plain", 5000, 1000), PLIM_OK);
    assert_string_equal(f->run.out.p, "first|two words\n");
    assert_string_equal(f->run.err.p, "oops\n");
    assert_int_equal(f->run.exit_status, 9);
    done(f);
}

static void an_absent_tool_is_not_found(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run(f, "plim-no-such-tool", 5000, 1000), PLIM_NOT_FOUND);
    assert_int_equal(run(f, "relative/path", 5000, 1000), PLIM_NOT_FOUND);
    assert_int_equal(run(f, "", 5000, 1000), PLIM_NOT_FOUND);
    assert_int_equal(run(f, "/tmp", 5000, 1000), PLIM_NOT_FOUND);
}

static void much_output_is_cut_at_the_cap(void **state)
{
    struct fixture *f = *state;
    tool(f, "flood", "head -c 10000000 /dev/zero | tr '\\0' x; echo end >&2");
    assert_int_equal(run(f, "flood", 20000, 100000), PLIM_OK);
    assert_int_equal(f->run.out.n, 100000);
    assert_int_equal(f->run.out.failed, PLIM_LIMIT);
    assert_string_equal(f->run.err.p, "end\n");
    done(f);
}

static void two_full_pipes_do_not_block_each_other(void **state)
{
    struct fixture *f = *state;
    tool(f, "both", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero");
    assert_int_equal(run(f, "both", 20000, 2000000), PLIM_OK);
    assert_int_equal(f->run.out.n, 1000000);
    assert_int_equal(f->run.err.n, 1000000);
    done(f);
}

static void expect_killed(struct fixture *f, const char *name)
{
    uint64_t start = now_ms();
    assert_int_equal(run(f, name, 300, 1000), PLIM_TIMEOUT);
    uint64_t took = now_ms() - start;
    assert_true(took >= 290 && took < 2000);
    done(f);
}

static void what_never_ends_is_killed(void **state)
{
    struct fixture *f = *state;
    tool(f, "hang", "sleep 1000");
    expect_killed(f, "hang");
    tool(f, "stubborn", "trap '' TERM INT HUP; while :; do sleep 1; done");
    expect_killed(f, "stubborn");
    tool(f, "endless", "yes");
    expect_killed(f, "endless");
    tool(f, "deaf", "exec >&- 2>&-; sleep 1000");
    expect_killed(f, "deaf");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left behind */
}

static void a_grandchild_that_keeps_the_pipe_holds_nobody(void **state)
{
    struct fixture *f = *state;
    tool(f, "parent", "sleep 1000 & echo $!");
    uint64_t start = now_ms();
    assert_int_equal(run(f, "parent", 10000, 1000), PLIM_OK);
    assert_true(now_ms() - start < 5000);
    assert_int_equal(f->run.exit_status, 0);
    pid_t grandchild = (pid_t)strtol(f->run.out.p, NULL, 10);
    assert_true(grandchild > 1);
    done(f);
    for (int i = 0; i < 100 && kill(grandchild, 0) == 0; i++) {
        char path[64], stat[256] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
        FILE *file = fopen(path, "r");
        size_t n = file ? fread(stat, 1, sizeof stat - 1, file) : 0;
        if (file)
            (void)fclose(file);
        if (n && strstr(stat, ") Z "))
            return; /* dead, init has not looked yet */
        (void)usleep(10000);
    }
    assert_int_not_equal(kill(grandchild, 0), 0);
}

static void a_signal_is_told(void **state)
{
    struct fixture *f = *state;
    tool(f, "suicide", "kill -SEGV $$");
    assert_int_equal(run(f, "suicide", 5000, 1000), PLIM_OK);
    assert_int_equal(f->run.exit_status, 128 + SIGSEGV);
    done(f);
}

static void the_environment_is_clean(void **state)
{
    struct fixture *f = *state;
    tool(f, "show-env",
         "echo \"[$LD_LIBRARY_PATH][$LC_ALL][$PLIM_TEST_KEPT]\"; read x; echo \"[$x]\"");
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/nowhere", 1), 0);
    assert_int_equal(setenv("LC_ALL", "xx_YY", 1), 0);
    assert_int_equal(setenv("PLIM_TEST_KEPT", "yes", 1), 0);
    assert_int_equal(run(f, "show-env", 5000, 1000), PLIM_OK);
    assert_string_equal(f->run.out.p, "[][C][yes]\n[]\n");
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    assert_int_equal(unsetenv("LC_ALL"), 0);
    done(f);
}

/* In a child of the test, because it loses its descriptors. */
static void expect_in_child(struct fixture *f, void (*prepare)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prepare();
        bool ok = run(f, "plain", 5000, 1000) == PLIM_OK && f->run.out.n &&
                  strcmp(f->run.out.p, "first|two words\n") == 0 && f->run.err.n &&
                  strcmp(f->run.err.p, "oops\n") == 0;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void the_state_of_this_process_does_not_matter(void **state)
{
    struct fixture *f = *state;
    tool(f, "plain", "echo \"$1|$2\"; echo oops >&2; exit 9");
    expect_in_child(f, close_standard_files);
    expect_in_child(f, block_all_signals);
    expect_in_child(f, ignore_children);
}

static void no_descriptor_is_lost(void **state)
{
    struct fixture *f = *state;
    int before = dup(0);
    assert_int_equal(close(before), 0);
    tool(f, "hang", "sleep 1000");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(f, "plim-no-such-tool", 100, 1000), PLIM_NOT_FOUND);
        (void)run(f, "hang", 50, 1000);
        done(f);
    }
    int after = dup(0);
    assert_int_equal(close(after), 0);
    assert_int_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_are_taken),
        cmocka_unit_test(an_absent_tool_is_not_found),
        cmocka_unit_test(much_output_is_cut_at_the_cap),
        cmocka_unit_test(two_full_pipes_do_not_block_each_other),
        cmocka_unit_test(what_never_ends_is_killed),
        cmocka_unit_test(a_grandchild_that_keeps_the_pipe_holds_nobody),
        cmocka_unit_test(a_signal_is_told),
        cmocka_unit_test(the_environment_is_clean),
        cmocka_unit_test(the_state_of_this_process_does_not_matter),
        cmocka_unit_test(no_descriptor_is_lost),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
