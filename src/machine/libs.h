/* Names of the libraries of libs.def, for the bindings: pli_sonames_nvml is what a binding puts
 * into its pli_lib. */
#ifndef PLI_LIBS_H
#define PLI_LIBS_H

#define LIB(id, priority, why, sonames, paths) extern const char *const pli_sonames_##id[];
#include "libs.def"
#undef LIB

#endif
