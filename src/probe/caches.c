#include "caches.h"

#include <stdlib.h>

#include "../base/num.h"

#define MAX_INDEX 16u /* cache/indexN of one CPU */
#define MAX_SIZES 64u /* different sizes of one level */

static const char *const sharing_files[] = {"shared_cpu_map", "shared_cpu_list", NULL};

/* The levels that are reported. */
enum level { L1D, L1I, L2, L3, LEVEL_COUNT, OTHER = LEVEL_COUNT };

struct tally {
    uint64_t instances, total;
    struct {
        uint64_t size, count;
    } sizes[MAX_SIZES];
    size_t size_count;
};

struct pass {
    pli_probe_context *context;
    const pli_topology *topology;
    pli_cpuset covered[MAX_INDEX];   /* CPUs whose cache of this index has been counted */
    pli_cpuset counted[LEVEL_COUNT]; /* who shares the cache that was counted last */
    struct tally levels[LEVEL_COUNT];
};

static enum level level_of(uint64_t level, pli_str type)
{
    if (level == 1)
        return pli_eq(type, "Data") ? L1D : pli_eq(type, "Instruction") ? L1I : OTHER;
    if (!pli_eq(type, "Unified")) /* s390 has a level 2 for data and one for instructions */
        return OTHER;
    return level == 2 ? L2 : level == 3 ? L3 : OTHER;
}

static void count(struct tally *t, uint64_t size)
{
    size_t i = 0;
    t->instances++;
    t->total = pli_add_sat(t->total, size);
    while (i < t->size_count && t->sizes[i].size != size)
        i++;
    if (i == MAX_SIZES)
        return;
    if (i == t->size_count)
        t->sizes[t->size_count++].size = size;
    t->sizes[i].count++;
}

/* One cache of one CPU. False when the CPU has no cache of this index. */
static bool read_cache(struct pass *pass, size_t cpu, unsigned index)
{
    pli_probe_context *context = pass->context;
    pli_arena *arena = context->scratch;
    char *folder = pli_printf(arena, "cache/index%u", index);
    char *path = pli_printf(arena, "/sys/devices/system/cpu/cpu%zu/cache/index%u", cpu, index);
    uint64_t level, size;
    pli_cpuset shared = {0};
    if (!folder || !path || !pli_read_u64f(context->m, arena, &level, "%s/level", path))
        return false;
    if (!pli_sysfs_cpus(context, cpu, folder, sharing_files, &shared))
        shared = (pli_cpuset){0};
    pli_cpuset_and(&shared, &pass->topology->online);
    (void)pli_cpuset_add(arena, &shared, cpu);
    for (size_t c = pli_cpuset_next(&shared, 0); c != SIZE_MAX; c = pli_cpuset_next(&shared, c + 1))
        (void)pli_cpuset_add(arena, &pass->covered[index], c);
    enum level kind = level_of(level, pli_read_wordf(context->m, arena, "%s/type", path));
    /* VirtualBox shows the instruction cache as a second data cache of the same CPUs. */
    if (kind == OTHER || pli_cpuset_equal(&pass->counted[kind], &shared) ||
        !pli_parse_size(pli_read_wordf(context->m, arena, "%s/size", path), &size))
        return true;
    pass->counted[kind] = shared;
    count(&pass->levels[kind], size);
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    const plim_cache_size *x = *(const void *const *)a, *y = *(const void *const *)b;
    return x->size_bytes < y->size_bytes ? 1 : x->size_bytes > y->size_bytes ? -1 : 0;
}

static const plim_cache *cache_record(pli_inventory *inv, const struct tally *t)
{
    plim_cache *cache = PLI_NEW(inv->arena, cache);
    const void **items = pli_alloc_array(inv->arena, t->size_count, sizeof *items);
    if (!cache || !items || !t->instances)
        return NULL;
    PLI_SET(cache, cache, instances, t->instances, "sysfs");
    PLI_SET(cache, cache, total_bytes, t->total, "sysfs");
    for (size_t i = 0; i < t->size_count; i++) {
        plim_cache_size *size = PLI_NEW(inv->arena, cache_size);
        if (!size)
            return NULL;
        PLI_SET(cache_size, size, size_bytes, t->sizes[i].size, "sysfs");
        PLI_SET(cache_size, size, count, t->sizes[i].count, "sysfs");
        items[i] = size;
    }
    qsort(items, t->size_count, sizeof *items, compare_sizes);
    PLI_SET(cache, cache, sizes, ((plim_items){items, t->size_count}), "sysfs");
    return cache;
}

void pli_caches_read(pli_probe_context *context, const pli_topology *topology, plim_cpu *cpu)
{
    struct pass *pass = pli_alloc(context->scratch, sizeof *pass);
    if (!pass)
        return;
    *pass = (struct pass){.context = context, .topology = topology};
    const pli_cpuset *online = &topology->online;
    for (size_t c = pli_cpuset_next(online, 0); c != SIZE_MAX; c = pli_cpuset_next(online, c + 1)) {
        /* A CPU that shares all the caches seen so far has nothing to add and is not asked. */
        bool shares_all = true;
        for (unsigned i = 0; i < MAX_INDEX; i++) {
            if (pli_cpuset_has(&pass->covered[i], c))
                continue;
            if (shares_all && i > 0 && pli_cpuset_next(&pass->covered[i], 0) == SIZE_MAX)
                break;
            shares_all = false;
            if (!read_cache(pass, c, i))
                break;
        }
    }
    const plim_cache *found[LEVEL_COUNT];
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        found[i] = cache_record(context->inv, &pass->levels[i]);
#define SET_CACHE(member, level)                                                                   \
    if (found[level])                                                                              \
    PLI_SET(cpu, cpu, member, found[level], "sysfs")
    SET_CACHE(l1d, L1D);
    SET_CACHE(l1i, L1I);
    SET_CACHE(l2, L2);
    SET_CACHE(l3, L3);
#undef SET_CACHE
}
