/* What a model's header costs: plim_model_open() on a GGUF file of 724 tensors and a vocabulary of
 * 128,256 tokens, their merges, scores and types (the size of a Llama 3.3 70B's header), against
 * reading the same bytes bare.
 *
 *   bench_model [ROUNDS]
 *
 * Both are timed in turn, ROUNDS times (default 200); medians of processor time are printed. */
#include <plimsoll/plimsoll.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TENSORS = 724, TOKENS = 128256, MERGES = 280147 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put(FILE *f, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        (void)fputc((int)(value >> 8 * i & 0xff), f);
}

static void put_text(FILE *f, const char *text)
{
    put(f, 8, strlen(text));
    (void)fputs(text, f);
}

static void put_array(FILE *f, const char *key, unsigned type, uint64_t count)
{
    put_text(f, key);
    put(f, 4, 9);
    put(f, 4, type);
    put(f, 8, count);
}

static bool write_model(const char *path)
{
    char text[64];
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    (void)fputs("GGUF", f);
    put(f, 4, 3);
    put(f, 8, TENSORS);
    put(f, 8, 4);
    put_array(f, "tokenizer.ggml.tokens", 8, TOKENS);
    for (int i = 0; i < TOKENS; i++) {
        (void)snprintf(text, sizeof text, "tok%d", i);
        put_text(f, text);
    }
    put_array(f, "tokenizer.ggml.merges", 8, MERGES);
    for (int i = 0; i < MERGES; i++) {
        (void)snprintf(text, sizeof text, "a b%d", i);
        put_text(f, text);
    }
    put_array(f, "tokenizer.ggml.scores", 6, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        put(f, 4, 0);
    put_array(f, "tokenizer.ggml.token_type", 5, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        put(f, 4, 1);
    for (unsigned i = 0; i < TENSORS; i++) {
        (void)snprintf(text, sizeof text, "blk.%u.ffn_down.weight", i);
        put_text(f, text);
        put(f, 4, 2);
        put(f, 8, 256);
        put(f, 8, 32);
        put(f, 4, 12);
        put(f, 8, (uint64_t)i * 32 * 144);
    }
    return fclose(f) == 0;
}

/* ---- both ways ------------------------------------------------------------------------------- */

static uint64_t time_bare(const char *path)
{
    static char buf[128 << 10];
    uint64_t start = now_ns();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, buf, sizeof buf) > 0)
        ;
    (void)close(fd);
    return now_ns() - start;
}

static uint64_t time_open(plimsoll *context, const char *path)
{
    plim_model *model;
    uint64_t start = now_ns();
    if (plim_model_open(context, path, NULL, &model) != PLIM_OK)
        exit(1);
    plim_model_free(model);
    return now_ns() - start;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_us(uint64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, by_value);
    return (double)times[count / 2] / 1000;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/plimsoll-bench-XXXXXX";
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    size_t count = rounds > 0 ? (size_t)rounds : 1;
    uint64_t *bare = calloc(count, sizeof *bare), *opened = calloc(count, sizeof *opened);
    plimsoll *context;
    int fd = mkstemp(path);
    if (fd < 0 || !bare || !opened || !write_model(path) || plim_open(NULL, &context) != PLIM_OK)
        return 1;
    for (size_t i = 0; i < count; i++) {
        bare[i] = time_bare(path);
        opened[i] = time_open(context, path);
    }
    (void)unlink(path);
    (void)close(fd);
    double b = median_us(bare, count), o = median_us(opened, count);
    printf("%10.1f us  plim_model_open(), %d tensors, %d tokens\n", o, TENSORS, TOKENS);
    printf("%10.1f us  its bytes bare\n", b);
    plim_close(context);
    free(bare);
    free(opened);
    return 0;
}
