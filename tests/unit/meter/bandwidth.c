/* Threads in step, and the rates of memory: what must hold on any machine. */
#include "unit/test.h"

#include <plimsoll/plimsoll.h>

#include <stdatomic.h>

#include "base/sync.h"
#include "meter/bandwidth.h"

enum { TEAM = 8, ROUNDS = 200 };

typedef struct rounds {
    atomic_uint in_round[ROUNDS];
    atomic_uint early; /* someone was ahead of the others */
} rounds;

static void walk(void *user, unsigned i, pli_team *team)
{
    rounds *r = user;
    (void)i;
    for (unsigned k = 0; k < ROUNDS; k++) {
        if (k > 0 && atomic_load(&r->in_round[k - 1]) != TEAM)
            atomic_fetch_add(&r->early, 1);
        atomic_fetch_add(&r->in_round[k], 1);
        pli_team_meet(team);
    }
}

static void test_a_team_keeps_step(void **state)
{
    static rounds r;
    (void)state;
    assert_int_equal(pli_team_run(NULL, TEAM, walk, &r), PLIM_OK);
    assert_int_equal(atomic_load(&r.early), 0);
    for (unsigned k = 0; k < ROUNDS; k++)
        assert_int_equal(atomic_load(&r.in_round[k]), TEAM);
    assert_int_equal(pli_team_run(NULL, 0, walk, &r), PLIM_OK);
}

/* A clock that moves a second a look: a pass takes a second then, and rates are bytes. */
static uint64_t slow_clock(pli_machine *machine)
{
    static uint64_t now;
    (void)machine;
    return now += 1000000000u;
}

static void test_rates_are_bytes_a_second(void **state)
{
    const pli_machine_ops ops = {.clock = slow_clock};
    pli_machine machine = {.ops = &ops};
    pli_bandwidth got;
    (void)state;
    /* one thread, three arrays of 1 MiB: a pass reads 1, copies 2 or triads 3 MiB in a second */
    assert_int_equal(pli_measure_bandwidth(&machine, 1, 3 << 20, 3.0, &got), PLIM_OK);
    assert_int_equal(got.bytes, 3 << 20);
    assert_true(got.bytes_per_s[PLI_STREAM_READ] == 1048576.0);
    assert_true(got.bytes_per_s[PLI_STREAM_COPY] == 2 * 1048576.0);
    assert_true(got.bytes_per_s[PLI_STREAM_TRIAD] == 3 * 1048576.0);
    assert_true(got.passes[PLI_STREAM_READ] >= 3);
    assert_int_equal(pli_measure_bandwidth(&machine, 64, 1024, 1, &got), PLIM_INVALID);
    assert_int_equal(pli_measure_bandwidth(&machine, 0, 1 << 20, 1, &got), PLIM_INVALID);
}

static void test_this_machine(void **state)
{
    plimsoll *context;
    plim_machine *machine;
    plim_bench *bench;
    plim_bench_options with = PLIM_BENCH_OPTIONS_INIT;
    plim_detect_options look = PLIM_DETECT_OPTIONS_INIT;
    (void)state;
    assert_int_equal(plim_open(NULL, &context), PLIM_OK);
    assert_int_equal(plim_machine_detect(context, &look, NULL, NULL, &machine), PLIM_OK);
    with.bytes = 6 << 20;
    with.threads = 2;
    with.seconds = 0.03;
    assert_int_equal(plim_bench_host(context, machine, &with, NULL, &bench), PLIM_OK);
    assert_int_equal(bench->streams.count, 3);
    for (size_t i = 0; i < bench->streams.count; i++) {
        const plim_bench_stream *s = bench->streams.items[i];
        assert_true(s->bytes_per_s > 1e6); /* nothing that runs tests is slower */
    }
    plim_bench_free(bench);
    with.threads = 100000;
    assert_int_equal(plim_bench_host(context, machine, &with, NULL, &bench), PLIM_INVALID);
    plim_machine_free(machine);
    plim_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_team_keeps_step),
        cmocka_unit_test(test_rates_are_bytes_a_second),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
