/* x86's own word on itself, and the operating system's consent to what it can do. Elsewhere there
 * is no such thing. */
#define _GNU_SOURCE /* syscall */
#include "live.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

bool pli_cpuid_read(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    unsigned r[4];
    /* A hypervisor's leaves are a range of their own, beyond the processor's highest. */
    bool hypervisor = (leaf & 0xffff0000u) == 0x40000000u;
    if (!hypervisor && leaf > (unsigned)__get_cpuid_max(leaf & 0x80000000u, NULL))
        return false;
    __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
    for (int i = 0; i < 4; i++)
        out[i] = r[i];
    return true;
}

bool pli_xcr0_read(uint64_t *out)
{
    unsigned r[4] = {0}, low, high;
    /* The instruction exists once the operating system says that it uses XSAVE. */
    if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) || !(r[2] & bit_OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    *out = (uint64_t)high << 32 | low;
    return true;
}
#else
bool pli_cpuid_read(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)leaf, (void)sub, (void)out;
    return false;
}

bool pli_xcr0_read(uint64_t *out)
{
    (void)out;
    return false;
}
#endif

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_GET_XCOMP_SUPP 0x1021

bool pli_xcomp_read(uint64_t *out)
{
    uint64_t supported = 0;
    if (syscall(SYS_arch_prctl, ARCH_GET_XCOMP_SUPP, &supported) != 0)
        return false;
    *out = supported;
    return true;
}
#else
bool pli_xcomp_read(uint64_t *out)
{
    (void)out;
    return false;
}
#endif
