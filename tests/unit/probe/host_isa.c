/* Instruction sets: what every CPU has, and the system lets this process use. */
#include "scene.h"

static const char amx_cpu[] =
    "processor : 0\nflags : fpu pni ssse3 avx avx2 avx512f amx_tile amx_int8 amx_bf16\n";

static void amx_needs_permission(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s); /* nobody to ask: a tree */
    put_file(&s, "/proc/cpuinfo", amx_cpu);
    const plim_machine *m = detect(&s);
    assert_true(has_isa(m, "amx_tile") && has_isa(m, "sse3") && !has_isa(m, "pni"));
    scene_end(&s);
    scene_begin(&s); /* a kernel that would not switch the tiles on */
    put_file(&s, "/proc/cpuinfo", amx_cpu);
    put(&s, "query - host.amx hex", "0700000000000000");
    m = detect(&s);
    assert_false(has_isa(m, "amx_tile") || has_isa(m, "amx_int8") || has_isa(m, "amx_bf16"));
    assert_true(has_isa(m, "avx512f"));
    scene_end(&s);
    scene_begin(&s); /* a kernel before 5.16, gVisor: no such call */
    put_file(&s, "/proc/cpuinfo", amx_cpu);
    put(&s, "query - host.amx failed=UNSUPPORTED", "");
    m = detect(&s);
    assert_false(has_isa(m, "amx_tile"));
    assert_true(has_isa(m, "avx512f"));
    scene_end(&s);
    scene_begin(&s); /* bits 17 and 18: configuration and data */
    put_file(&s, "/proc/cpuinfo", amx_cpu);
    put(&s, "query - host.amx hex", "0700060000000000");
    assert_true(has_isa(detect(&s), "amx_int8"));
    scene_end(&s);
}

static void only_what_all_have_counts(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo",
             "processor : 0\nFeatures : fp asimd asimddp sve i8mm\n\n"
             "processor : 1\nFeatures : fp asimd asimddp i8mm\n\n"
             "processor : 2\nFeatures : fp asimd asimddp\n");
    const plim_machine *m = detect(&s);
    assert_true(has_isa(m, "asimd") && has_isa(m, "asimddp"));
    assert_false(has_isa(m, "sve") || has_isa(m, "i8mm"));
    assert_int_equal(m->cpu->isa.count, 2);
    scene_end(&s);
}

static void every_architecture_has_its_words(void **state)
{
    static const struct {
        const char *cpuinfo, *has, *lacks;
    } cases[] = {
        {"processor : 0\nmodel name : ARMv7 Processor rev 4 (v7l)\nFeatures : half neon vfpv4\n",
         "neon", "asimd"},
        {"processor : 0\nhart : 1\nisa : rv64imafdcv_zicbom_zfh_zvfh\n", "zvfh", "zvbb"},
        {"processor : 0\nisa : rv64imafdc\nuarch : sifive,u74-mc\n", "d", "v"},
        {"processor : 0\nisa : rv64imafdcvsu\nmvendorid : 0x5b7\nmarchid : 0x0\n", "d", "v"},
        {"processor : 0\nisa : rv64imafdcv\nmvendorid : 0x5b7\nmarchid : 0x8000000009140d00\n", "v",
         "zvfh"},
        {"processor : 0\ncpu : POWER9, altivec supported\n", "altivec", "mma"},
        {"vendor_id : IBM/S390\nfeatures : esan3 zarch te vx vxd vxe gs vxe2 nnpa\n", "nnpa",
         "mma"},
        {"processor : 0\nModel Name : Loongson-3A5000-HV\nFeatures : cpucfg lam lsx lasx\n", "lasx",
         "neon"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        scene s;
        scene_begin(&s);
        put_file(&s, "/proc/cpuinfo", cases[i].cpuinfo);
        const plim_machine *m = detect(&s);
        if (!has_isa(m, cases[i].has) || has_isa(m, cases[i].lacks))
            fail_msg("%s", cases[i].cpuinfo);
        scene_end(&s);
    }
}

/* POWER tells its units only in the auxiliary vector: ALTIVEC and VSX in the first word, ARCH_3_1
 * and MMA in the second (arch/powerpc/include/uapi/asm/cputable.h). */
static void the_auxiliary_vector_fills_in(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put(&s, "facts", "os=linux\narch=ppc64le");
    put_file(&s, "/proc/cpuinfo", "processor : 0\ncpu : POWER10, altivec supported\n");
    put(&s, "query - host.auxv hex", "80000010000000000000060000000000");
    const plim_machine *m = detect(&s);
    assert_true(has_isa(m, "altivec") && has_isa(m, "vsx") && has_isa(m, "mma") &&
                has_isa(m, "arch_3_1"));
    assert_false(has_isa(m, "arch_2_07"));
    assert_string_equal(m->cpu->brand, "POWER10, altivec supported");
    scene_end(&s);
    scene_begin(&s); /* an arm64 sandbox without cpuinfo: asimd, asimddp; i8mm, bf16 */
    put(&s, "facts", "os=linux\narch=aarch64");
    put(&s, "query - host.auxv hex", "02001000000000000060000000000000");
    m = detect(&s);
    assert_true(has_isa(m, "asimd") && has_isa(m, "asimddp") && has_isa(m, "i8mm") &&
                has_isa(m, "bf16"));
    assert_int_equal(m->cpu->isa.count, 4);
    scene_end(&s);
}

/* An Alder Lake (libcpuid's dump of an i9-12900K), by CPUID alone. */
static void cpuid_stands_in_for_cpuinfo(void **state)
{
    static const char *const leaves[][2] = {
        {"cpuid 0 0", "00000020 756e6547 6c65746e 49656e69"},
        {"cpuid 1 0", "00090672 00800800 7ffafbff bfebfbff"},
        {"cpuid 7 0", "00000001 239ca7eb 98c027ac fc1cc410"},
        {"cpuid 7 1", "00400810 00000000 00000000 00000000"},
        {"cpuid 80000000 0", "80000008 00000000 00000000 00000000"},
        {"cpuid 80000001 0", "00000000 00000000 00000121 2c100800"},
        {"cpuid 80000002 0", "68743231 6e654720 746e4920 52286c65"},
        {"cpuid 80000003 0", "6f432029 54286572 6920294d 32312d39"},
        {"cpuid 80000004 0", "4b303039 00000000 00000000 00000000"},
    };
    (void)state;
    for (int with_avx = 0; with_avx < 2; with_avx++) {
        scene s;
        scene_begin(&s);
        for (size_t i = 0; i < COUNT(leaves); i++)
            put(&s, leaves[i][0], leaves[i][1]);
        put(&s, "query - host.xcr0 hex", with_avx ? "0702000000000000" : "0300000000000000");
        const plim_machine *m = detect(&s);
        assert_text(cpu, m->cpu, vendor, "GenuineIntel");
        assert_text(cpu, m->cpu, brand, "12th Gen Intel(R) Core(TM) i9-12900K");
        assert_true(has_isa(m, "sse4_2") && has_isa(m, "popcnt") && has_isa(m, "bmi2"));
        assert_int_equal(has_isa(m, "avx2"), with_avx);
        assert_int_equal(has_isa(m, "avx_vnni"), with_avx);
        assert_int_equal(has_isa(m, "f16c"), with_avx);
        assert_false(has_isa(m, "avx512f"));
        assert_unknown(cpu, m->cpu, logical_cpus);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amx_needs_permission),
        cmocka_unit_test(only_what_all_have_counts),
        cmocka_unit_test(every_architecture_has_its_words),
        cmocka_unit_test(the_auxiliary_vector_fills_in),
        cmocka_unit_test(cpuid_stands_in_for_cpuinfo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
