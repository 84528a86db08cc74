/* Loading vendors' libraries, and the ELF notes that tell packagers which ones may be loaded
 * (https://uapi-group.org/specifications/specs/elf_dlopen_metadata/). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "libs.h"
#include "live.h"

#ifdef __linux__
#include <link.h>
#endif

#define SONAMES(...) __VA_ARGS__
#define PATHS(...) __VA_ARGS__

#define LIB(id, priority, why, sonames, paths)                                                     \
    const char *const pli_sonames_##id[] = {sonames, paths, NULL};
#include "libs.def"
#undef LIB

#ifdef __ELF__
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define NOTE_JSON(id, priority, why, sonames)                                                      \
    "[{\"feature\":\"" #id "\",\"description\":\"" why "\",\"priority\":\"" #priority              \
    "\",\"soname\":[" TEXT(sonames) "]}]"
#define NOTE_DLOPEN 0x407c0c0au

/* One ELF note for each row: header, owner "FDO", then JSON. */
#define LIB(id, priority, why, sonames, paths)                                                     \
    static const struct {                                                                          \
        uint32_t owner_size, size, type;                                                           \
        char owner[4];                                                                             \
        _Alignas(4) char json[sizeof NOTE_JSON(id, priority, why, sonames)];                       \
    } note_##id __attribute__((used, section(".note.dlopen"), aligned(4))) = {                     \
        4, sizeof NOTE_JSON(id, priority, why, sonames), NOTE_DLOPEN, "FDO",                       \
        NOTE_JSON(id, priority, why, sonames)};
#include "libs.def"
#undef LIB
#endif

/* CUDA's development files have a libnvidia-ml that answers every call with an error. */
static bool is_stub(void *handle)
{
#ifdef __linux__
    struct link_map *map = NULL;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name &&
           strstr(map->l_name, "/stubs/");
#else
    (void)handle;
    return false;
#endif
}

/* False when a required one is missing. */
static bool find_symbols(void *handle, const pli_lib *lib, pli_symbol *symbols)
{
    bool complete = true;
    for (size_t i = 0; i < lib->symbol_count; i++) {
        void *found = dlsym(handle, lib->symbols[i].name);
        /* ISO C has no cast from void * to a function; POSIX promises that they look the same. */
        memcpy(&symbols[i], &found, sizeof symbols[i]);
        if (!found && lib->symbols[i].required)
            complete = false;
    }
    return complete;
}

plim_status pli_dl_load(const pli_lib *lib, pli_symbol *symbols)
{
    _Static_assert(sizeof(pli_symbol) == sizeof(void *), "function pointers are data pointers");
    plim_status status = PLIM_NOT_FOUND;
    for (const char *const *name = lib->sonames; *name && status != PLIM_OK; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (handle && !is_stub(handle))
            status = find_symbols(handle, lib, symbols) ? PLIM_OK : PLIM_VERSION;
    }
    if (status == PLIM_NOT_FOUND)
        for (size_t i = 0; i < lib->symbol_count; i++)
            symbols[i] = NULL;
    return status;
}
