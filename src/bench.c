/* The public face of what is measured: this machine, its clock, its processors. */
#include <plimsoll/plimsoll.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/options.h"
#include "base/record.h"
#include "base/status.h"
#include "meter/bandwidth.h"

#define LEAST_BYTES ((uint64_t)256 << 20)
#define MOST_THREADS 4096u
#define DEFAULT_SECONDS 1.5

typedef struct bench_result {
    plim_bench pub; /* first */
    pli_arena *arena;
} bench_result;

static uint64_t last_caches(const plim_machine *machine)
{
    const plim_cpu *cpu = PLIM_KNOWN(machine, machine, cpu) ? machine->cpu : NULL;
    const plim_cache *last = cpu && PLIM_KNOWN(cpu, cpu, l3)   ? cpu->l3
                             : cpu && PLIM_KNOWN(cpu, cpu, l2) ? cpu->l2
                                                               : NULL;
    return last && PLIM_KNOWN(cache, last, total_bytes) ? last->total_bytes : 0;
}

/* Enough to leave the caches behind, not so much as to press others out of memory. */
static uint64_t bytes_for(const plim_machine *machine)
{
    const plim_memory *memory = PLIM_KNOWN(machine, machine, memory) ? machine->memory : NULL;
    uint64_t bytes = pli_mul_sat(4, last_caches(machine));
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
    if (memory && PLIM_KNOWN(memory, memory, usable_bytes) && bytes > memory->usable_bytes / 4)
        bytes = memory->usable_bytes / 4;
    return bytes;
}

static uint64_t threads_for(const plim_machine *machine)
{
    const plim_cpu *cpu = PLIM_KNOWN(machine, machine, cpu) ? machine->cpu : NULL;
    return cpu && PLIM_KNOWN(cpu, cpu, usable_cpus) ? cpu->usable_cpus : 1;
}

static void write_streams(pli_arena *arena, plim_bench *bench, const pli_bandwidth *measured)
{
    static const char *const names[PLI_STREAMS] = {"read", "copy", "triad"};
    for (size_t i = 0; i < PLI_STREAMS; i++) {
        plim_bench_stream *r = PLI_NEW(arena, bench_stream);
        if (!r)
            return;
        PLI_SET(bench_stream, r, what, names[i], NULL);
        PLI_SET(bench_stream, r, bytes_per_s, measured->bytes_per_s[i], NULL);
        PLI_SET(bench_stream, r, passes, measured->passes[i], NULL);
        (void)pli_items_add(arena, &bench->streams, r);
    }
    pli_mark(&bench->head, PLIM_F_bench_streams, NULL);
}

static plim_bench *result_new(const plim_allocator *allocator)
{
    pli_arena *arena = pli_arena_new(allocator, PLI_MAX_ARENA);
    bench_result *result = arena ? pli_alloc(arena, sizeof *result) : NULL;
    const char **source =
        result ? pli_alloc_array(arena, plim_record_bench.field_count, sizeof *source) : NULL;
    if (!source) {
        pli_arena_free(arena);
        return NULL;
    }
    result->arena = arena;
    result->pub.head.source = source;
    PLI_SET(bench, &result->pub, schema, "plimsoll.bench/1", NULL);
    PLI_SET(bench, &result->pub, version, PLIM_VERSION_TEXT, NULL);
    return &result->pub;
}

static plim_status measure(const plim_allocator *allocator, uint64_t threads, uint64_t bytes,
                           double seconds, pli_bandwidth *out)
{
    pli_machine *live;
    plim_status status = pli_machine_live(allocator, &live);
    if (status != PLIM_OK)
        return status;
    status = pli_measure_bandwidth(live, (unsigned)threads, bytes, seconds, out);
    live->ops->free(live);
    return status;
}

static void fill(plim_bench *bench, const plim_machine *machine, const pli_bandwidth *measured)
{
    pli_arena *arena = ((bench_result *)(void *)bench)->arena;
    const plim_cpu *cpu = PLIM_KNOWN(machine, machine, cpu) ? machine->cpu : NULL;
    if (cpu && PLIM_KNOWN(cpu, cpu, brand))
        PLI_SET_STR(bench, bench, cpu, pli_strdup(arena, cpu->brand), NULL);
    PLI_SET(bench, bench, threads, measured->threads, NULL);
    PLI_SET(bench, bench, array_bytes, measured->bytes, NULL);
    write_streams(arena, bench, measured);
}

plim_status plim_bench_host(plimsoll *context, const plim_machine *machine,
                            const plim_bench_options *options, plim_error *error, plim_bench **out)
{
    plim_bench_options with = PLIM_BENCH_OPTIONS_INIT;
    pli_bandwidth measured = {0};
    *out = NULL;
    if (!context || !machine || !pli_options_take(&with, sizeof with, options))
        return pli_fail(error, PLIM_INVALID, "bench", PLIM_NO_OFFSET,
                        "machine and options are needed");
    uint64_t threads = with.threads ? with.threads : threads_for(machine);
    uint64_t bytes = with.bytes ? with.bytes : bytes_for(machine);
    double seconds = with.seconds > 0 ? with.seconds : DEFAULT_SECONDS;
    if (threads > MOST_THREADS)
        return pli_fail(error, PLIM_INVALID, "bench", PLIM_NO_OFFSET, "at most %u threads",
                        MOST_THREADS);
    const plim_allocator *allocator = pli_context_allocator(context);
    plim_status status = measure(allocator, threads, bytes, seconds, &measured);
    plim_bench *bench = status == PLIM_OK ? result_new(allocator) : NULL;
    if (status == PLIM_OK && !bench)
        status = PLIM_NOMEM;
    if (bench) {
        fill(bench, machine, &measured);
        if (pli_arena_failed(((bench_result *)(void *)bench)->arena))
            status = PLIM_NOMEM;
    }
    if (status == PLIM_OK) {
        *out = bench;
        return PLIM_OK;
    }
    plim_bench_free(bench);
    return pli_fail(error, status, "bench", PLIM_NO_OFFSET, "%s",
                    status == PLIM_INVALID ? "too few bytes for so many threads"
                                           : plim_status_text(status));
}

void plim_bench_free(plim_bench *bench)
{
    if (bench)
        pli_arena_free(((bench_result *)(void *)bench)->arena);
}

plim_status plim_bench_to_json(const plim_bench *bench, unsigned flags, char **text, size_t *length)
{
    return plim_record_to_json(&plim_record_bench, bench, flags, text, length);
}
