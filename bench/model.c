/* What a model's header costs: plim_model_open() on a GGUF file of 724 tensors and a vocabulary of
 * 128,256 tokens, their merges, scores and types (the size of a Llama 3.3 70B's header), against
 * reading the same bytes bare; and how that grows with the header, from a quarter to four times of
 * it.
 *
 *   bench_model [ROUNDS]
 *
 * All are timed in turn, ROUNDS times (default 200); medians of processor time are printed. */
#include <plimsoll/plimsoll.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TENSORS = 724, TOKENS = 128256, MERGES = 280147 };

/* Headers of this many quarters of that. */
static const unsigned quarters[] = {1, 2, 4, 8, 16};
enum { HEADERS = sizeof quarters / sizeof *quarters, WHOLE = 2 };

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

static void put_vocabulary(FILE *f, unsigned tokens, unsigned merges)
{
    char text[64];
    put_array(f, "tokenizer.ggml.tokens", 8, tokens);
    for (unsigned i = 0; i < tokens; i++) {
        (void)snprintf(text, sizeof text, "tok%u", i);
        put_text(f, text);
    }
    put_array(f, "tokenizer.ggml.merges", 8, merges);
    for (unsigned i = 0; i < merges; i++) {
        (void)snprintf(text, sizeof text, "a b%u", i);
        put_text(f, text);
    }
    put_array(f, "tokenizer.ggml.scores", 6, tokens);
    for (unsigned i = 0; i < tokens; i++)
        put(f, 4, 0);
    put_array(f, "tokenizer.ggml.token_type", 5, tokens);
    for (unsigned i = 0; i < tokens; i++)
        put(f, 4, 1);
}

/* The header's bytes; 0: it could not be written. */
static long write_model(const char *path, unsigned quarter)
{
    char text[64];
    unsigned tensors = TENSORS * quarter / 4;
    FILE *f = fopen(path, "wb");
    if (!f)
        return 0;
    (void)fputs("GGUF", f);
    put(f, 4, 3);
    put(f, 8, tensors);
    put(f, 8, 4);
    put_vocabulary(f, TOKENS / 4 * quarter, MERGES / 4 * quarter);
    for (unsigned i = 0; i < tensors; i++) {
        (void)snprintf(text, sizeof text, "blk.%u.ffn_down.weight", i);
        put_text(f, text);
        put(f, 4, 2);
        put(f, 8, 256);
        put(f, 8, 32);
        put(f, 4, 12);
        put(f, 8, (uint64_t)i * 32 * 144);
    }
    long bytes = ftell(f);
    return fclose(f) == 0 ? bytes : 0;
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

typedef struct header {
    char path[32];
    long bytes;
    uint64_t *bare, *opened; /* of each round */
} header;

static bool make(header *h, unsigned quarter, size_t count)
{
    (void)snprintf(h->path, sizeof h->path, "/tmp/plimsoll-bench-XXXXXX");
    int fd = mkstemp(h->path);
    h->bare = calloc(count, sizeof *h->bare);
    h->opened = calloc(count, sizeof *h->opened);
    if (fd < 0)
        return false;
    h->bytes = write_model(h->path, quarter);
    return close(fd) == 0 && h->bytes && h->bare && h->opened;
}

static void print(header *headers, size_t count)
{
    double opened[HEADERS], bare = median_us(headers[WHOLE].bare, count);
    for (size_t i = 0; i < HEADERS; i++)
        opened[i] = median_us(headers[i].opened, count);
    printf("%10.1f us  plim_model_open(), %d tensors, %d tokens\n", opened[WHOLE], TENSORS, TOKENS);
    printf("%10.1f us  its bytes bare\n", bare);
    for (size_t i = 0; i < HEADERS; i++)
        printf("%10.2f     times that for %.2f times its bytes\n", opened[i] / opened[WHOLE],
               (double)headers[i].bytes / (double)headers[WHOLE].bytes);
}

int main(int argc, char **argv)
{
    static header headers[HEADERS];
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    size_t count = rounds > 0 ? (size_t)rounds : 1;
    plimsoll *context;
    bool good = plim_open(NULL, &context) == PLIM_OK;
    for (size_t i = 0; i < HEADERS; i++)
        good = good && make(&headers[i], quarters[i], count);
    for (size_t round = 0; good && round < count; round++)
        for (size_t i = 0; i < HEADERS; i++) {
            headers[i].bare[round] = time_bare(headers[i].path);
            headers[i].opened[round] = time_open(context, headers[i].path);
        }
    if (good)
        print(headers, count);
    for (size_t i = 0; i < HEADERS; i++) {
        (void)unlink(headers[i].path);
        free(headers[i].bare);
        free(headers[i].opened);
    }
    if (good)
        plim_close(context);
    return good ? 0 : 1;
}
