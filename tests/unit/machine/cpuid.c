/* CPUID and XCR0 against what the kernel says of the same CPU. */
#include "machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"

struct fixture {
    pli_machine *m;
    pli_arena *arena;
    pli_str flags; /* " fpu vme ... " of /proc/cpuinfo */
};

static int set_up(void **state)
{
    static struct fixture f;
    pli_str cpuinfo, flags;
    if (pli_machine_live(NULL, &f.m) != PLIM_OK)
        return -1;
    f.arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    f.flags = pli_s("");
    if (pli_read(f.m, f.arena, "/proc/cpuinfo", &cpuinfo) == PLIM_OK &&
        pli_find_value(cpuinfo, "flags", ':', &flags)) {
        char *padded = pli_printf(f.arena, " %.*s ", (int)flags.n, flags.p);
        f.flags = pli_s(padded);
    }
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    pli_machine_close(f->m);
    pli_arena_free(f->arena);
    return 0;
}

static void leaves_agree_with_the_kernel(void **state)
{
    struct fixture *f = *state;
    uint32_t r[4];
    if (!f->m->ops->cpuid(f->m, 0, 0, r))
        skip(); /* not x86 */
    uint32_t last = r[0];
    assert_false(f->m->ops->cpuid(f->m, last + 1, 0, r));
    assert_false(f->m->ops->cpuid(f->m, 0x8fffffffu, 0, r));
    assert_true(f->m->ops->cpuid(f->m, 1, 0, r));
    assert_int_equal((r[2] >> 0) & 1, pli_contains(f->flags, " pni "));
    assert_int_equal((r[2] >> 12) & 1, pli_contains(f->flags, " fma "));
    if (last >= 7 && f->m->ops->cpuid(f->m, 7, 0, r))
        assert_int_equal((r[1] >> 5) & 1, pli_contains(f->flags, " avx2 "));
}

static void the_kernels_consent_is_read(void **state)
{
    struct fixture *f = *state;
    uint64_t xcr0 = 0, amx = 0;
    plim_status status = pli_query(f->m, "-", "host.xcr0", NULL, 0, &xcr0, sizeof xcr0, NULL);
    if (status != PLIM_OK)
        skip();                    /* no XSAVE */
    assert_int_equal(xcr0 & 1, 1); /* the x87 state cannot be switched off */
    if (pli_contains(f->flags, " avx "))
        assert_int_equal(xcr0 & 6, 6);
    status = pli_query(f->m, "-", "host.amx", NULL, 0, &amx, sizeof amx, NULL);
    if (status == PLIM_OK) /* what may be asked for is in XCR0 already */
        assert_int_equal(amx & (UINT64_C(1) << 18) & ~xcr0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_agree_with_the_kernel),
        cmocka_unit_test(the_kernels_consent_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
