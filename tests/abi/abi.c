/* What a program compiled against an older header relies on: places in public structs, field
 * numbers, values of enums.
 *
 *   abi FILE             fails when a line of FILE is no longer true; new lines are allowed
 *   abi FILE --update    writes FILE anew
 *
 * FILE holds the layout of LP64 systems with 8-byte alignment; elsewhere the test is skipped. */
#include <plimsoll/plimsoll.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKIP 77

/* clang-format off */
#define RECORD(rec) &plim_record_##rec,
#define FIELD(rec, type, member, key, unit, help)
#define ONE(rec, sub, member, key, help)
#define MANY(rec, sub, member, key, help)
#define END(rec)
static const plim_record *const records[] = {
#include <plimsoll/fields_machine.def>
#include <plimsoll/fields_meter.def>
#include <plimsoll/fields_model.def>
#include <plimsoll/fields_plan.def>
};

typedef struct place {
    const char *name;
    size_t offset, size;
} place;
#define PLACE(type, member) {#type "." #member, offsetof(type, member), sizeof ((type *)0)->member}

static const place places[] = {
    PLACE(plim_bench_options, struct_size), PLACE(plim_bench_options, threads),
    PLACE(plim_bench_options, bytes), PLACE(plim_bench_options, seconds),
    PLACE(plim_error, struct_size), PLACE(plim_error, status), PLACE(plim_error, offset),
    PLACE(plim_error, subject), PLACE(plim_error, what), PLACE(plim_allocator, fn),
    PLACE(plim_allocator, user), PLACE(plim_reader, struct_size), PLACE(plim_reader, name),
    PLACE(plim_reader, size), PLACE(plim_reader, user), PLACE(plim_reader, read),
    PLACE(plim_files, struct_size), PLACE(plim_files, user), PLACE(plim_files, open),
    PLACE(plim_files, close),
    PLACE(plim_strs, items), PLACE(plim_strs, count), PLACE(plim_u64s, items),
    PLACE(plim_u64s, count), PLACE(plim_count, name), PLACE(plim_count, value),
    PLACE(plim_counts, items), PLACE(plim_counts, count), PLACE(plim_items, items),
    PLACE(plim_items, count), PLACE(plim_head, known), PLACE(plim_head, source),
    PLACE(plim_field, key), PLACE(plim_field, member), PLACE(plim_field, help),
    PLACE(plim_field, type), PLACE(plim_field, unit), PLACE(plim_field, offset),
    PLACE(plim_field, record), PLACE(plim_record, name), PLACE(plim_record, size),
    PLACE(plim_record, field_count), PLACE(plim_record, fields), PLACE(plim_config, struct_size),
    PLACE(plim_config, allocator), PLACE(plim_detect_options, struct_size),
    PLACE(plim_detect_options, machine_file), PLACE(plim_detect_options, machine_text),
    PLACE(plim_detect_options, machine_text_length), PLACE(plim_detect_options, root),
    PLACE(plim_detect_options, only), PLACE(plim_detect_options, skip),
    PLACE(plim_detect_options, timeout_ms), PLACE(plim_detect_options, isolate),
    PLACE(plim_detect_options, capture), PLACE(plim_detect_options, keep_identities),
    PLACE(plim_detect_options, models_directory), PLACE(plim_detect_options, wake),
    PLACE(plim_probe_info, name), PLACE(plim_probe_info, stage), PLACE(plim_probe_info, title),
    PLACE(plim_probe_info, isolated), PLACE(plim_fit_options, struct_size),
    PLACE(plim_fit_options, engine), PLACE(plim_fit_options, context),
    PLACE(plim_fit_options, batch), PLACE(plim_fit_options, ubatch),
    PLACE(plim_fit_options, sequences), PLACE(plim_fit_options, gpu_layers),
    PLACE(plim_fit_options, kv_type_k), PLACE(plim_fit_options, kv_type_v),
    PLACE(plim_fit_options, flash_attention), PLACE(plim_fit_options, kv_unified),
    PLACE(plim_fit_options, swa_full), PLACE(plim_fit_options, no_kv_offload),
    PLACE(plim_fit_options, no_op_offload), PLACE(plim_fit_options, no_mmap),
    PLACE(plim_fit_options, split_mode), PLACE(plim_fit_options, tensor_split),
    PLACE(plim_fit_options, tensor_split_count), PLACE(plim_fit_options, main_gpu),
    PLACE(plim_fit_options, overrides), PLACE(plim_fit_options, line_passed),
    PLACE(plim_fit_options, line_warning), PLACE(plim_fit_options, projector),
    PLACE(plim_fit_options, no_projector_offload), PLACE(plim_fit_options, draft),
    PLACE(plim_fit_options, own_draft), PLACE(plim_fit_options, draft_tokens),
    PLACE(plim_fit_options, draft_gpu_layers), PLACE(plim_fit_options, draft_devices),
    PLACE(plim_fit_options, draft_kv_type_k), PLACE(plim_fit_options, draft_kv_type_v),
    PLACE(plim_fit_options, adapters), PLACE(plim_fit_options, control_vectors),
    PLACE(plim_fit_options, cache_ram_mib), PLACE(plim_fit_options, no_repack),
};

static const struct {
    const char *name;
    int value;
} values[] = {
#define X(name, code, text) {"PLIM_" #name, PLIM_##name},
    PLIM_STATUS_MAP(X)
#undef X
    {"PLIM_TYPE_STR", PLIM_TYPE_STR}, {"PLIM_TYPE_BOOL", PLIM_TYPE_BOOL},
    {"PLIM_TYPE_RECORDS", PLIM_TYPE_RECORDS}, {"PLIM_UNIT_BYTES", PLIM_UNIT_BYTES},
    {"PLIM_UNIT_RATIO", PLIM_UNIT_RATIO}, {"PLIM_AUTO", PLIM_AUTO}, {"PLIM_ON", PLIM_ON},
};
/* clang-format on */

static void write_layout(FILE *out)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fprintf(out, "value %s %d\n", values[i].name, values[i].value);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        fprintf(out, "place %s at %zu, %zu bytes\n", places[i].name, places[i].offset,
                places[i].size);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        for (size_t k = 0; k < records[i]->field_count; k++) {
            const plim_field *field = &records[i]->fields[k];
            fprintf(out, "field %s.%s number %zu at %zu, type %d\n", records[i]->name,
                    field->member, k, field->offset, (int)field->type);
        }
}

/* The lines of `pinned` that the layout of today lacks. */
static int count_broken(FILE *pinned, FILE *today)
{
    char want[256], have[256];
    int broken = 0;
    while (fgets(want, sizeof want, pinned)) {
        bool found = false;
        rewind(today);
        while (!found && fgets(have, sizeof have, today))
            found = strcmp(want, have) == 0;
        if (!found) {
            printf("no longer true: %s", want);
            broken++;
        }
    }
    return broken;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (sizeof(void *) != 8 || sizeof(long) != 8 || _Alignof(uint64_t) != 8) {
        printf("skipped: the pinned layout is that of LP64 systems\n");
        return SKIP;
    }
    bool update = argc > 2 && strcmp(argv[2], "--update") == 0;
    FILE *pinned = fopen(argv[1], update ? "w" : "r");
    FILE *today = tmpfile();
    if (!pinned || !today) {
        perror(argv[1]);
        return 1;
    }
    write_layout(update ? pinned : today);
    int broken = update ? 0 : count_broken(pinned, today);
    fclose(today);
    fclose(pinned);
    return broken ? 1 : 0;
}
