/* A model as its header tells it: what the readers fill and the planner asks. plim_model (public)
 * is the first member. */
#ifndef PLI_MODEL_H
#define PLI_MODEL_H

#include <plimsoll/model.h>

#include "../base/record.h"

/* GGUF value types; safetensors metadata are strings. Values are the format's. */
typedef enum pli_value_type {
    PLI_VALUE_U8 = 0,
    PLI_VALUE_I8 = 1,
    PLI_VALUE_U16 = 2,
    PLI_VALUE_I16 = 3,
    PLI_VALUE_U32 = 4,
    PLI_VALUE_I32 = 5,
    PLI_VALUE_F32 = 6,
    PLI_VALUE_BOOL = 7,
    PLI_VALUE_STRING = 8,
    PLI_VALUE_ARRAY = 9,
    PLI_VALUE_U64 = 10,
    PLI_VALUE_I64 = 11,
    PLI_VALUE_F64 = 12,
} pli_value_type;

typedef struct pli_value {
    pli_str key; /* in the arena */
    pli_value_type type;
    pli_value_type item_type; /* of an array */
    uint64_t count;           /* of an array; bytes of a string */
    uint64_t at;              /* byte offset of its key in the file */
    union {                   /* scalars; unused for arrays */
        uint64_t u;           /* U8 U16 U32 U64 BOOL */
        int64_t i;
        double f;
        pli_str text; /* p is NULL where it is longer than PLI_TEXT_KEPT */
    } as;
    /* Items of a short array (PLI_VALUE_KEPT or fewer numbers or booleans): u, i or f by item_type.
     * NULL: skipped in place. */
    const uint64_t *items; /* bit patterns of the union above */
    const pli_str *texts;  /* items of a short array of strings */
} pli_value;
#define PLI_VALUE_KEPT 4096u     /* numbers kept of an array: more than any model has layers */
#define PLI_TEXTS_KEPT 64u       /* strings kept of an array */
#define PLI_TEXT_KEPT (1u << 20) /* bytes kept of a string: chat templates are tens of KiB */

#define PLI_MIN_SHAPE 4u /* entries that every shape has; those past `dims` are 1 */
typedef struct pli_tensor {
    const char *name;      /* in the arena, NUL-terminated */
    const char *type_name; /* of its row, or TYPE_<number> of the file */
    uint32_t type;         /* index of a row of quants.def, not the file's number */
    uint32_t file_type;    /* the file's number */
    uint32_t dims;
    uint32_t file;         /* 0 ... splits - 1 */
    const uint64_t *shape; /* file's order: ggml's ne[0] first for GGUF */
    uint64_t elements;
    uint64_t bytes;  /* 0 where bytes_known is false */
    uint64_t offset; /* in its file's data section */
    uint64_t at;     /* byte offset of its entry in the file's header */
    bool bytes_known;
} pli_tensor;

typedef struct pli_model {
    plim_model pub;
    pli_arena *arena;
    const char *path;
    pli_value *values; /* sorted by key */
    size_t value_count;
    pli_tensor *tensors; /* in the file's order */
    size_t tensor_count;
    const pli_tensor **by_name; /* the same, sorted by name */
    plim_items items;           /* plim_tensor records of the tensors, in the file's order */
    const plim_files *files;    /* where other files of the model are; only while it is read */
    const uint8_t *roles;       /* of the tensors, by mixture.c; NULL: not asked for */
    bool partial;               /* tensors of files that could not be reached are absent */
} pli_model;

/* What a type is in a safetensors file. */
typedef enum pli_dtype {
    PLI_DTYPE_NO,         /* not one of its dtypes */
    PLI_DTYPE_WEIGHTS,    /* an element is a weight */
    PLI_DTYPE_NO_WEIGHTS, /* indices and masks */
    PLI_DTYPE_PACKED,     /* may hold several weights, or weights that need scales beside them */
} pli_dtype;

/* A tensor type: name, block and bytes (quants.def). */
typedef struct pli_quant {
    const char *name; /* upper case: Q4_K */
    uint32_t ggml_id; /* UINT32_MAX: not a ggml type */
    uint32_t block_elements;
    uint32_t block_bytes; /* 0: size not known exactly */
    uint32_t row_bytes;   /* in front of each row */
    pli_dtype dtype;
    const char *engine; /* NULL, or who alone reads it: ik_llama.cpp */
} pli_quant;
const pli_quant *pli_quant_at(uint32_t index);    /* NULL past the last */
uint32_t pli_quant_index(const pli_quant *quant); /* NULL: the row of unknown types */
const pli_quant *pli_quant_of_ggml(uint32_t id);  /* NULL if none */
const pli_quant *pli_quant_by_name(pli_str name); /* any case; NULL if none */
/* false: no whole blocks, overflow, size unknown */
bool pli_quant_row_bytes(const pli_quant *, uint64_t elements, uint64_t *bytes);

/* One value of a sorted list, NULL if none; as a number when it is one and the type allows. */
const pli_value *pli_values_find(const pli_value *values, size_t count, pli_str key);
bool pli_value_u64(const pli_value *value, uint64_t *out);
double pli_shortest(double f32); /* the double whose shortest text gives the float back: 0.1 */
const char *pli_value_type_name(pli_value_type type); /* ggml's: u32, f32, str, arr ... */

/* Values by key; "%s" in the key stands for the architecture: pli_model_u64(m, "%s.block_count",
 * &n). False when absent or of another type (integers convert to each other when the value
 * allows). */
const pli_value *pli_model_value(const pli_model *, const char *key);
bool pli_model_u64(const pli_model *, const char *key, uint64_t *out);
bool pli_model_f64(const pli_model *, const char *key, double *out);
bool pli_model_str(const pli_model *, const char *key, pli_str *out);
/* A number for each layer: a scalar repeats, an array is indexed; false past its end. */
bool pli_model_layer_u64(const pli_model *, const char *key, uint64_t layer, uint64_t *out);
const pli_tensor *pli_model_tensor(const pli_model *, const char *name); /* NULL if none */

static inline const pli_model *pli_model_of(const plim_model *model)
{
    return (const pli_model *)(const void *)model;
}

#endif
