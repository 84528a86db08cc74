/* Graphics drivers' answers, with a kernel played by this test. */
#include "machine/drm.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "machine/query.h"

/* Numbers as strace shows them on a 64-bit kernel. */
#define VERSION 0xc0406400ul
#define AMDGPU_INFO 0x40206445ul
#define I915_QUERY 0xc0106479ul
#define XE_QUERY 0xc0286440ul

struct kernel {
    const char *driver;
    unsigned long asked[16]; /* requests other than VERSION */
    size_t count;
    int fails;         /* errno of the driver's own questions */
    int interruptions; /* how often it says EINTR first */
    unsigned char answer[2048];
    size_t answer_size;
};

static void put(unsigned char *at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void *pointer_at(const void *bytes)
{
    void *p;
    memcpy(&p, bytes, sizeof p);
    return p;
}

static int version(const struct kernel *k, unsigned char *argument)
{
    uint64_t room = pli_load(argument + 16, 8, false);
    size_t n = strlen(k->driver);
    memcpy(pointer_at(argument + 24), k->driver, n < room ? n : (size_t)room);
    put(argument + 16, 8, n);
    return 0;
}

static int amdgpu(const struct kernel *k, const unsigned char *argument)
{
    size_t room = (size_t)pli_load(argument + 8, 4, false);
    memcpy(pointer_at(argument), k->answer, room < k->answer_size ? room : k->answer_size);
    return 0;
}

static int i915(const struct kernel *k, const unsigned char *argument)
{
    assert_int_equal(pli_load(argument, 4, false), 1);
    unsigned char *item = pointer_at(argument + 8);
    assert_int_equal(pli_load(item, 8, false), 4);
    if (pli_load(item + 8, 4, false) == 0)
        put(item + 8, 4, k->answer_size);
    else
        memcpy(pointer_at(item + 16), k->answer, k->answer_size);
    return 0;
}

static int xe(const struct kernel *k, unsigned char *argument)
{
    assert_int_equal(pli_load(argument + 8, 4, false), 1);
    if (pli_load(argument + 12, 4, false) == 0)
        put(argument + 12, 4, k->answer_size);
    else
        memcpy(pointer_at(argument + 16), k->answer, k->answer_size);
    return 0;
}

static int play(void *file, unsigned long request, void *argument)
{
    struct kernel *k = file;
    if (k->interruptions-- > 0)
        return EINTR;
    if (request == VERSION)
        return version(k, argument);
    k->asked[k->count++] = request;
    if (k->fails)
        return k->fails;
    return request == AMDGPU_INFO  ? amdgpu(k, argument)
           : request == I915_QUERY ? i915(k, argument)
           : request == XE_QUERY   ? xe(k, argument)
                                   : ENOTTY;
}

static int is_64_bit(void **state)
{
    (void)state;
    if (sizeof(void *) == 8 && pli_load("\1\0", 2, false) == 1)
        return 0;
    print_message("skipped: this kernel is played for 64 bits, little endian\n");
    return -1;
}

static void the_driver_says_its_name(void **state)
{
    (void)state;
    struct kernel k = {.driver = "amdgpu", .interruptions = 3};
    char name[64];
    size_t n = 0;
    assert_int_equal(pli_drm_ask(play, &k, "drm.driver", name, sizeof name, &n), PLIM_OK);
    assert_int_equal(n, 6);
    assert_memory_equal(name, "amdgpu", 6);
    assert_int_equal(pli_drm_ask(play, &k, "drm.driver", name, 3, &n), PLIM_LIMIT);
}

static void another_driver_is_not_asked(void **state)
{
    (void)state;
    static const char *const drivers[] = {"intel_vpu", "qaic", "panthor", "nouveau", "",
                                          "amdgpu2",   "amd",  "xe2",     "i915_bpo"};
    static const char *const questions[] = {"amdgpu.memory", "amdgpu.device", "i915.memory",
                                            "xe.memory"};
    unsigned char out[4096];
    size_t n;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
            struct kernel k = {.driver = drivers[i]};
            assert_int_equal(pli_drm_ask(play, &k, questions[q], out, sizeof out, &n),
                             PLIM_UNSUPPORTED);
            assert_int_equal(k.count, 0);
        }
}

static void amdgpu_tells_its_memory(void **state)
{
    (void)state;
    struct kernel k = {.driver = "amdgpu", .answer_size = 96};
    struct pli_amdgpu_memory m;
    size_t n = 0;
    for (size_t i = 0; i < 12; i++)
        put(k.answer + 8 * i, 8, 1000 + i);
    assert_int_equal(pli_drm_ask(play, &k, "amdgpu.memory", &m, sizeof m, &n), PLIM_OK);
    assert_int_equal(n, sizeof m);
    assert_int_equal(m.vram.total, 1000);
    assert_int_equal(m.vram.used, 1002);
    assert_int_equal(m.visible.total, 1004);
    assert_int_equal(m.gtt.total, 1008);
    assert_int_equal(m.gtt.max_allocation, 1011);
}

static void amdgpu_tells_what_it_is(void **state)
{
    (void)state;
    /* A kernel of old: 184 bytes, up to the width of the bus. */
    struct kernel k = {.driver = "amdgpu", .answer_size = 184};
    struct pli_amdgpu_device d;
    size_t n = 0;
    put(k.answer, 4, 0x15bf);
    put(k.answer + 16, 4, 148);
    put(k.answer + 32, 8, 2700000);
    put(k.answer + 40, 8, 2800000);
    put(k.answer + 48, 4, 12);
    put(k.answer + 136, 8, 1);
    put(k.answer + 176, 4, 12);
    put(k.answer + 180, 4, 128);
    assert_int_equal(pli_drm_ask(play, &k, "amdgpu.device", &d, sizeof d, &n), PLIM_OK);
    assert_int_equal(d.device_id, 0x15bf);
    assert_int_equal(d.family, 148);
    assert_int_equal(d.max_engine_clock_khz, 2700000);
    assert_int_equal(d.max_memory_clock_khz, 2800000);
    assert_int_equal(d.compute_units, 12);
    assert_int_equal(d.apu, 1);
    assert_int_equal(d.vram_type, 12);
    assert_int_equal(d.vram_bus_bits, 128);
    k.fails = EACCES;
    assert_int_equal(pli_drm_ask(play, &k, "amdgpu.device", &d, sizeof d, &n), PLIM_PERMISSION);
}

static void intel_tells_its_regions(void **state)
{
    (void)state;
    struct kernel k = {.driver = "i915", .answer_size = 16 + 2 * 88};
    struct pli_intel_region r[4];
    size_t n = 0;
    put(k.answer, 4, 2);
    put(k.answer + 16 + 8, 8, 16u << 20); /* system */
    put(k.answer + 16 + 16, 8, UINT64_MAX);
    put(k.answer + 16 + 88, 2, 1); /* device */
    put(k.answer + 16 + 88 + 2, 2, 3);
    put(k.answer + 16 + 88 + 8, 8, 8u << 20);
    put(k.answer + 16 + 88 + 16, 8, 5u << 20);
    assert_int_equal(pli_drm_ask(play, &k, "i915.memory", r, sizeof r, &n), PLIM_OK);
    assert_int_equal(n, 2 * sizeof *r);
    assert_int_equal(r[0].device, 0);
    assert_int_equal(r[0].total, 16u << 20);
    assert_int_equal(r[0].free, 16u << 20);
    assert_int_equal(r[1].device, 1);
    assert_int_equal(r[1].instance, 3);
    assert_int_equal(r[1].free, 5u << 20);
    assert_int_equal(pli_drm_ask(play, &k, "i915.memory", r, sizeof *r, &n), PLIM_LIMIT);
    put(k.answer, 4, 65);
    assert_int_equal(pli_drm_ask(play, &k, "i915.memory", r, sizeof r, &n), PLIM_LIMIT);
    k.answer_size = (size_t)-22; /* an item's length is negative: EINVAL */
    assert_int_equal(pli_drm_ask(play, &k, "i915.memory", r, sizeof r, &n), PLIM_INVALID);
    k.answer_size = 1u << 30;
    assert_int_equal(pli_drm_ask(play, &k, "i915.memory", r, sizeof r, &n), PLIM_LIMIT);
}

static void xe_tells_what_is_used(void **state)
{
    (void)state;
    struct kernel k = {.driver = "xe", .answer_size = 8 + 2 * 88};
    struct pli_intel_region r[4];
    size_t n = 0;
    put(k.answer, 4, 2);
    put(k.answer + 8, 2, 1);
    put(k.answer + 8 + 8, 8, 12u << 20);
    put(k.answer + 8 + 16, 8, 2u << 20);
    put(k.answer + 96 + 8, 8, 4u << 20);
    put(k.answer + 96 + 16, 8, 9u << 20); /* more than there is */
    assert_int_equal(pli_drm_ask(play, &k, "xe.memory", r, sizeof r, &n), PLIM_OK);
    assert_int_equal(n, 2 * sizeof *r);
    assert_int_equal(r[0].device, 1);
    assert_int_equal(r[0].total, 12u << 20);
    assert_int_equal(r[0].free, 10u << 20);
    assert_int_equal(r[1].free, 0);
}

static void what_is_no_drm_node_is_left_alone(void **state)
{
    (void)state;
    char out[64];
    size_t n;
    assert_int_equal(pli_drm_query("/dev/null", "drm.driver", out, sizeof out, &n),
                     PLIM_UNSUPPORTED);
    assert_int_equal(pli_drm_query("/etc/passwd", "drm.driver", out, sizeof out, &n),
                     PLIM_UNSUPPORTED);
    assert_int_equal(pli_drm_query("/dev/dri/none", "drm.driver", out, sizeof out, &n),
                     PLIM_NOT_FOUND);
    assert_int_equal(pli_drm_query("/dev/null", "no.such", out, sizeof out, &n), PLIM_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest played[] = {
        cmocka_unit_test(the_driver_says_its_name), cmocka_unit_test(another_driver_is_not_asked),
        cmocka_unit_test(amdgpu_tells_its_memory),  cmocka_unit_test(amdgpu_tells_what_it_is),
        cmocka_unit_test(intel_tells_its_regions),  cmocka_unit_test(xe_tells_what_is_used),
    };
    const struct CMUnitTest real[] = {cmocka_unit_test(what_is_no_drm_node_is_left_alone)};
    int failed = cmocka_run_group_tests(real, NULL, NULL);
    return is_64_bit(NULL) == 0 ? failed + cmocka_run_group_tests(played, NULL, NULL) : failed;
}
