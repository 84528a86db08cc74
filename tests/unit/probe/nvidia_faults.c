/* NVIDIA's driver as it should not be: it lies, hangs, crashes, exits, prints. Whatever it does,
 * the devices of the bus are listed, within the deadline, and a note says what happened. */
#include "../test.h"
#include "fake_nvml.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- drivers that lie ------------------------------------------------------------------------ */

static void more_in_use_than_there_is(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_GPU("0000:01:00.0", "2684", "nvidia"), "liar", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_known(d, memory_total_bytes, 24564 * MIB);
    assert_unknown(d, memory_used_bytes);
    assert_unknown(d, memory_free_bytes);
    assert_non_null(fake_note(m, "taken for unknown"));
    plim_machine_free(m);
}

static void figures_out_of_this_world(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100_FILES, "four-billion", NULL);
    assert_int_equal(m->devices.count, 1);
    const plim_device *d = fake_device(m, 0);
    assert_known(d, memory_total_bytes, 81559 * MIB);
    assert_unknown(d, compute_capability);
    assert_unknown(d, arch);
    assert_unknown(d, pcie_max_gen);
    assert_unknown(d, pcie_current_width);
    assert_unknown(d, memory_bus_width_bits);
    assert_known(d, memory_bandwidth_bytes_per_s, UINT64_C(3352000000000)); /* the product's */
    assert_unknown(d, cores_shading);
    assert_unknown(d, telemetry_temperature_c);
    assert_unknown(d, telemetry_power_w);
    assert_unknown(d, telemetry_utilization_percent);
    assert_unknown(d, telemetry_clock_mhz);
    assert_unknown(d, ecc_enabled);
    assert_unknown(d, compute_mode);
    assert_non_null(fake_note(m, "counts 4000000000 GPUs"));
    assert_non_null(fake_note(m, "4000000000 slices"));
    assert_true(m->notes.count < 10);
    plim_machine_free(m);
}

static void no_byte_of_a_name_reaches_the_terminal(void **state)
{
    (void)state;
    plim_machine *m = fake_detect(FAKE_H100_FILES, "bad-name", NULL);
    const plim_device *d = fake_device(m, 0);
    assert_true(strlen(d->name) > 0 && strlen(d->name) <= 96);
    for (const char *p = d->name; *p; p++)
        assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
    for (const char *p = d->uuid; *p; p++)
        assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
    assert_non_null(strstr(d->name, "H100"));
    plim_machine_free(m);
}

/* ---- drivers that do not come back ----------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A deadline is short only where the library will not answer at all: the machine may be busy. */
static uint32_t timeout_ms(const char *fault)
{
    return fault && strstr(fault, "hang") ? 500 : 20000;
}

/* Isolated; what it takes beyond the deadline is not the driver's. */
static plim_machine *survive(const char *files, const char *machine, const char *fault)
{
    fake_nvml f = {.files = files,
                   .machine = machine,
                   .fault = fault,
                   .isolate = true,
                   .timeout_ms = timeout_ms(fault)};
    double start = seconds();
    plim_machine *m = fake_nvml_detect(&f);
    assert_non_null(m);
    assert_true(seconds() - start < f.timeout_ms / 1000.0 + 5);
    return m;
}

static void isolated_is_the_same(void **state)
{
    (void)state;
    plim_machine *m = survive(FAKE_H100_FILES, "h100", "print:nvmlInit_v2,fork:nvmlInit_v2");
    assert_known(fake_device(m, 0), memory_total_bytes, 81559 * MIB);
    assert_int_equal(m->notes.count, 0);
    plim_machine_free(m);
}

static void hang_crash_and_exit(void **state)
{
    static const struct {
        const char *fault, *subject, *text;
    } cases[] = {{"hang:nvmlInit_v2", "nvmlInit_v2", "did not answer"},
                 {"crash:nvmlInit_v2", "nvmlInit_v2", "signal 11"},
                 {"exit:nvmlInit_v2", "nvmlInit_v2", "status 3"},
                 {"hang:nvmlShutdown", "nvmlShutdown", "did not answer"},
                 {"fork:nvmlInit_v2,crash:nvmlDeviceGetName", "nvmlDeviceGetName", "signal 11"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        plim_machine *m = survive(FAKE_H100_FILES, "h100", cases[i].fault);
        const plim_note *note = fake_note(m, cases[i].text);
        assert_int_equal(m->devices.count, 1);
        assert_text(fake_device(m, 0), pci_address, "0000:00:09.0");
        assert_non_null(note);
        assert_string_equal(note->probe, "nvidia_nvml");
        assert_non_null(strstr(note->subject, cases[i].subject));
        assert_int_equal(m->notes.count, 1); /* nothing is said twice */
        plim_machine_free(m);
    }
}

/* What was said before the end is kept. */
static void the_last_of_eight_crashes(void **state)
{
    static const char *const faults[] = {"crash:nvmlDeviceGetMemoryInfo_v2:7",
                                         "hang:nvmlDeviceGetMemoryInfo_v2:7",
                                         "exit:nvmlDeviceGetMemoryInfo_v2:7"};
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        plim_machine *m = survive(FAKE_H100X8_FILES, "h100x8", faults[i]);
        assert_int_equal(m->devices.count, 8);
        for (size_t k = 0; k < 8; k++) {
            const plim_device *d = fake_device(m, k);
            if (k < 7)
                assert_known(d, memory_total_bytes, 81559 * MIB);
            else
                assert_unknown(d, memory_total_bytes);
            assert_int_equal(PLIM_KNOWN(device, d, available), k < 7);
        }
        assert_int_equal(m->notes.count, 1);
        plim_machine_free(m);
    }
}

static void blocked_signals_of_the_caller(void **state)
{
    sigset_t all, before, after;
    (void)state;
    sigfillset(&all);
    assert_int_equal(sigprocmask(SIG_BLOCK, &all, &before), 0);
    plim_machine *m = survive(FAKE_H100_FILES, "h100", "hang:nvmlInit_v2");
    assert_non_null(fake_note(m, "did not answer"));
    plim_machine_free(m);
    m = survive(FAKE_H100_FILES, "h100", NULL);
    assert_known(fake_device(m, 0), memory_total_bytes, 81559 * MIB);
    plim_machine_free(m);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
    assert_int_equal(sigismember(&after, SIGTERM), 1); /* left as it was */
}

/* ---- recordings ------------------------------------------------------------------------------ */

static char *document(plim_machine *m)
{
    char *text;
    m->timing = NULL;
    assert_int_equal(plim_machine_to_json(m, 0, &text, NULL), PLIM_OK);
    plim_machine_free(m);
    return text;
}

static void recordings_say_the_same(void **state)
{
    static const struct {
        const char *files, *machine, *fault;
    } cases[] = {
        {FAKE_H100_FILES, "h100", NULL},
        {FAKE_H100X8_FILES, "h100x8", "rc15:nvmlDeviceGetHandleByPciBusId_v2:3"},
        {FAKE_GPU("0000:83:00.0", "2335", "nvidia"), "h200-mig", NULL},
        {GB10_FILES GB10_MEMINFO, "gb10", NULL},
        {MODULE, "h100x8", NULL},
        {FAKE_H100_FILES MODULE, "h100", "rc18:nvmlInit_v2"},
        {FAKE_H100_FILES, "four-billion", NULL},
        {FAKE_H100_FILES, "bad-name", NULL},
        {FAKE_H100_FILES, "h100", "crash:nvmlDeviceGetMemoryInfo_v2"},
        {FAKE_H100_FILES, "h100", "hang:nvmlInit_v2"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake_nvml f = {.files = cases[i].files,
                       .machine = cases[i].machine,
                       .fault = cases[i].fault,
                       .isolate = true,
                       .timeout_ms = timeout_ms(cases[i].fault),
                       .capture = true};
        plim_machine *m = fake_nvml_detect(&f);
        assert_non_null(m);
        char *live = document(m), *again = document(fake_nvml_replay(f.recording));
        assert_string_equal(live, again);
        plim_text_free(live);
        plim_text_free(again);
        free(f.recording);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct budget {
    uint64_t left;
};

static void *limited(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct budget *budget = user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (budget->left == 0)
        return NULL;
    budget->left--;
    return realloc(ptr, new_size);
}

static void every_failed_allocation_is_survived(void **state)
{
    static const char *const machines[] = {"h200-mig", "bad-name", "four-billion"};
    (void)state;
    for (size_t i = 0; i < COUNT(machines); i++) {
        bool done = false;
        for (uint64_t n = 0; !done; n++) {
            struct budget budget = {n};
            plim_allocator allocator = {limited, &budget};
            fake_nvml f = {.files = FAKE_GPU("0000:83:00.0", "2335", "nvidia") FAKE_H100_FILES,
                           .machine = machines[i],
                           .allocator = &allocator};
            plim_machine *m = fake_nvml_detect(&f);
            done = m != NULL;
            plim_machine_free(m);
            assert_true(n < 100000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_in_use_than_there_is),
        cmocka_unit_test(figures_out_of_this_world),
        cmocka_unit_test(no_byte_of_a_name_reaches_the_terminal),
        cmocka_unit_test(isolated_is_the_same),
        cmocka_unit_test(hang_crash_and_exit),
        cmocka_unit_test(the_last_of_eight_crashes),
        cmocka_unit_test(blocked_signals_of_the_caller),
        cmocka_unit_test(recordings_say_the_same),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
