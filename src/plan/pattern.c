#include "pattern.h"

#include <regex.h>
#include <string.h>

#include "../base/buf.h"

#define MAX_PATTERN 4096u

struct pli_pattern {
    regex_t regex;
    bool compiled;
};

/* A class escape as the inside of a POSIX bracket. NULL: not one. */
static const char *class_of(char c)
{
    switch (c) {
    case 'd':
    case 'D':
        return "0-9";
    case 'w':
    case 'W':
        return "A-Za-z0-9_";
    case 's':
    case 'S':
        return " \t\n\v\f\r";
    default:
        return NULL;
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* An escape outside brackets; *rest stands behind the backslash. */
static const char *translate_escape(pli_str *rest, pli_buf *out)
{
    if (rest->n == 0)
        return "a backslash at the end";
    char c = rest->p[0];
    *rest = pli_skip(*rest, 1);
    const char *class = class_of(c);
    if (class)
        (void)pli_buf_printf(out, "[%s%s]", c <= 'Z' ? "^" : "", class);
    else if (is_word(c))
        return "an escape that is not \\d, \\w or \\s";
    else
        (void)pli_buf_printf(out, "\\%c", c);
    return NULL;
}

/* A bracket expression; *rest stands behind the '['. POSIX has no escapes in there: they are
 * resolved, and the three characters that are special move to where they are not. */
static const char *translate_bracket(pli_str *rest, pli_buf *out)
{
    bool closing = false, dash = false, caret = false;
    (void)pli_buf_add(out, "[", 1);
    if (rest->n && rest->p[0] == '^') {
        (void)pli_buf_add(out, "^", 1);
        *rest = pli_skip(*rest, 1);
    }
    pli_buf inside;
    pli_buf_init(&inside, out->allocator, MAX_PATTERN);
    const char *why = "a bracket that is not closed";
    while (rest->n) {
        char c = rest->p[0];
        *rest = pli_skip(*rest, 1);
        if (c == ']') {
            why = NULL;
            break;
        }
        if (c != '\\') {
            (void)pli_buf_add(&inside, &c, 1);
            continue;
        }
        char escaped = rest->n ? rest->p[0] : 'D';
        const char *class = class_of(escaped);
        if (class ? escaped <= 'Z' : is_word(escaped)) {
            why = "an escape in brackets that is not \\d, \\w or \\s";
            break;
        }
        *rest = pli_skip(*rest, 1);
        if (class)
            (void)pli_buf_addz(&inside, class);
        else if (escaped == ']' || escaped == '-' || escaped == '^')
            *(escaped == ']' ? &closing : escaped == '-' ? &dash : &caret) = true;
        else
            (void)pli_buf_add(&inside, &escaped, 1);
    }
    (void)pli_buf_printf(out, "%s%.*s%s%s]", closing ? "]" : "", (int)inside.n,
                         inside.p ? inside.p : "", caret ? "^" : "", dash ? "-" : "");
    if (!why && inside.n == 0 && !closing && caret && !dash)
        why = "a bracket that holds ^ alone";
    if (inside.failed)
        out->failed = inside.failed;
    pli_buf_free(&inside);
    return why;
}

/* Returns what cannot be translated, or NULL. */
static const char *translate(pli_str text, pli_buf *out)
{
    const char *why = NULL;
    while (!why && text.n) {
        char c = text.p[0];
        text = pli_skip(text, 1);
        if (c == '\\') {
            why = translate_escape(&text, out);
        } else if (c == '[') {
            why = translate_bracket(&text, out);
        } else if (c == '(' && pli_starts(text, "?:")) {
            (void)pli_buf_add(out, "(", 1);
            text = pli_skip(text, 2);
        } else if (c == '(' && pli_starts(text, "?")) {
            why = "look-ahead";
        } else {
            (void)pli_buf_add(out, &c, 1);
            /* A lazy quantifier finds the same names as a greedy one. */
            if ((c == '*' || c == '+' || c == '?' || c == '}') && pli_starts(text, "?"))
                text = pli_skip(text, 1);
        }
    }
    return why;
}

plim_status pli_pattern_new(pli_arena *arena, pli_str text, const char **why, pli_pattern **out)
{
    pli_buf posix;
    *out = NULL;
    *why = text.n > MAX_PATTERN / 4 ? "a pattern of more than 1,024 bytes" : NULL;
    if (*why)
        return PLIM_INVALID;
    pli_buf_init(&posix, pli_arena_allocator(arena), MAX_PATTERN);
    *why = translate(text, &posix);
    pli_pattern *pattern = pli_alloc(arena, sizeof *pattern);
    plim_status status = *why           ? PLIM_INVALID
                         : posix.failed ? posix.failed
                         : pattern      ? PLIM_OK
                                        : PLIM_NOMEM;
    if (!status) {
        int code = regcomp(&pattern->regex, posix.p ? posix.p : "", REG_EXTENDED | REG_NOSUB);
        pattern->compiled = code == 0;
        status = code == 0 ? PLIM_OK : code == REG_ESPACE ? PLIM_NOMEM : PLIM_INVALID;
        *why = code == 0 ? NULL : "an expression that does not parse";
        *out = code == 0 ? pattern : NULL;
    }
    pli_buf_free(&posix);
    return status;
}

bool pli_pattern_found(const pli_pattern *pattern, const char *name)
{
    return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
}

void pli_pattern_free(pli_pattern *pattern)
{
    if (pattern && pattern->compiled) {
        regfree(&pattern->regex);
        pattern->compiled = false;
    }
}
