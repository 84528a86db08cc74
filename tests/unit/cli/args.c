/* Every spelling of an option, every kind of value, and what is said of mistakes. */
#include "unit/test.h"

#include "cli/args.h"

#include <string.h>

struct values {
    bool flag;
    const char *text;
    uint64_t context, batch;
    int64_t layers;
    double line;
    cli_choice flash;
    cli_list list;
};

static const cli_option table[] = {
    {.names = "-f --flag", CLI_MEMBER(struct values, flag), .help = ""},
    {.names = "--text", CLI_MEMBER(struct values, text), .metavar = "T", .help = ""},
    {.names = "-c --ctx-size", CLI_MEMBER(struct values, context), .metavar = "N", .help = ""},
    {.names = "-b --batch",
     CLI_MEMBER(struct values, batch),
     .metavar = "N",
     .initial = "512",
     .min = 1,
     .max = 4096,
     .help = ""},
    {.names = "-ngl --gpu-layers",
     CLI_MEMBER(struct values, layers),
     .metavar = "N",
     .initial = "-1",
     .help = ""},
    {.names = "--line", CLI_MEMBER(struct values, line), .metavar = "X", .help = ""},
    {.names = "-fa --flash",
     CLI_MEMBER(struct values, flash),
     .metavar = "W",
     .choices = "on,1|off,0|auto",
     .bare = true,
     .help = ""},
    {.names = "-ot", CLI_MEMBER(struct values, list), .metavar = "P", .help = ""},
};

/* Parses words, which end with NULL. The caller frees. */
static bool parse(cli_args *args, struct values *values, const char *const *words)
{
    static cli_target target;
    int n = 0;
    memset(values, 0, sizeof *values);
    target = (cli_target){table, COUNT(table), values};
    while (words[n])
        n++;
    return cli_args_parse(args, &target, 1, n, (char *const *)(uintptr_t)words);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void spellings(void **state)
{
    static const struct {
        const char *words[4];
    } cases[] = {
        {{"-c", "4096", NULL}},         {{"-c4096", NULL}},          {{"-c=4096", NULL}},
        {{"--ctx-size", "4096", NULL}}, {{"--ctx-size=4096", NULL}},
    };
    struct values v;
    cli_args args;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(parse(&args, &v, cases[i].words));
        assert_int_equal(v.context, 4096);
        assert_int_equal(args.operand_count, 0);
        cli_args_free(&args);
    }
}

/* -ngl is not -n with a value, -fa not -f, and -c4096 not an unknown word. */
static void the_longest_name_counts(void **state)
{
    struct values v;
    cli_args args;
    (void)state;
    assert_true(parse(&args, &v, WORDS("-ngl", "-1", "-fa", "-f", "-ngl99", "m.gguf", "--", "-c")));
    assert_true(v.flag);
    assert_int_equal(v.layers, 99);
    assert_int_equal(v.flash.index, 0);
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[0], "m.gguf");
    assert_string_equal(args.operands[1], "-c");
    cli_args_free(&args);
}

static void values_not_given(void **state)
{
    struct values v;
    cli_args args;
    (void)state;
    assert_true(parse(&args, &v, (const char *const[]){NULL}));
    assert_false(v.flag);
    assert_null(v.text);
    assert_int_equal(v.context, 0);
    assert_int_equal(v.batch, 512);
    assert_int_equal(v.layers, -1);
    assert_int_equal(v.flash.index, -1);
    assert_null(v.list.items);
    cli_args_free(&args);
}

static void lists_collect(void **state)
{
    struct values v;
    cli_args args;
    (void)state;
    assert_true(parse(&args, &v, WORDS("-ot", "a=1,b=2", "-ot=c=3")));
    assert_int_equal(v.list.count, 3);
    assert_string_equal(v.list.items[0], "a=1");
    assert_string_equal(v.list.items[2], "c=3");
    assert_null(v.list.items[3]);
    cli_args_free(&args);
}

static void choices_have_synonyms(void **state)
{
    struct values v;
    cli_args args;
    (void)state;
    assert_true(parse(&args, &v, WORDS("-fa", "0", "x")));
    assert_int_equal(v.flash.index, 1);
    cli_args_free(&args);
    assert_true(parse(&args, &v, WORDS("-fa", "x"))); /* bare: x is an operand */
    assert_int_equal(v.flash.index, 0);
    assert_int_equal(args.operand_count, 1);
    cli_args_free(&args);
}

static void mistakes(void **state)
{
    static const struct {
        const char *words[3];
        const char *error;
    } cases[] = {
        {{"--ctx-sise", "1"}, "unknown option '--ctx-sise'; did you mean --ctx-size?"},
        {{"--zzzzzzzz"}, "unknown option '--zzzzzzzz'"},
        {{"-c"}, "-c needs a value (N)"},
        {{"-c", "--flag"}, "-c needs a value (N)"},
        {{"-c", "4k"}, "-c: '4k' is not a whole number"},
        {{"-c", "-4"}, "-c: '-4' is not a whole number"},
        {{"-c", " 4"}, "-c: ' 4' is not a whole number"},
        {{"-c", "99999999999999999999"}, "-c: '99999999999999999999' is not a whole number"},
        {{"--batch=0"}, "--batch: 0 is not between 1 and 4096"},
        {{"-ngl", "all"}, "-ngl: 'all' is not a whole number"},
        {{"--line", "nan"}, "--line: 'nan' is not a number"},
        {{"--line="}, "--line: '' is not a number"},
        {{"--flag=1"}, "--flag takes no value"},
        {{"--flash=maybe"}, "--flash: 'maybe' is none of on, off, auto"},
        {{"-ot", "a,,b"}, "-ot: an empty piece in 'a,,b'"},
    };
    struct values v;
    cli_args args;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_false(parse(&args, &v, cases[i].words));
        assert_string_equal(args.error, cases[i].error);
        cli_args_free(&args);
    }
}

static void nearest(void **state)
{
    static const char *const names[] = {"show", "devices", "doctor", NULL};
    (void)state;
    assert_string_equal(cli_nearest("shwo", names), "show");
    assert_string_equal(cli_nearest("dev", names), "devices");
    assert_string_equal(cli_nearest("docter", names), "doctor");
    assert_null(cli_nearest("benchmark", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),
        cmocka_unit_test(the_longest_name_counts),
        cmocka_unit_test(values_not_given),
        cmocka_unit_test(lists_collect),
        cmocka_unit_test(choices_have_synonyms),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
