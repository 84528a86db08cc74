#include "mounts.h"

static bool parse(pli_str line, pli_mount *out)
{
    pli_str word, skipped;
    *out = (pli_mount){0};
    if (!pli_next_word(&line, &skipped) || !pli_next_word(&line, &skipped) ||
        !pli_next_word(&line, &out->device) || !pli_next_word(&line, &out->root) ||
        !pli_next_word(&line, &out->point) || !pli_next_word(&line, &skipped))
        return false;
    do /* any number of optional fields, ended by a dash */
        if (!pli_next_word(&line, &word))
            return false;
    while (!pli_eq(word, "-"));
    if (!pli_next_word(&line, &out->type) || !pli_next_word(&line, &out->source))
        return false;
    (void)pli_next_word(&line, &out->options);
    return true;
}

bool pli_next_mount(pli_str *rest, pli_mount *out)
{
    pli_str line;
    while (pli_next_line(rest, &line))
        if (parse(line, out))
            return true;
    return false;
}

bool pli_mount_option(pli_str options, const char *key, pli_str *value)
{
    pli_str part, name;
    *value = (pli_str){"", 0};
    while (pli_next_part(&options, ',', &part)) {
        if (pli_eq(part, key))
            return true;
        if (pli_key_value(part, '=', &name, value) && pli_eq(name, key))
            return true;
    }
    *value = (pli_str){"", 0};
    return false;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

char *pli_mount_path(pli_arena *arena, pli_str s)
{
    char *out = pli_strndup(arena, s), *at = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 3 < s.n && is_octal(s.p[i + 1]) && is_octal(s.p[i + 2]) &&
            is_octal(s.p[i + 3])) {
            int c = (s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + (s.p[i + 3] - '0');
            *at++ = (char)(c & 0xff);
            i += 3;
        } else {
            *at++ = s.p[i];
        }
    }
    *at = '\0';
    return out;
}
