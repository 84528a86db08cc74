/* What detection costs beyond its system calls: plim_machine_detect() on this machine against the
 * same files, directories, links and stats asked bare, those that are absent too. What it asks
 * besides (uname, affinity, limits, space) is counted on its side only.
 *
 *   bench_detect [ROUNDS]
 *
 * Both are timed in turn, ROUNDS times (default 1000); medians are printed. */
#include <plimsoll/plimsoll.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../src/inventory/inventory.h"
#include "../src/machine/machine.h"
#include "../src/probe/probe.h"

enum { MAX_ASKED = 65536 };

typedef enum question { READ, LIST, LINK, STAT } question;

typedef struct asked {
    question kind;
    char *path;
} asked;

static asked todo[MAX_ASKED];
static size_t todo_count;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_asked(question kind, const char *path)
{
    if (todo_count < MAX_ASKED)
        todo[todo_count++] = (asked){kind, strdup(path)};
}

/* A live machine whose questions about files are noted down, those about absent ones too. */
static const pli_machine_ops *live;

static plim_status spy_read(pli_machine *m, const char *path, pli_buf *out)
{
    note_asked(READ, path);
    return live->read(m, path, out);
}

static plim_status spy_list(pli_machine *m, const char *path, pli_arena *arena, pli_names *out)
{
    note_asked(LIST, path);
    return live->list(m, path, arena, out);
}

static plim_status spy_link(pli_machine *m, const char *path, pli_buf *target)
{
    note_asked(LINK, path);
    return live->link(m, path, target);
}

static plim_status spy_stat(pli_machine *m, const char *path, pli_stat *out)
{
    note_asked(STAT, path);
    return live->stat(m, path, out);
}

static void read_bare(const char *path)
{
    static char buf[1 << 18];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while (read(fd, buf, sizeof buf) == (ssize_t)sizeof buf)
        ;
    close(fd);
}

static void list_bare(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    while (readdir(dir))
        ;
    closedir(dir);
}

static void ask_bare(const asked *what)
{
    char target[4096];
    struct stat st;
    switch (what->kind) {
    case READ:
        read_bare(what->path);
        break;
    case LIST:
        list_bare(what->path);
        break;
    case LINK:
        if (readlink(what->path, target, sizeof target) < 0)
            return;
        break;
    case STAT:
        if (stat(what->path, &st) < 0)
            return;
        break;
    }
}

static uint64_t time_bare(void)
{
    uint64_t start = now_ns();
    for (size_t i = 0; i < todo_count; i++)
        ask_bare(&todo[i]);
    return now_ns() - start;
}

static uint64_t time_detect(plimsoll *context)
{
    plim_machine *machine;
    uint64_t start = now_ns();
    if (plim_machine_detect(context, NULL, NULL, NULL, &machine) != PLIM_OK)
        exit(1);
    uint64_t end = now_ns();
    plim_machine_free(machine);
    return end - start;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double median_us(uint64_t *times, size_t n)
{
    qsort(times, n, sizeof *times, compare);
    return (double)times[n / 2] / 1000;
}

/* What this machine's detection asks, in todo[]. */
static void record(void)
{
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    pli_machine_ops spy;
    pli_inventory inv;
    pli_machine *m;
    if (pli_machine_live(NULL, &m) != PLIM_OK || pli_inventory_new(NULL, &inv) != PLIM_OK)
        exit(1);
    live = m->ops;
    spy = *live;
    spy.read = spy_read;
    spy.list = spy_list;
    spy.link = spy_link;
    spy.stat = spy_stat;
    m->ops = &spy;
    if (pli_probe_all(m, &options, &inv) != PLIM_OK)
        exit(1);
    m->ops = live;
    pli_inventory_free(&inv);
    pli_machine_close(m);
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, count[4] = {0};
    uint64_t *detect = calloc(rounds + 1, sizeof *detect), *bare = calloc(rounds + 1, sizeof *bare);
    plimsoll *context;
    if (!rounds || !detect || !bare || plim_open(NULL, &context) != PLIM_OK)
        return 2;
    record();
    for (size_t i = 0; i < todo_count; i++)
        count[todo[i].kind]++;
    for (size_t i = 0; i < rounds; i++) {
        detect[i] = time_detect(context);
        bare[i] = time_bare();
    }
    double d = median_us(detect, rounds), b = median_us(bare, rounds);
    printf("%zu files, %zu directories, %zu links, %zu stats\n", count[READ], count[LIST],
           count[LINK], count[STAT]);
    printf("detect %.1f us, the same bare %.1f us: %.2f times\n", d, b, b > 0 ? d / b : 0);
    plim_close(context);
    free(detect);
    free(bare);
    return 0;
}
