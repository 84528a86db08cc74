/* Which memories count, and what of them may be used: machines given as documents. */
#include "models.h"

#define GIB(n) ((uint64_t)(n) << 30)
#define BEGIN "{\"schema\": \"plimsoll.machine/1\", "

static plim_fit *fit_in(const char *document, const plim_fit_options *o)
{
    plim_model *model = sketch_open(&llama3_8b);
    plim_machine *machine = NULL;
    plim_fit *fit = NULL;
    plim_error e = PLIM_ERROR_INIT;
    plim_status status = plim_machine_from_json(NULL, document, strlen(document), &e, &machine);
    if (status != PLIM_OK)
        print_error("%s\n", e.what);
    assert_int_equal(status, PLIM_OK);
    assert_int_equal(plim_fit_model(NULL, machine, model, o, &e, &fit), PLIM_OK);
    plim_machine_free(machine);
    plim_model_free(model);
    return fit;
}

#define RAM32                                                                                      \
    "\"memory\": {\"total_bytes\": 34359738368, \"available_bytes\": 34359738368,"                 \
    " \"usable_bytes\": 34359738368}"
#define DEVICE(more)                                                                               \
    "{\"kind\": \"gpu\", \"family\": \"cuda\", \"available\": true," more                          \
    " \"sources\": {\"memory.total_bytes\": \"nvml\", \"memory.free_bytes\": \"nvml\"}}"
#define GPU24                                                                                      \
    DEVICE("\"memory\": {\"total_bytes\": 25769803776, \"free_bytes\": 21474836480,"               \
           " \"kind\": \"dedicated\"},")

/* RAM keeps 1 GiB for the system, 2 GiB on Windows; a limit on the way counts; a GPU has what is
 * free on it now. */
static void test_budgets(void **state)
{
    static const struct {
        const char *document;
        uint64_t gpu, host;
    } rows[] = {
        {BEGIN "\"devices\": [" GPU24 "], " RAM32 "}", GIB(20), GIB(31)},
        {BEGIN "\"os\": {\"name\": \"windows\"}, \"devices\": [" GPU24 "], " RAM32 "}", GIB(20),
         GIB(30)},
        {BEGIN "\"devices\": [" GPU24 "], \"memory\": {\"total_bytes\": 34359738368,"
               " \"available_bytes\": 34359738368, \"limit_bytes\": 8589934592,"
               " \"usable_bytes\": 8589934592}}",
         GIB(20), GIB(7)},
    };
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_fit *fit = fit_in(rows[i].document, &o);
        assert_int_equal(fit->placement.count, 2);
        assert_int_equal(place(fit, 0)->budget_bytes, rows[i].gpu);
        assert_int_equal(place(fit, 1)->budget_bytes, rows[i].host);
        plim_fit_free(fit);
    }
}

/* Exact is what was held against the engine's own allocator: of these versions, of no other. */
static void test_certainty(void **state)
{
    static const struct {
        const char *engine, *kind;
    } rows[] = {{"llama.cpp", "exact"},          {"llama.cpp@0.7.0", "exact"},
                {"llama.cpp@b11669", "exact"},   {"llama.cpp@b7847-nout", "exact"},
                {"llama.cpp@b7847", "exact"},    {"llama.cpp@b7848", "estimate"},
                {"llama.cpp@0.6.0", "estimate"}, {"llama.cpp@0.8.0", "estimate"},
                {"llama.cpp@b9400", "estimate"}};
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        o.engine = rows[i].engine;
        plim_fit *fit = fit_on(&llama3_8b, "cuda:24GiB", &o);
        assert_string_equal(place(fit, 0)->compute_kind, rows[i].kind);
        assert_string_equal(place(fit, 1)->compute_kind, rows[i].kind);
        plim_fit_free(fit);
    }
}

/* A part of a card whose own use nobody tells uses at most what the whole card does. */
static void test_parts(void **state)
{
    static const char document[] = BEGIN
        "\"devices\": ["
        "{\"index\": 0, \"kind\": \"gpu\", \"family\": \"rocm\", \"available\": true, \"memory\": "
        "{\"total_bytes\": 51539607552, \"used_bytes\": 1073741824},"
        " \"sources\": {\"memory.used_bytes\": \"sysfs\"}},"
        "{\"index\": 1, \"kind\": \"gpu\", \"family\": \"rocm\", \"parent\": 0,"
        " \"partition\": \"CPX\", \"memory\": {\"total_bytes\": 25769803776}}], " RAM32 "}";
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_in(document, &o);
    assert_int_equal(fit->placement.count, 2); /* the part and the host, not the card */
    assert_int_equal(place(fit, 0)->budget_bytes, GIB(23));
    assert_string_equal(place(fit, 0)->budget_source, "sysfs");
    plim_fit_free(fit);
}

/* Memory that only a table knows proves that a model does not fit, never that it does. */
static void test_nominal(void **state)
{
    static const char document[] =
        BEGIN "\"devices\": [{\"kind\": \"gpu\", \"family\": \"cuda\", \"available\": true,"
              " \"memory\": {\"total_bytes\": 25769803776, \"free_bytes\": 25769803776},"
              " \"sources\": {\"memory.total_bytes\": \"table\", \"memory.free_bytes\": "
              "\"table\"}}], " RAM32 "}";
    plim_fit_options o = fit_options(1024, 1);
    (void)state;
    plim_fit *fit = fit_in(document, &o);
    assert_string_equal(fit->verdict, "unknown");
    assert_false(PLIM_KNOWN(placement, place(fit, 0), budget_bytes));
    plim_fit_free(fit);
    o.context = 131072;
    fit = fit_in(document, &o); /* 16 GiB of weights and as much of cache */
    assert_string_equal(fit->verdict, "failed");
    assert_false(fit->loads);
    plim_fit_free(fit);
}

/* Without memory of their own, what is unavailable, other kinds, an integrated GPU beside a
 * card: not used. */
static void test_left_out(void **state)
{
    static const char document[] = BEGIN
        "\"devices\": ["
        "{\"kind\": \"gpu\", \"family\": \"intel\", \"available\": true, \"integrated\": true},"
        "{\"kind\": \"npu\", \"family\": \"cuda\", \"available\": true},"
        "{\"kind\": \"gpu\", \"family\": \"cuda\", \"available\": false}," GPU24 "], " RAM32 "}";
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_in(document, &o);
    assert_int_equal(fit->placement.count, 2);
    assert_string_equal(place(fit, 0)->device, "cuda0");
    assert_string_equal(place(fit, 1)->device, "host");
    plim_fit_free(fit);
}

#define SLICE(index, profile, bytes)                                                               \
    DEVICE("\"index\": " index ", \"parent\": 0, \"partition\": \"" profile "\","                  \
           " \"memory\": {\"total_bytes\": " bytes ", \"free_bytes\": " bytes "},")

/* In MIG mode a program sees one slice: the largest. */
static void test_slices(void **state)
{
    static const char whole[] = DEVICE("\"index\": 0, \"mig_enabled\": true,"),
                      small[] = SLICE("1", "1g.18gb", "17179869184"),
                      large[] = SLICE("2", "3g.71gb", "74893492224");
    char document[2048];
    (void)snprintf(document, sizeof document, BEGIN "\"devices\": [%s,%s,%s], " RAM32 "}", whole,
                   small, large);
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_in(document, &o);
    assert_int_equal(fit->placement.count, 2);
    assert_int_equal(place(fit, 0)->total_bytes, UINT64_C(74893492224));
    plim_fit_free(fit);
}

#define APU(memory)                                                                                \
    BEGIN "\"devices\": [{\"kind\": \"gpu\", \"family\": \"rocm\", \"available\": true,"           \
          " \"integrated\": true, \"memory\": {" memory "}}], " RAM32 "}"

/* 85 % of carve-out and mappable RAM; the carve-out is no RAM, the rest is counted there too. */
static void test_apu(void **state)
{
    static const char carved[] = APU("\"total_bytes\": 17179869184, \"free_bytes\": 17179869184,"
                                     " \"kind\": \"dedicated\", \"gtt_total_bytes\": 17179869184,"
                                     " \"gtt_used_bytes\": 0"),
                      mapped[] = APU("\"total_bytes\": 68719476736, \"free_bytes\": 68719476736,"
                                     " \"kind\": \"shared\", \"gtt_total_bytes\": 68719476736");
    plim_fit_options o = fit_options(32768, 1);
    (void)state;
    plim_fit *fit = fit_in(carved, &o);
    const plim_placement *apu = place(fit, 0), *host = place(fit, 1);
    assert_int_equal(apu->budget_bytes, GIB(32) / 100 * 85);
    double own = (double)(host->used_bytes + (apu->used_bytes - GIB(16))) / (double)GIB(31);
    assert_true(host->utilization > own - 1e-9 && host->utilization < own + 1e-9);
    plim_fit_free(fit);
    fit = fit_in(mapped, &o);
    assert_int_equal(place(fit, 0)->budget_bytes, GIB(31) / 100 * 85);
    plim_fit_free(fit);
}

/* Two families of cards: each counts its own. */
static void test_names(void **state)
{
    static const char *const names[] = {"cuda0", "rocm0", "cuda1", "host"};
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:24GiB,rocm:24GiB,cuda:24GiB", &o);
    assert_int_equal(fit->placement.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(place(fit, i)->device, names[i]);
    plim_fit_free(fit);
    fit = fit_on(&llama3_8b, "cuda:24GiB*20", &o); /* the engine's limit is 16 */
    assert_int_equal(fit->placement.count, 17);
    assert_true(PLIM_KNOWN(fit, fit, missing));
    plim_fit_free(fit);
}

/* One memory, seen from both sides: what a device may use of RAM is bounded by what RAM has left
 * after the system's share, and by the device's own limit where one is told; and what it uses is
 * counted in RAM once more. Figures by hand. */
#define SHARED(family, kind, memory)                                                               \
    "\"devices\": [{\"kind\": \"gpu\", \"family\": \"" family "\", \"available\": true,"           \
    " \"integrated\": true, \"memory\": {\"kind\": \"" kind "\"" memory "}}], "
#define RAM(total, usable)                                                                         \
    "\"memory\": {\"total_bytes\": " total ", \"available_bytes\": " usable                        \
    ", \"usable_bytes\": " usable "}}"
#define WINDOWS "\"os\": {\"name\": \"windows\"}, "
#define G10 "10737418240"
#define G16 "17179869184"
#define G32 "34359738368"
#define G48 "51539607552"
#define G60 "64424509440"
#define G64 "68719476736"

static void test_shared_kinds(void **state)
{
    static const struct {
        const char *what, *document;
        uint64_t device, host;
    } rows[] = {
        {"Apple: Metal's working set is below RAM",
         BEGIN SHARED("metal", "unified", ", \"total_bytes\": " G48) RAM(G64, G60), GIB(48),
         GIB(59)},
        {"Apple: other programs use RAM",
         BEGIN SHARED("metal", "unified", ", \"total_bytes\": " G48) RAM(G64, G32), GIB(31),
         GIB(31)},
        {"GB10: the driver tells all of RAM and what is free of it",
         BEGIN SHARED("cuda", "unified", ", \"total_bytes\": " G64 ", \"free_bytes\": " G60)
             RAM(G64, G60),
         GIB(59), GIB(59)},
        {"Jetson: the driver tells nothing", BEGIN SHARED("cuda", "unified", "") RAM(G16, G10),
         GIB(9), GIB(9)},
        {"Intel on Windows: WDDM allows half of RAM",
         BEGIN WINDOWS SHARED("intel", "shared", ", \"total_bytes\": " G16) RAM(G32, G32), GIB(16),
         GIB(30)},
        {"Intel on Windows: less than that is free, and the system keeps 2 GiB",
         BEGIN WINDOWS SHARED("intel", "shared", ", \"total_bytes\": " G16) RAM(G32, G10), GIB(8),
         GIB(8)},
        {"Intel on Linux: as far as RAM is free",
         BEGIN SHARED("intel", "shared", ", \"total_bytes\": " G32 ", \"free_bytes\": " G32)
             RAM(G32, G16),
         GIB(15), GIB(15)},
    };
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        plim_fit *fit = fit_in(rows[i].document, &o);
        const plim_placement *device = place(fit, 0), *host = place(fit, 1);
        if (device->budget_bytes != rows[i].device || host->budget_bytes != rows[i].host)
            print_error("%s: %llu %llu\n", rows[i].what, (unsigned long long)device->budget_bytes,
                        (unsigned long long)host->budget_bytes);
        assert_int_equal(device->budget_bytes, rows[i].device);
        assert_int_equal(host->budget_bytes, rows[i].host);
        double both = (double)(device->used_bytes + host->used_bytes) / (double)rows[i].host;
        assert_true(host->utilization > both - 1e-9 && host->utilization < both + 1e-9);
        double alone = (double)device->used_bytes / (double)rows[i].device;
        assert_true(fit->utilization > (alone > both ? alone : both) - 1e-9);
        plim_fit_free(fit);
    }
}

/* Devices of other hosts come first, and do not keep an integrated GPU out. */
static void test_remote(void **state)
{
    static const char *const names[] = {"rpc0", "rpc1", "cuda0", "host"};
    plim_fit_options o = fit_options(8192, 1);
    (void)state;
    plim_fit *fit = fit_on(&llama3_8b, "cuda:24GiB,rpc:24GiB*2,cpu:64GiB", &o);
    assert_int_equal(fit->placement.count, 4);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(place(fit, i)->device, names[i]);
    assert_string_equal(fit->placement.count ? place(fit, 0)->compute_kind : "", "estimate");
    assert_non_null(strstr(fit->command, " --rpc HOST0:50052,HOST1:50052 "));
    plim_fit_free(fit);
    fit = fit_on(&llama3_8b, "rpc:24GiB,metal:64GiB", &o);
    assert_int_equal(fit->placement.count, 3);
    assert_string_equal(place(fit, 1)->device, "metal0");
    plim_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets),      cmocka_unit_test(test_nominal),
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_certainty),
        cmocka_unit_test(test_left_out),     cmocka_unit_test(test_slices),
        cmocka_unit_test(test_apu),          cmocka_unit_test(test_names),
        cmocka_unit_test(test_shared_kinds), cmocka_unit_test(test_remote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
