/* Jobs that misbehave in their child process. Vendor functions are played by functions here, called
 * through PLI_CALL as a binding does: the parent must never enter them. */
#define _GNU_SOURCE
#include "machine/machine.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "unit/machine/process_state.h"

typedef int (*vendor_fn)(uint32_t *out);

/* What a job was asked to do, and what it learnt each time it ran here. */
struct job {
    vendor_fn fn;
    pid_t parent;
    bool entered; /* in the parent's memory: fn ran here */
    int runs;
    int first, rc;
    uint32_t value;
    char comm[64];
};

static pid_t tester; /* fn must not run in this process */

static int harmless(uint32_t *out)
{
    *out = 41;
    return 0;
}

static void work(pli_machine *m, void *arg)
{
    struct job *job = arg;
    pli_arena *arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    uint32_t value = 0;
    vendor_fn first = harmless, fn = job->fn;
    job->runs++;
    pli_str comm = pli_read_wordf(m, arena, "/proc/%s/comm", "self");
    (void)snprintf(job->comm, sizeof job->comm, "%.*s", (int)comm.n, comm.p);
    PLI_CALL(m, job->first, first, "vendorInit", "-", PLI_OUTS({&value, sizeof value}), (&value));
    PLI_CALL(m, job->rc, fn, "vendorAsk", "0", PLI_OUTS({&value, sizeof value}), (&value));
    job->value = value;
    pli_arena_free(arena);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static pli_isolation isolate(vendor_fn fn, uint32_t timeout_ms, struct job *job)
{
    pli_machine *m;
    pli_isolation end;
    *job = (struct job){.fn = fn};
    tester = getpid();
    assert_int_equal(pli_machine_live(NULL, &m), PLIM_OK);
    m->ops->isolate(m, "test", work, job, timeout_ms, &end);
    pli_machine_close(m);
    assert_int_equal(job->runs, 1); /* the child's run leaves no trace here */
    assert_int_equal(job->first, 0);
    assert_true(job->comm[0] != '\0');
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return end;
}

static int leave_parent(void)
{
    if (getpid() == tester)
        abort();
    return 0;
}

static int good(uint32_t *out)
{
    *out += 1;
    return leave_parent();
}

static void what_the_child_saw_comes_back(void **state)
{
    (void)state;
    struct job job;
    pli_isolation end = isolate(good, 5000, &job);
    assert_int_equal(end.status, PLIM_OK);
    assert_int_equal(job.rc, 0);
    assert_int_equal(job.value, 42);
    assert_string_equal(end.last_call, "");
}

static int hangs(uint32_t *out)
{
    (void)out;
    (void)leave_parent();
    while (pause() != 0)
        ;
    return 0;
}

static int hangs_deaf(uint32_t *out)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)signal(SIGTERM, SIG_IGN);
    for (int fd = 3; fd < 256; fd++)
        (void)close(fd);
    return hangs(out);
}

static void what_hangs_is_given_up(void **state)
{
    (void)state;
    struct job job;
    vendor_fn fns[] = {hangs, hangs_deaf};
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = now_ms();
        pli_isolation end = isolate(fns[i], 300, &job);
        uint64_t took = now_ms() - start;
        assert_int_equal(end.status, PLIM_TIMEOUT);
        assert_true(took >= 290 && took < 2000);
        assert_true(end.elapsed_us >= 290000);
        assert_string_equal(end.last_call, "vendorAsk");
        assert_int_equal(job.rc, PLI_CALL_MISSING);
        assert_int_equal(job.value, 41);
    }
}

static int crashes(uint32_t *out)
{
    (void)out;
    leave_parent();
    (void)raise(SIGSEGV);
    return 0;
}

static int aborts(uint32_t *out)
{
    (void)out;
    leave_parent();
    abort();
}

static void a_crash_is_told(void **state)
{
    (void)state;
    struct job job;
    pli_isolation end = isolate(crashes, 5000, &job);
    assert_int_equal(end.status, PLIM_CRASHED);
    assert_int_equal(end.signal, SIGSEGV);
    assert_string_equal(end.last_call, "vendorAsk");
    assert_int_equal(job.rc, PLI_CALL_MISSING);
    end = isolate(aborts, 5000, &job);
    assert_int_equal(end.status, PLIM_CRASHED);
    assert_int_equal(end.signal, SIGABRT);
}

static int exits(uint32_t *out)
{
    (void)out;
    leave_parent();
    exit(7);
}

static int exit_marker[2];

/* An exit handler of the program: must not run in the child. */
static void program_exits(void)
{
    if (exit_marker[1] > 0)
        (void)!write(exit_marker[1], "x", 1);
}

static void exit_is_told_and_runs_no_handler(void **state)
{
    (void)state;
    struct job job;
    char byte;
    assert_int_equal(pipe(exit_marker), 0);
    assert_int_equal(fcntl(exit_marker[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(atexit(program_exits), 0);
    pli_isolation end = isolate(exits, 5000, &job);
    assert_int_equal(end.status, PLIM_CRASHED);
    assert_int_equal(end.signal, 0);
    assert_int_equal(end.exit_status, 7);
    assert_int_equal(read(exit_marker[0], &byte, 1), -1);
    (void)close(exit_marker[0]);
    (void)close(exit_marker[1]);
    exit_marker[1] = 0;
}

static int prints(uint32_t *out)
{
    for (int i = 0; i < 100000; i++)
        (void)puts("a library that talks");
    (void)fprintf(stderr, "and complains\n");
    (void)fflush(stdout);
    return good(out);
}

static void what_is_printed_goes_nowhere(void **state)
{
    (void)state;
    struct job job;
    int saved = dup(1), pipes[2];
    char bytes[64];
    (void)fflush(stdout);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(dup2(pipes[1], 1), 1);
    pli_isolation end = isolate(prints, 10000, &job);
    assert_int_equal(dup2(saved, 1), 1);
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), -1);
    assert_int_equal(end.status, PLIM_OK);
    assert_int_equal(job.value, 42);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    (void)close(saved);
}

static int writes_everywhere(uint32_t *out)
{
    for (int fd = 3; fd < 64; fd++)
        (void)!write(fd, "garbage that is no frame", 24);
    return good(out);
}

static void garbage_in_the_stream_is_told(void **state)
{
    (void)state;
    struct job job;
    pli_isolation end = isolate(writes_everywhere, 5000, &job);
    assert_int_equal(end.status, PLIM_PARSE);
    assert_int_equal(job.rc, PLI_CALL_MISSING);
}

static int leaves_a_grandchild(uint32_t *out)
{
    if (fork() == 0) {
        (void)sleep(1000);
        _exit(0);
    }
    return good(out);
}

static int dies_and_leaves_a_grandchild(uint32_t *out)
{
    leaves_a_grandchild(out);
    _exit(3);
}

static void grandchildren_hold_nobody(void **state)
{
    (void)state;
    struct job job;
    uint64_t start = now_ms();
    pli_isolation end = isolate(leaves_a_grandchild, 10000, &job);
    assert_int_equal(end.status, PLIM_OK);
    end = isolate(dies_and_leaves_a_grandchild, 10000, &job);
    assert_int_equal(end.status, PLIM_CRASHED);
    assert_int_equal(end.exit_status, 3);
    assert_true(now_ms() - start < 5000);
}

/* One large file under several names: five times 15 MiB are more than a recording holds. */
static void flood(pli_machine *m, void *arg)
{
    const char *path = arg;
    pli_buf out;
    pli_buf_init(&out, NULL, 16u << 20);
    for (const char *name = path; name < path + 5; name++) {
        pli_buf_reset(&out);
        (void)m->ops->read(m, name, &out);
    }
    pli_buf_free(&out);
}

static void a_stream_without_end_is_cut(void **state)
{
    (void)state;
    pli_machine *m;
    pli_isolation end;
    char path[] = "/////tmp/plim-flood-XXXXXX", line[1024];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 15 * 1024; i++)
        assert_int_equal(write(fd, line, sizeof line), sizeof line);
    assert_int_equal(close(fd), 0);
    assert_int_equal(pli_machine_live(NULL, &m), PLIM_OK);
    m->ops->isolate(m, "test", flood, path, 60000, &end);
    pli_machine_close(m);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(end.status, PLIM_LIMIT);
}

static void expect_in_child(void (*prepare)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct job job = {.fn = good};
        pli_isolation end;
        pli_machine *m;
        prepare();
        tester = getpid();
        if (pli_machine_live(NULL, &m) != PLIM_OK)
            _exit(2);
        m->ops->isolate(m, "test", work, &job, 5000, &end);
        _exit(end.status == PLIM_OK && job.value == 42 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void the_state_of_this_process_does_not_matter(void **state)
{
    (void)state;
    expect_in_child(close_standard_files);
    expect_in_child(block_all_signals);
    expect_in_child(ignore_children);
}

static void no_descriptor_is_lost(void **state)
{
    (void)state;
    struct job job;
    int before = dup(0);
    assert_int_equal(close(before), 0);
    (void)isolate(good, 5000, &job);
    (void)isolate(crashes, 5000, &job);
    (void)isolate(hangs, 50, &job);
    int after = dup(0);
    assert_int_equal(close(after), 0);
    assert_int_equal(before, after);
}

static void a_recording_keeps_what_happened(void **state)
{
    (void)state;
    struct job job = {.fn = crashes}, again = {.fn = crashes};
    pli_machine *live, *recorder, *replay;
    pli_isolation end, told;
    pli_buf text;
    tester = getpid();
    pli_buf_init(&text, NULL, PLI_MAX_RECORDING);
    assert_int_equal(pli_machine_live(NULL, &live), PLIM_OK);
    assert_int_equal(pli_machine_record(NULL, live, false, &text, &recorder), PLIM_OK);
    recorder->ops->isolate(recorder, "test", work, &job, 5000, &end);
    pli_machine_close(recorder);
    pli_machine_close(live);
    assert_int_equal(end.status, PLIM_CRASHED);
    assert_int_equal(job.runs, 1);
    assert_int_equal(pli_machine_text(NULL, pli_buf_str(&text), "r", NULL, &replay), PLIM_OK);
    replay->ops->isolate(replay, "test", work, &again, 5000, &told);
    pli_machine_close(replay);
    pli_buf_free(&text);
    assert_memory_equal(&end, &told, sizeof end);
    assert_int_equal(again.rc, job.rc);
    assert_int_equal(again.value, job.value);
    assert_string_equal(again.comm, job.comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_child_saw_comes_back),
        cmocka_unit_test(what_hangs_is_given_up),
        cmocka_unit_test(a_crash_is_told),
        cmocka_unit_test(exit_is_told_and_runs_no_handler),
        cmocka_unit_test(what_is_printed_goes_nowhere),
        cmocka_unit_test(garbage_in_the_stream_is_told),
        cmocka_unit_test(grandchildren_hold_nobody),
        cmocka_unit_test(a_stream_without_end_is_cut),
        cmocka_unit_test(the_state_of_this_process_does_not_matter),
        cmocka_unit_test(no_descriptor_is_lost),
        cmocka_unit_test(a_recording_keeps_what_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
