/* After the passes over a fields_*.def: takes the names of the rows away again. */
#undef RECORD
#undef FIELD
#undef ONE
#undef MANY
#undef END
#undef PLIM_MEMBER_STR
#undef PLIM_MEMBER_U64
#undef PLIM_MEMBER_I64
#undef PLIM_MEMBER_F64
#undef PLIM_MEMBER_BOOL
#undef PLIM_MEMBER_STRS
#undef PLIM_MEMBER_U64S
#undef PLIM_MEMBER_COUNTS
