/* Two machines compared: every figure of both, by path. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "documents.h"
#include "paint.h"
#include "walk.h"

struct diff_args {
    bool hardware;
};

static const cli_option options[] = {
    {.names = "--hardware",
     CLI_MEMBER(struct diff_args, hardware),
     .help = "leave out readings of the moment: free memory, clocks, temperature"},
};

/* What differs between any two runs. */
static const char *const clocks[] = {"captured_at", "timing.", NULL};
/* What the machine does, not what it is: parts of paths. */
static const char *const readings[] = {
    "available_bytes", "usable_bytes",   "usable_source", "free_bytes",
    "used_bytes",      "buffers_bytes",  "cached_bytes",  "sreclaimable_bytes",
    "pressure.",       "fragmentation.", "arc_bytes",     "hugepages_free",
    "pcie.current_",   "telemetry.",     "power_state",   NULL,
};

struct fact {
    char *path;
    char *exact; /* for comparing: sizes as bytes */
    char *shown;
    size_t order;
};

struct facts {
    const struct diff_args *args;
    struct fact *items;
    size_t count, room;
    bool failed;
};

static bool has_part(const char *path, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(path, *parts))
            return true;
    return false;
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

static void exact_text(const cli_leaf *leaf, const char *shown, char *buf, size_t size)
{
    const char *at = (const char *)leaf->record + leaf->field->offset;
    uint64_t u;
    double f;
    if (leaf->field->type == PLIM_TYPE_U64) {
        memcpy(&u, at, sizeof u);
        (void)snprintf(buf, size, "%" PRIu64, u);
    } else if (leaf->field->type == PLIM_TYPE_F64) {
        memcpy(&f, at, sizeof f);
        (void)snprintf(buf, size, "%.17g", f);
    } else {
        (void)snprintf(buf, size, "%s", shown);
    }
}

static bool collect(void *user, const cli_leaf *leaf)
{
    struct facts *facts = user;
    char shown[4096], exact[4096];
    if (has_part(leaf->path, clocks) || (facts->args->hardware && has_part(leaf->path, readings)))
        return true;
    if (facts->count == facts->room) {
        size_t room = facts->room ? 2 * facts->room : 256;
        struct fact *items = realloc(facts->items, room * sizeof *items);
        facts->failed = !items;
        if (!items)
            return false;
        facts->items = items;
        facts->room = room;
    }
    (void)plim_field_text(leaf->field, leaf->record, shown, sizeof shown);
    exact_text(leaf, shown, exact, sizeof exact);
    struct fact fact = {copy_of(leaf->path), copy_of(exact), copy_of(shown), facts->count};
    facts->items[facts->count++] = fact;
    facts->failed = !fact.path || !fact.exact || !fact.shown;
    return !facts->failed;
}

static void free_facts(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->items[i].path);
        free(facts->items[i].exact);
        free(facts->items[i].shown);
    }
    free(facts->items);
}

/* By path; what has the same path stays in order. */
static int by_path(const void *a, const void *b)
{
    const struct fact *x = a, *y = b;
    int c = strcmp(x->path, y->path);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* ---- the differences ------------------------------------------------------------------------ */

struct changes {
    plim_change *records;
    const void **items;
    size_t count;
};

static void add(struct changes *changes, const struct fact *a, const struct fact *b)
{
    plim_change *change = &changes->records[changes->count];
    bool alike = a && b && strcmp(a->shown, b->shown) == 0; /* rounded to the same text */
    CLI_SET(change, change, path, (a ? a : b)->path);
    if (a)
        CLI_SET(change, change, a, alike ? a->exact : a->shown);
    if (b)
        CLI_SET(change, change, b, alike ? b->exact : b->shown);
    changes->items[changes->count++] = change;
}

static void compare(struct facts *a, struct facts *b, struct changes *changes)
{
    size_t i = 0, k = 0;
    if (a->count)
        qsort(a->items, a->count, sizeof *a->items, by_path);
    if (b->count)
        qsort(b->items, b->count, sizeof *b->items, by_path);
    while (i < a->count || k < b->count) {
        int c = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->items[i].path, b->items[k].path);
        if (c < 0) {
            add(changes, &a->items[i++], NULL);
        } else if (c > 0) {
            add(changes, NULL, &b->items[k++]);
        } else {
            if (strcmp(a->items[i].exact, b->items[k].exact) != 0)
                add(changes, &a->items[i], &b->items[k]);
            i++;
            k++;
        }
    }
}

static void print_side(cli_term term, cli_style style, char sign, const char *path,
                       const char *value)
{
    cli_paint(term, style);
    (void)printf("%c %s: %s", sign, path, value);
    cli_paint(term, CLI_PLAIN);
    (void)putchar('\n');
}

static void print_text(cli_term term, const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const plim_change *change = &changes->records[i];
        if (PLIM_KNOWN(change, change, a))
            print_side(term, CLI_BAD, '-', change->path, change->a);
        if (PLIM_KNOWN(change, change, b))
            print_side(term, CLI_GOOD, '+', change->path, change->b);
    }
}

static cli_exit report(const cli_call *call, const struct changes *changes)
{
    plim_diff_document document = {0};
    cli_exit status = changes->count ? CLI_NO : CLI_OK;
    if (!call->common.json) {
        print_text(call->term, changes);
        return status;
    }
    CLI_SET(diff_document, &document, schema, "plimsoll.diff/1");
    CLI_SET(diff_document, &document, version, plim_version());
    CLI_SET(diff_document, &document, different, changes->count > 0);
    CLI_SET(diff_document, &document, changes, ((plim_items){changes->items, changes->count}));
    cli_exit printed = cli_print_record(call, &plim_record_diff_document, &document);
    return printed == CLI_OK ? status : printed;
}

static cli_exit diff(const cli_call *call, const plim_machine *a, const plim_machine *b)
{
    struct facts of_a = {.args = call->args}, of_b = {.args = call->args};
    struct changes changes = {NULL, NULL, 0};
    cli_exit status;
    (void)cli_walk(&plim_record_machine, a, collect, &of_a);
    (void)cli_walk(&plim_record_machine, b, collect, &of_b);
    size_t most = of_a.count + of_b.count + 1;
    changes.records = calloc(most, sizeof *changes.records);
    changes.items = calloc(most, sizeof *changes.items);
    if (of_a.failed || of_b.failed || !changes.records || !changes.items) {
        status = cli_error(call, CLI_INTERNAL, "out of memory");
    } else {
        compare(&of_a, &of_b, &changes);
        status = report(call, &changes);
    }
    free(changes.records);
    free(changes.items);
    free_facts(&of_a);
    free_facts(&of_b);
    return status;
}

static cli_exit run(cli_call *call)
{
    plim_detect_options detect = PLIM_DETECT_OPTIONS_INIT;
    plim_machine *a, *b;
    detect.isolate = true; /* as all commands look */
    cli_exit status = cli_machine_of_file(call, call->operands[0], &detect, NULL, &a);
    if (status != CLI_OK)
        return status;
    status = cli_machine_of_file(call, call->operands[1], &detect, NULL, &b);
    if (status == CLI_OK) {
        status = diff(call, a, b);
        plim_machine_free(b);
    }
    plim_machine_free(a);
    return status;
}

const cli_body cli_body_diff = {
    .options = options,
    .option_count = CLI_COUNT(options),
    .args_size = sizeof(struct diff_args),
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
    .details = "A and B are recordings (plimsoll capture) or documents (plimsoll --json). Every "
               "figure is compared but the clocks of the two runs. Devices are matched by their "
               "address, disks by their name. The exit status is 1 where something differs.",
};
