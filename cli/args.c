#include "args.h"

#include <plimsoll/base.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 64 /* bytes of an option's or choice's spelling */

struct block {
    struct block *next;
    max_align_t bytes[];
};

static void *keep(cli_args *args, size_t size)
{
    struct block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->next = args->blocks;
    args->blocks = block;
    return block->bytes;
}

void cli_args_free(cli_args *args)
{
    for (struct block *block = args->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    args->blocks = NULL;
}

static bool fail(cli_args *args, const char *format, ...) PLIM_PRINTF(2, 3);

static bool fail(cli_args *args, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(args->error, sizeof args->error, format, list);
    va_end(list);
    return false;
}

/* ---- words ----------------------------------------------------------------------------------- */

bool cli_word_at(const char *words, char separator, size_t i, char *buf, size_t size)
{
    while (words && i--) {
        words = strchr(words, separator);
        if (words)
            words++;
    }
    if (!words || !*words)
        return false;
    const char *end = strchr(words, separator);
    size_t n = end ? (size_t)(end - words) : strlen(words);
    if (n >= size)
        n = size - 1;
    memcpy(buf, words, n);
    buf[n] = '\0';
    return true;
}

/* Optimal string alignment distance, so that two letters swapped are one mistake. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][MAX_NAME + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > MAX_NAME || nb > MAX_NAME)
        return MAX_NAME;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3], *up = rows[(i - 1) % 3], *upper = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                upper[j - 2] + 1 < best)
                best = upper[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *cli_nearest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    unsigned nearest = (unsigned)(strlen(word) / 3) + 1; /* more than this is another word */
    for (; *candidates; candidates++) {
        unsigned d = distance(word, *candidates);
        bool begins = strlen(word) >= 3 && strncmp(word, *candidates, strlen(word)) == 0;
        if (begins)
            d = 0;
        if (d < nearest || (!best && d == nearest)) {
            nearest = d;
            best = *candidates;
        }
    }
    return best;
}

/* ---- finding the row ------------------------------------------------------------------------- */

struct found {
    const cli_option *option;
    void *args;
    const char *value;   /* attached to the name; NULL: none */
    char name[MAX_NAME]; /* as it was written */
    size_t length;       /* of the spelling that matched */
};

/* Does `word` (n bytes) name this option? With `prefix`, a spelling that begins the word will do.
 * Returns the length of the spelling, 0 for none. */
static size_t matches(const cli_option *option, const char *word, size_t n, bool prefix)
{
    char name[MAX_NAME];
    for (size_t i = 0; cli_word_at(option->names, ' ', i, name, sizeof name); i++) {
        size_t length = strlen(name);
        if (prefix ? length < n && strncmp(word, name, length) == 0
                   : length == n && strncmp(word, name, n) == 0)
            return length;
    }
    return 0;
}

static void look_for(const cli_args *args, const char *word, size_t n, bool prefix,
                     struct found *found)
{
    for (size_t t = 0; t < args->target_count; t++)
        for (size_t i = 0; i < args->targets[t].count; i++) {
            const cli_option *option = &args->targets[t].options[i];
            size_t length = matches(option, word, n, prefix);
            if (length > found->length && !(prefix && option->type == CLI_FLAG)) {
                found->option = option;
                found->args = args->targets[t].args;
                found->length = length;
            }
        }
}

/* "--name", "--name=value", "-ngl", "-c4096". Engines have options such as -ngl, so the whole word
 * comes first, and of the names that begin it the longest. */
static bool find(const cli_args *args, const char *word, struct found *found)
{
    bool is_long = word[1] == '-';
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    *found = (struct found){NULL, NULL, NULL, "", 0};
    look_for(args, word, n, false, found);
    if (found->option && equals)
        found->value = equals + 1;
    if (!found->option && !is_long) {
        look_for(args, word, strlen(word), true, found);
        if (found->option)
            found->value = word + found->length;
    }
    if (!found->option)
        return false;
    (void)snprintf(found->name, sizeof found->name, "%.*s", (int)found->length, word);
    return true;
}

static bool unknown(cli_args *args, const char *word)
{
    enum { MAX_CANDIDATES = 256 };
    static const char *const none[] = {NULL};
    const char *candidates[MAX_CANDIDATES + 1];
    char(*names)[MAX_NAME] = keep(args, sizeof *names * MAX_CANDIDATES);
    char given[MAX_NAME];
    size_t n = 0;
    for (size_t t = 0; names && t < args->target_count; t++)
        for (size_t i = 0; i < args->targets[t].count; i++)
            for (size_t k = 0; n < MAX_CANDIDATES; k++) {
                if (!cli_word_at(args->targets[t].options[i].names, ' ', k, names[n], MAX_NAME))
                    break;
                candidates[n] = names[n];
                n++;
            }
    candidates[n] = NULL;
    (void)cli_word_at(word, '=', 0, given, sizeof given);
    const char *nearest = cli_nearest(given, names ? candidates : none);
    if (nearest)
        return fail(args, "unknown option '%.64s'; did you mean %s?", given, nearest);
    return fail(args, "unknown option '%.64s'", given);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool in_range(cli_args *args, const struct found *found, double value)
{
    const cli_option *o = found->option;
    if ((o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max))
        return true;
    return fail(args, "%s: %.15g is not between %.15g and %.15g", found->name, value, o->min,
                o->max);
}

static bool set_uint(cli_args *args, const struct found *found, const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        return fail(args, "%s: '%.64s' is not a whole number", found->name, text);
    *out = value;
    return in_range(args, found, (double)value);
}

static bool set_int(cli_args *args, const struct found *found, const char *text, int64_t *out)
{
    const char *digits = text + (text[0] == '-');
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (digits[0] < '0' || digits[0] > '9' || *end || errno)
        return fail(args, "%s: '%.64s' is not a whole number", found->name, text);
    *out = value;
    return in_range(args, found, (double)value);
}

static bool set_real(cli_args *args, const struct found *found, const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (strspn(text, "0123456789.") == 0 || *end || !isfinite(value))
        return fail(args, "%s: '%.64s' is not a number", found->name, text);
    *out = value;
    return in_range(args, found, value);
}

/* Position of a choice, -1 for none. */
static int choice_index(const char *choices, const char *text)
{
    char group[256], word[MAX_NAME];
    for (size_t i = 0; cli_word_at(choices, '|', i, group, sizeof group); i++)
        for (size_t k = 0; cli_word_at(group, ',', k, word, sizeof word); k++)
            if (strcmp(word, text) == 0)
                return (int)i;
    return -1;
}

static bool set_choice(cli_args *args, const struct found *found, const char *text, cli_choice *out)
{
    char all[256] = "", group[256], word[MAX_NAME];
    out->index = choice_index(found->option->choices, text);
    if (out->index >= 0)
        return true;
    for (size_t i = 0; cli_word_at(found->option->choices, '|', i, group, sizeof group); i++) {
        size_t n = strlen(all);
        (void)cli_word_at(group, ',', 0, word, sizeof word);
        (void)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", word);
    }
    return fail(args, "%s: '%.64s' is none of %s", found->name, text, all);
}

static bool add_to_list(cli_args *args, const struct found *found, const char *text, cli_list *list)
{
    size_t n = strlen(text) + 1, pieces = 1;
    char *copy = keep(args, n);
    for (const char *p = text; *p; p++)
        pieces += *p == ',';
    const char **items = keep(args, (list->count + pieces + 1) * sizeof *items);
    if (!copy || !items)
        return fail(args, "out of memory");
    memcpy(copy, text, n);
    if (list->count)
        memcpy(items, list->items, list->count * sizeof *items);
    for (char *comma; copy; copy = comma ? comma + 1 : NULL) {
        comma = strchr(copy, ',');
        if (comma)
            *comma = '\0';
        if (!*copy)
            return fail(args, "%s: an empty piece in '%.64s'", found->name, text);
        items[list->count++] = copy;
    }
    list->items = items;
    return true;
}

static bool set(cli_args *args, const struct found *found, const char *text)
{
    char *at = (char *)found->args + found->option->offset;
    union {
        void *at;
        bool *flag;
        const char **text;
        uint64_t *u;
        int64_t *i;
        double *f;
        cli_choice *choice;
        cli_list *list;
    } to = {.at = at};
    switch (found->option->type) {
    case CLI_FLAG:
        *to.flag = true;
        return true;
    case CLI_TEXT:
        *to.text = text;
        return true;
    case CLI_UINT:
        return set_uint(args, found, text, to.u);
    case CLI_INT:
        return set_int(args, found, text, to.i);
    case CLI_REAL:
        return set_real(args, found, text, to.f);
    case CLI_CHOICE:
        return set_choice(args, found, text, to.choice);
    case CLI_LIST:
        return add_to_list(args, found, text, to.list);
    }
    return fail(args, "%s: option of no type", found->name);
}

static bool set_initial(cli_args *args)
{
    for (size_t t = 0; t < args->target_count; t++)
        for (size_t i = 0; i < args->targets[t].count; i++) {
            const cli_option *option = &args->targets[t].options[i];
            struct found found = {option, args->targets[t].args, NULL, "", 0};
            (void)cli_word_at(option->names, ' ', 0, found.name, sizeof found.name);
            if (option->initial && !set(args, &found, option->initial))
                return false;
            if (!option->initial && option->type == CLI_CHOICE)
                ((cli_choice *)(void *)((char *)found.args + option->offset))->index = -1;
        }
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* The option at argv[0], its value perhaps at argv[1]. Returns the number of words used, 0 on
 * failure. */
static int take(cli_args *args, int argc, char *const *argv)
{
    struct found found, next;
    char first[256];
    if (!find(args, argv[0], &found))
        return unknown(args, argv[0]);
    if (found.option->type == CLI_FLAG) {
        if (found.value)
            return fail(args, "%s takes no value", found.name);
        return set(args, &found, "") ? 1 : 0;
    }
    if (found.value)
        return set(args, &found, found.value) ? 1 : 0;
    bool is_option = argc > 1 && argv[1][0] == '-' && find(args, argv[1], &next) && !next.value;
    if (found.option->bare && (argc < 2 || choice_index(found.option->choices, argv[1]) < 0) &&
        cli_word_at(found.option->choices, '|', 0, first, sizeof first)) {
        first[strcspn(first, ",")] = '\0';
        return set(args, &found, first) ? 1 : 0;
    }
    if (argc < 2 || is_option)
        return fail(args, "%s needs a value (%s)", found.name, found.option->metavar);
    return set(args, &found, argv[1]) ? 2 : 0;
}

bool cli_args_parse(cli_args *args, const cli_target *targets, size_t target_count, int argc,
                    char *const *argv)
{
    *args = (cli_args){.targets = targets, .target_count = target_count};
    args->operands = keep(args, ((size_t)argc + 1) * sizeof *args->operands);
    if (!args->operands)
        return fail(args, "out of memory");
    if (!set_initial(args))
        return false;
    bool options = true;
    for (int i = 0, used; i < argc; i += used) {
        used = 1;
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            used = take(args, argc - i, argv + i);
            if (!used)
                return false;
        } else {
            args->operands[args->operand_count++] = argv[i];
        }
    }
    return true;
}
