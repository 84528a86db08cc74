/* /proc/cpuinfo of every architecture, in one linear pass. */
#ifndef PLI_PROBE_CPUINFO_H
#define PLI_PROBE_CPUINFO_H

#include "../base/cpuset.h"
#include "isa.h"

#define PLI_ARM_KINDS 16u /* different cores of one machine that are told apart */

typedef struct pli_arm_kind {
    uint64_t implementer, part, count;
} pli_arm_kind;

typedef struct pli_cpuinfo {
    size_t processors; /* blocks */
    pli_cpuset cpus;   /* their numbers */
    pli_str vendor, brand;
    pli_str machine; /* POWER: "CHRP IBM pSeries (emulated by qemu)" */
    bool x86;        /* has a flags line */
    bool hypervisor; /* x86: the flag of that name */
    pli_isa isa;
    uint64_t *cores;   /* x86: physical id << 32 | core id of each processor */
    size_t core_count; /* smaller than processors: some did not say */
    pli_arm_kind arm[PLI_ARM_KINDS];
    size_t arm_count;
    size_t arm_processors; /* that told their part; old kernels tell it of one for all */
} pli_cpuinfo;

/* text must outlive *out. False when out of memory. */
bool pli_cpuinfo_parse(pli_arena *, pli_str text, pli_cpuinfo *out);

#endif
