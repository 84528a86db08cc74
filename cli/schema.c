#include "schema.h"

#include <stdio.h>
#include <string.h>

#include "documents.h"

static const struct document {
    const char *name;
    const plim_record *record;
} documents[] = {
    {"machine", &plim_record_machine},
    {"model", &plim_record_model},
    {"fit", &plim_record_fit},
    {"models", &plim_record_models},
    {"check", &plim_record_check},
    {"bench", &plim_record_bench},
    {"devices", &plim_record_devices_document},
    {"doctor", &plim_record_doctor_document},
    {"diff", &plim_record_diff_document},
    {"version", &plim_record_version_document},
};

/* Keys whose shape an option changes: the schema as text instead of what the row says. */
static const struct exception {
    const plim_record *record, *also; /* also: a record that the text refers to */
    const char *key, *schema;
} exceptions[] = {
    {&plim_record_model, &plim_record_tensor, "tensors",
     "{\"description\": \"tensors; a list of them with --tensors\", \"oneOf\": "
     "[{\"type\": \"integer\", \"minimum\": 0}, "
     "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/tensor\"}}]}"},
    {&plim_record_model, NULL, "metadata",
     "{\"description\": \"with --metadata: keys and values as the file has them\", \"type\": "
     "\"object\"}"},
};

const char *cli_schema_at(size_t i)
{
    return i < sizeof documents / sizeof *documents ? documents[i].name : NULL;
}

/* ---- writing JSON --------------------------------------------------------------------------- */

struct writer {
    unsigned depth;
    bool filled; /* the object that is open has a member */
};

static void quote(const char *text)
{
    (void)putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            (void)putchar('\\');
        (void)putchar(*text);
    }
    (void)putchar('"');
}

static void begin_member(struct writer *w, const char *key)
{
    (void)fputs(w->filled ? ",\n" : "\n", stdout);
    for (unsigned i = 0; i < w->depth; i++)
        (void)fputs("  ", stdout);
    quote(key);
    (void)fputs(": ", stdout);
    w->filled = true;
}

static void text(struct writer *w, const char *key, const char *value)
{
    begin_member(w, key);
    quote(value);
}

static void raw(struct writer *w, const char *key, const char *json)
{
    begin_member(w, key);
    (void)fputs(json, stdout);
}

static void open_object(struct writer *w, const char *key)
{
    if (key)
        begin_member(w, key);
    (void)putchar('{');
    w->depth++;
    w->filled = false;
}

static void close_object(struct writer *w)
{
    w->depth--;
    (void)putchar('\n');
    for (unsigned i = 0; i < w->depth; i++)
        (void)fputs("  ", stdout);
    (void)putchar('}');
    w->filled = true;
}

/* ---- fields --------------------------------------------------------------------------------- */

static void field_type(struct writer *w, const plim_field *field)
{
    char reference[128];
    if (field->record)
        (void)snprintf(reference, sizeof reference, "#/$defs/%s", field->record->name);
    switch (field->type) {
    case PLIM_TYPE_STR:
        text(w, "type", "string");
        break;
    case PLIM_TYPE_U64:
        text(w, "type", "integer");
        raw(w, "minimum", "0");
        break;
    case PLIM_TYPE_I64:
        text(w, "type", "integer");
        break;
    case PLIM_TYPE_F64:
        text(w, "type", "number");
        break;
    case PLIM_TYPE_BOOL:
        text(w, "type", "boolean");
        break;
    case PLIM_TYPE_STRS:
        text(w, "type", "array");
        raw(w, "items", "{\"type\": \"string\"}");
        break;
    case PLIM_TYPE_U64S:
        text(w, "type", "array");
        raw(w, "items", "{\"type\": \"integer\", \"minimum\": 0}");
        break;
    case PLIM_TYPE_COUNTS:
        text(w, "type", "object");
        raw(w, "additionalProperties", "{\"type\": \"integer\", \"minimum\": 0}");
        break;
    case PLIM_TYPE_RECORD:
        text(w, "$ref", reference);
        break;
    case PLIM_TYPE_RECORDS:
        text(w, "type", "array");
        open_object(w, "items");
        text(w, "$ref", reference);
        close_object(w);
        break;
    }
}

static const struct exception *exception_of(const plim_record *record, const char *key)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].record == record && strcmp(exceptions[i].key, key) == 0)
            return &exceptions[i];
    return NULL;
}

static void leaf(struct writer *w, const plim_record *record, const plim_field *field,
                 const char *name)
{
    const struct exception *exception = exception_of(record, field->key);
    if (exception) {
        raw(w, name, exception->schema);
        return;
    }
    open_object(w, name);
    text(w, "description", field->help);
    /* The one text that the row fixes. */
    if (strcmp(field->key, "schema") == 0)
        text(w, "const", field->help);
    else
        field_type(w, field);
    close_object(w);
}

static bool begins(const char *key, const char *prefix, size_t n)
{
    return strncmp(key, prefix, n) == 0;
}

/* Members of the object at a prefix of n bytes ("memory."): dots in keys nest. */
static void properties(struct writer *w, const plim_record *record, const char *prefix, size_t n)
{
    char name[64];
    for (size_t i = 0; i < record->field_count; i++) {
        const char *key = record->fields[i].key;
        if (!begins(key, prefix, n))
            continue;
        size_t length = strcspn(key + n, ".");
        bool is_leaf = key[n + length] == '\0', seen = false;
        for (size_t k = 0; k < i && !is_leaf; k++)
            seen = seen || begins(record->fields[k].key, key, n + length + 1);
        if (seen)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)length, key + n);
        if (is_leaf) {
            leaf(w, record, &record->fields[i], name);
            continue;
        }
        open_object(w, name);
        text(w, "type", "object");
        raw(w, "additionalProperties", "false");
        open_object(w, "properties");
        properties(w, record, key, n + length + 1);
        close_object(w);
        close_object(w);
    }
}

static void object_of(struct writer *w, const plim_record *record)
{
    text(w, "type", "object");
    raw(w, "additionalProperties", "false");
    open_object(w, "properties");
    properties(w, record, "", 0);
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].record == record && !plim_record_find(record, exceptions[i].key))
            raw(w, exceptions[i].key, exceptions[i].schema);
    raw(w, "sources",
        "{\"description\": \"who said it, by path\", \"type\": \"object\", "
        "\"additionalProperties\": {\"type\": \"string\"}}");
    close_object(w);
}

/* ---- documents ------------------------------------------------------------------------------ */

enum { MAX_RECORDS = 64 };

/* Every record that a document can hold, each once, itself first. */
static size_t add_records(const plim_record *record, const plim_record *found[MAX_RECORDS],
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (found[i] == record)
            return count;
    if (count == MAX_RECORDS)
        return count;
    found[count++] = record;
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i].record)
            count = add_records(record->fields[i].record, found, count);
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].record == record && exceptions[i].also)
            count = add_records(exceptions[i].also, found, count);
    return count;
}

bool cli_schema_print(const char *name)
{
    const plim_record *records[MAX_RECORDS], *record = NULL;
    struct writer w = {0, false};
    char title[128];
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (strcmp(documents[i].name, name) == 0)
            record = documents[i].record;
    if (!record)
        return false;
    size_t count = add_records(record, records, 0);
    (void)snprintf(title, sizeof title, "plimsoll.%s/1", name);
    open_object(&w, NULL);
    text(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    text(&w, "title", title);
    object_of(&w, record);
    raw(&w, "required", "[\"schema\", \"version\"]");
    open_object(&w, "$defs");
    for (size_t i = 1; i < count; i++) {
        open_object(&w, records[i]->name);
        object_of(&w, records[i]);
        close_object(&w);
    }
    close_object(&w);
    close_object(&w);
    (void)putchar('\n');
    return true;
}
