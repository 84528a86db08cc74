/* Instruction sets as a set of rows of know/isa.def, met (intersected) over all CPUs. */
#ifndef PLI_PROBE_ISA_H
#define PLI_PROBE_ISA_H

#include "../base/arena.h"
#include "../machine/machine.h"

typedef enum pli_isa_arch { /* a set where words may be those of several */
                            PLI_ISA_NONE = 0,
                            PLI_ISA_X86 = 1,
                            PLI_ISA_ARM = 2,
                            PLI_ISA_POWER = 4,
                            PLI_ISA_S390 = 8,
                            PLI_ISA_LOONGARCH = 16,
                            PLI_ISA_RISCV = 32,
} pli_isa_arch;

#define PLI_ISA_WORDS 2 /* 64 rows each */
typedef struct pli_isa {
    uint64_t rows[PLI_ISA_WORDS];
    bool known;   /* did any CPU say what it has? */
    pli_str last; /* the last text met: equal ones are not parsed again */
} pli_isa;

/* What a CPU has, as words of cpuinfo ("fpu vme pni ..."). */
void pli_isa_meet_words(pli_isa *, unsigned archs, pli_str words);
/* What a hart has, as an ISA string ("rv64imafdcv_zicsr_zvfh"). */
void pli_isa_meet_riscv(pli_isa *, pli_str text);
/* What the kernel tells this process in its auxiliary vector; arch is uname's machine. */
void pli_isa_from_auxv(pli_isa *, pli_machine *);
/* One pass of CPUID, with the consent of the OS read from XCR0. Stops at once without CPUID. */
void pli_isa_from_cpuid(pli_isa *, pli_machine *);
/* Takes out what the kernel would refuse this process (AMX tiles), where it can be asked. */
void pli_isa_ask_consent(pli_isa *, pli_machine *);
/* Takes out one row by its name. */
void pli_isa_drop(pli_isa *, pli_isa_arch, const char *name);
/* Names in the order of the table; in the arena. */
plim_strs pli_isa_names(const pli_isa *, pli_arena *);

#endif
