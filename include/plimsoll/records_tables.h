/* Third pass over a fields_*.def: the tables plim_record_<rec>. No include guard: used once per
 * table, in one .c file of C11 that has seen the structs and numbers. */
#include <stddef.h>

#undef RECORD
#undef FIELD
#undef ONE
#undef MANY
#undef END
/* clang-format off */
#define RECORD(rec) static const plim_field fields_##rec[] = {
#define FIELD(rec, type, member_, key_, unit_, help_)                                              \
    {key_, #member_, help_, PLIM_TYPE_##type, PLIM_UNIT_##unit_, offsetof(plim_##rec, member_),    \
     NULL},
#define ONE(rec, sub, member_, key_, help_)                                                        \
    {key_, #member_, help_, PLIM_TYPE_RECORD, PLIM_UNIT_NONE,                                      \
     offsetof(plim_##rec, member_), &plim_record_##sub},
#define MANY(rec, sub, member_, key_, help_)                                                       \
    {key_, #member_, help_, PLIM_TYPE_RECORDS, PLIM_UNIT_NONE,                                     \
     offsetof(plim_##rec, member_), &plim_record_##sub},
#define END(rec)                                                                                   \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(sizeof fields_##rec / sizeof *fields_##rec <= 128, "at most 128 fields");       \
    const plim_record plim_record_##rec = {#rec, sizeof(plim_##rec), PLIM_F_##rec##_COUNT,         \
                                           fields_##rec};
/* clang-format on */
