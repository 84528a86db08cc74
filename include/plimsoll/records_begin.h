/* Turns the rows of a fields_*.def into C structs and field numbers. No include guard: used once
 * per table. A table is a list of RECORD .. FIELD/ONE/MANY .. END; see fields_machine.def. */
#define PLIM_MEMBER_STR(m) const char *m;
#define PLIM_MEMBER_U64(m) uint64_t m;
#define PLIM_MEMBER_I64(m) int64_t m;
#define PLIM_MEMBER_F64(m) double m;
#define PLIM_MEMBER_BOOL(m) bool m;
#define PLIM_MEMBER_STRS(m) plim_strs m;
#define PLIM_MEMBER_U64S(m) plim_u64s m;
#define PLIM_MEMBER_COUNTS(m) plim_counts m;

#define RECORD(rec)                                                                                \
    typedef struct plim_##rec {                                                                    \
        plim_head head;
#define FIELD(rec, type, member, key, unit, help) PLIM_MEMBER_##type(member)
#define ONE(rec, sub, member, key, help) const struct plim_##sub *member;
#define MANY(rec, sub, member, key, help) plim_items member;
#define END(rec)                                                                                   \
    }                                                                                              \
    plim_##rec;
