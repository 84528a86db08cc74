/* Second pass over a fields_*.def: field numbers PLIM_F_<record>_<member>, and the table of each
 * record. */
#undef RECORD
#undef FIELD
#undef ONE
#undef MANY
#undef END
/* clang-format off */
#define RECORD(rec) enum plim_##rec##_field {
#define FIELD(rec, type, member, key, unit, help) PLIM_F_##rec##_##member,
#define ONE(rec, sub, member, key, help) PLIM_F_##rec##_##member,
#define MANY(rec, sub, member, key, help) PLIM_F_##rec##_##member,
#define END(rec)                                                                                   \
    PLIM_F_##rec##_COUNT                                                                           \
    }                                                                                              \
    ;                                                                                              \
    PLIM_API extern const plim_record plim_record_##rec;
/* clang-format on */
