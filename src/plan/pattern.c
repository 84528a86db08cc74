#include "pattern.h"

#include <string.h>

#include "../base/num.h"

#define MAX_CODE 4096u /* instructions */
#define MAX_SETS 256u  /* classes of characters, single ones included */
#define MAX_DEPTH 64u  /* groups in groups */
#define MAX_REPEAT 1000u

typedef struct set {
    uint32_t bits[8];
} set;

typedef enum opcode {
    TAKE,  /* a character of the set `a`, then the next instruction */
    SPLIT, /* go on at +a and at +b */
    JUMP,  /* go on at +a */
    BEGIN, /* at the beginning of the name */
    END,   /* at its end */
    EDGE,  /* between a word and something else; a: 1 for \b, 0 for \B */
    FOUND,
} opcode;

typedef struct instruction {
    opcode op;
    int a, b; /* jumps are relative, so that code can be moved and copied */
} instruction;

struct pli_pattern {
    instruction *code;
    size_t count;
    set *sets;
    size_t set_count;
    /* while a name is searched: threads now, threads next, and in which step each was added */
    size_t *now, *next, *stack;
    size_t *added;
};

typedef struct compiling {
    pli_pattern *p;
    pli_str rest;
    unsigned depth;
    const char *why; /* the first thing that is wrong */
} compiling;

/* ---- sets ----------------------------------------------------------------------------------- */

static void set_add(set *s, unsigned char c)
{
    s->bits[c / 32] |= UINT32_C(1) << (c % 32);
}

static bool set_has(const set *s, unsigned char c)
{
    return (s->bits[c / 32] >> (c % 32) & 1) != 0;
}

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The class of \d, \w, \s and their opposites. False: c names none. */
static bool set_class(set *s, char c)
{
    char lower = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    if (lower != 'd' && lower != 'w' && lower != 's')
        return false;
    for (unsigned i = 0; i < 256; i++) {
        unsigned char at = (unsigned char)i;
        bool in = lower == 'd'   ? at >= '0' && at <= '9'
                  : lower == 'w' ? is_word(at)
                                 : at == ' ' || (at >= '\t' && at <= '\r');
        if (in == (lower == c))
            set_add(s, at);
    }
    return true;
}

/* ---- code ----------------------------------------------------------------------------------- */

static void fail(compiling *c, const char *why)
{
    if (!c->why)
        c->why = why;
}

static void insert(compiling *c, size_t at, opcode op, int a, int b)
{
    pli_pattern *p = c->p;
    if (p->count == MAX_CODE) {
        fail(c, "a pattern that is too large");
        return;
    }
    memmove(p->code + at + 1, p->code + at, (p->count - at) * sizeof *p->code);
    p->code[at] = (instruction){op, a, b};
    p->count++;
}

static void emit(compiling *c, opcode op, int a, int b)
{
    insert(c, c->p->count, op, a, b);
}

static void emit_set(compiling *c, const set *s)
{
    pli_pattern *p = c->p;
    if (p->set_count == MAX_SETS) {
        fail(c, "a pattern that is too large");
        return;
    }
    p->sets[p->set_count] = *s;
    emit(c, TAKE, (int)p->set_count++, 0);
}

static void emit_copy(compiling *c, size_t from, size_t length)
{
    for (size_t i = 0; i < length && !c->why; i++) {
        instruction again = c->p->code[from + i];
        emit(c, again.op, again.a, again.b);
    }
}

/* ---- grammar --------------------------------------------------------------------------------- */

static char next(compiling *c)
{
    char got = c->rest.n ? c->rest.p[0] : '\0';
    c->rest = pli_skip(c->rest, c->rest.n ? 1 : 0);
    return got;
}

static bool take(compiling *c, const char *text)
{
    if (!pli_starts(c->rest, text))
        return false;
    c->rest = pli_skip(c->rest, strlen(text));
    return true;
}

/* One character of a bracket, resolved; *is_class: it was a class, which is in *s now. */
static unsigned char bracket_character(compiling *c, set *s, bool *is_class)
{
    char got = next(c);
    *is_class = false;
    if (got != '\\')
        return (unsigned char)got;
    char escaped = next(c);
    *is_class = set_class(s, escaped);
    if (!*is_class && is_word((unsigned char)escaped))
        fail(c, "an escape in brackets that is not \\d, \\w or \\s");
    return (unsigned char)escaped;
}

static void bracket(compiling *c)
{
    set s = {{0}};
    bool inverted = take(c, "^"), is_class;
    while (c->rest.n && c->rest.p[0] != ']' && !c->why) {
        unsigned char first = bracket_character(c, &s, &is_class), last = first;
        if (is_class)
            continue;
        if (c->rest.n > 1 && c->rest.p[0] == '-' && c->rest.p[1] != ']') {
            (void)next(c);
            last = bracket_character(c, &s, &is_class);
            if (is_class || last < first)
                fail(c, "a range that ends before it begins");
        }
        for (unsigned i = first; i <= last; i++)
            set_add(&s, (unsigned char)i);
    }
    if (!take(c, "]"))
        fail(c, "a bracket that is not closed");
    for (size_t i = 0; inverted && i < 8; i++)
        s.bits[i] = ~s.bits[i];
    emit_set(c, &s);
}

static void escape(compiling *c)
{
    set s = {{0}};
    bool ends = c->rest.n == 0;
    char got = next(c);
    if (got == 'b' || got == 'B') {
        emit(c, EDGE, got == 'b', 0);
        return;
    }
    if (ends)
        fail(c, "a backslash at the end");
    else if (got >= '1' && got <= '9')
        fail(c, "a back reference");
    else if (!set_class(&s, got) && is_word((unsigned char)got))
        fail(c, "an escape that is not \\d, \\w, \\s or \\b");
    else if (!is_word((unsigned char)got))
        set_add(&s, (unsigned char)got);
    emit_set(c, &s);
}

static void alternatives(compiling *c);

static void group(compiling *c)
{
    if (!take(c, "?:") && pli_starts(c->rest, "?"))
        fail(c, "look-ahead");
    if (++c->depth > MAX_DEPTH)
        fail(c, "groups in groups, too deep");
    if (!c->why)
        alternatives(c);
    c->depth--;
    if (!take(c, ")"))
        fail(c, "a group that is not closed");
}

static void plain(compiling *c, char got)
{
    set s = {{0}};
    set_add(&s, (unsigned char)got);
    for (unsigned i = 0; got == '.' && i < 256; i++)
        if (i != '\n' && i != '\r')
            set_add(&s, (unsigned char)i);
    emit_set(c, &s);
}

/* False: not the beginning of one. */
static bool atom(compiling *c)
{
    if (c->rest.n == 0 || c->rest.p[0] == '|' || c->rest.p[0] == ')')
        return false;
    char got = next(c);
    if (got == '(')
        group(c);
    else if (got == '[')
        bracket(c);
    else if (got == '\\')
        escape(c);
    else if (got == '^' || got == '$')
        emit(c, got == '^' ? BEGIN : END, 0, 0);
    else if (strchr("*+?{", got) && got)
        fail(c, "a repetition of nothing");
    else
        plain(c, got);
    return true;
}

/* "{2}", "{2,}", "{2,5}" behind the brace. *most: UINT64_MAX for no end. */
static void bounds(compiling *c, uint64_t *least, uint64_t *most)
{
    bool good = pli_parse_u64_prefix(&c->rest, least);
    *most = *least;
    if (good && take(c, ",") && !pli_parse_u64_prefix(&c->rest, most))
        *most = UINT64_MAX;
    if (!good || !take(c, "}") || *most < *least || *least > MAX_REPEAT ||
        (*most > MAX_REPEAT && *most != UINT64_MAX))
        fail(c, "a repetition that is not {n}, {n,} or {n,m}");
}

/* The code from `from` on, so often: copies, then optional ones or a loop. */
static void repeat(compiling *c, size_t from, uint64_t least, uint64_t most)
{
    size_t length = c->p->count - from, at = from;
    for (uint64_t i = 1; i < least && !c->why; i++) {
        at = c->p->count;
        emit_copy(c, from, length);
    }
    if (most == UINT64_MAX) {
        if (least == 0) {
            insert(c, from, SPLIT, 1, (int)length + 2);
            emit(c, JUMP, -(int)length - 1, 0);
        } else {
            emit(c, SPLIT, (int)at - (int)c->p->count, 1);
        }
        return;
    }
    if (least == 0 && most == 0)
        c->p->count = from;
    else if (least == 0)
        insert(c, from, SPLIT, 1, (int)length + 1);
    size_t first = least == 0 ? from + 1 : from;
    for (uint64_t i = least ? least : 1; i < most && !c->why; i++) {
        emit(c, SPLIT, 1, (int)length + 1);
        emit_copy(c, first, length);
    }
}

static void repetition(compiling *c, size_t from)
{
    uint64_t least = 0, most = UINT64_MAX;
    if (take(c, "+"))
        least = 1;
    else if (take(c, "?"))
        most = 1;
    else if (take(c, "{"))
        bounds(c, &least, &most);
    else if (!take(c, "*"))
        return;
    (void)take(c, "?"); /* a lazy repetition finds the same names */
    if (!c->why)
        repeat(c, from, least, most);
}

static void sequence(compiling *c)
{
    for (size_t from = c->p->count; !c->why && atom(c); from = c->p->count)
        repetition(c, from);
}

static void alternatives(compiling *c)
{
    size_t from = c->p->count;
    sequence(c);
    while (!c->why && take(c, "|")) {
        insert(c, from, SPLIT, 1, (int)(c->p->count - from) + 2);
        size_t jump = c->p->count;
        emit(c, JUMP, 0, 0);
        sequence(c);
        if (!c->why)
            c->p->code[jump].a = (int)(c->p->count - jump);
    }
}

/* What a search needs, as large as the pattern turned out to be. */
static bool settle(pli_arena *arena, const pli_pattern *made, pli_pattern *p)
{
    *p = (pli_pattern){.count = made->count, .set_count = made->set_count};
    p->code = pli_alloc_array(arena, p->count, sizeof *p->code);
    p->sets = pli_alloc_array(arena, p->set_count, sizeof *p->sets);
    p->now = pli_alloc_array(arena, p->count, sizeof *p->now);
    p->next = pli_alloc_array(arena, p->count, sizeof *p->next);
    p->stack = pli_alloc_array(arena, 2 * p->count + 2, sizeof *p->stack);
    p->added = pli_alloc_array(arena, p->count, sizeof *p->added);
    if (!p->code || !p->sets || !p->now || !p->next || !p->stack || !p->added)
        return false;
    memcpy(p->code, made->code, p->count * sizeof *p->code);
    memcpy(p->sets, made->sets, p->set_count * sizeof *p->sets);
    return true;
}

plim_status pli_pattern_new(pli_arena *arena, pli_str text, const char **why, pli_pattern **out)
{
    pli_arena *scratch = pli_arena_new(pli_arena_allocator(arena), 1 << 20);
    pli_pattern made = {.count = 0}, *p = pli_alloc(arena, sizeof *p);
    plim_status status = PLIM_NOMEM;
    *out = NULL;
    *why = NULL;
    if (scratch) {
        made.code = pli_alloc_array(scratch, MAX_CODE, sizeof *made.code);
        made.sets = pli_alloc_array(scratch, MAX_SETS, sizeof *made.sets);
    }
    if (p && made.code && made.sets) {
        compiling c = {&made, text, 0, NULL};
        alternatives(&c);
        if (c.rest.n)
            fail(&c, "a closing parenthesis that opens nothing");
        emit(&c, FOUND, 0, 0);
        *why = c.why;
        status = c.why ? PLIM_INVALID : settle(arena, &made, p) ? PLIM_OK : PLIM_NOMEM;
    }
    pli_arena_free(scratch);
    *out = status == PLIM_OK ? p : NULL;
    return status;
}

/* ---- search: all threads of the pattern in one pass over the name
 * ---------------------------------- */

static bool holds(const instruction *in, const char *name, size_t at, size_t length)
{
    if (in->op == BEGIN)
        return at == 0;
    if (in->op == END)
        return at == length;
    bool before = at > 0 && is_word((unsigned char)name[at - 1]);
    bool after = at < length && is_word((unsigned char)name[at]);
    return (before != after) == (in->a == 1);
}

/* Adds the thread at `start` and all that follow without a character. True: the end was found. */
static bool add_threads(pli_pattern *p, size_t start, const char *name, size_t at, size_t length,
                        size_t *list, size_t *count)
{
    size_t depth = 0;
    p->stack[depth++] = start;
    while (depth) {
        size_t i = p->stack[--depth];
        const instruction *in = &p->code[i];
        if (p->added[i] == at + 1)
            continue;
        p->added[i] = at + 1;
        if (in->op == FOUND)
            return true;
        if (in->op == TAKE)
            list[(*count)++] = i;
        else if (in->op == SPLIT)
            p->stack[depth++] = (size_t)((int)i + in->b);
        if (in->op == SPLIT || in->op == JUMP)
            p->stack[depth++] = (size_t)((int)i + in->a);
        else if (in->op != TAKE && holds(in, name, at, length))
            p->stack[depth++] = i + 1;
    }
    return false;
}

bool pli_pattern_found(pli_pattern *p, const char *name)
{
    size_t length = strlen(name), count = 0;
    memset(p->added, 0, p->count * sizeof *p->added);
    for (size_t at = 0;; at++) {
        if (add_threads(p, 0, name, at, length, p->now, &count))
            return true;
        if (at == length)
            return false;
        size_t next_count = 0;
        for (size_t i = 0; i < count; i++)
            if (set_has(&p->sets[p->code[p->now[i]].a], (unsigned char)name[at]) &&
                add_threads(p, p->now[i] + 1, name, at + 1, length, p->next, &next_count))
                return true;
        size_t *swap = p->now;
        p->now = p->next;
        p->next = swap;
        count = next_count;
    }
}
