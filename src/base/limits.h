/* Every cap on outside input, in one place. A cap that is hit is a note or an error, never a silent
 * cut. */
#ifndef PLI_LIMITS_H
#define PLI_LIMITS_H

#include <stdint.h>

/* a /proc or /sys file; cpuinfo of 1,024 CPUs exceeds 1 MiB */
#define PLI_MAX_PROC_FILE (16u << 20)
#define PLI_MAX_PATH 4096u                        /* bytes of a path with its NUL */
#define PLI_MAX_DIR_ENTRIES 65536u                /* names in one directory */
#define PLI_MAX_DEVICES 1024u                     /* devices of one machine */
#define PLI_MAX_DEVICE_MEMORY ((uint64_t)1 << 50) /* of one device; more is no size */
#define PLI_MAX_PARTITIONS 64u                    /* of one device */
#define PLI_MAX_CPUS 65536u                       /* highest CPU number + 1 */
#define PLI_MAX_NUMA_NODES 4096u                  /* NUMA nodes */
#define PLI_MAX_NOTES 1000u                       /* notes of one machine */
#define PLI_MAX_RECORDING (64u << 20)             /* a .machine file */
#define PLI_MAX_RECORD_ENTRIES 1000000u           /* entries of a .machine file */
#define PLI_MAX_JSON (64u << 20)                  /* a machine document */
#define PLI_MAX_JSON_DEPTH 64u                    /* nesting of any JSON */
#define PLI_MAX_LIST 65536u                       /* items of a list in a machine document */
#define PLI_MAX_ARENA ((uint64_t)1 << 30)         /* memory of one result */
#define PLI_MAX_SAFETENSORS_HEADER 100000000u
#define PLI_MAX_SAFETENSORS_DEPTH 127u          /* the reference's JSON reader stops there */
#define PLI_MAX_GGUF_HEADER ((uint64_t)1 << 30) /* bytes of keys, values and tensor table */
#define PLI_MAX_GGUF_KEYS 1000000u
#define PLI_MAX_GGUF_TENSORS 1000000u
#define PLI_MAX_GGUF_STRING ((uint64_t)1 << 30) /* the reference reader's own limit */
#define PLI_MAX_GGUF_NESTING 4u   /* arrays in arrays, which the reference reader refuses */
#define PLI_MAX_TENSOR_NAME 1024u /* ggml's own limit is 63, that of its descendants 127 */
#define PLI_MAX_MODEL_SPLITS 10000u
#define PLI_MAX_LAYERS 100000u
#define PLI_MAX_PLAN_LAYERS 512u /* llama.cpp's own limit (LLAMA_MAX_LAYERS) */
#define PLI_MAX_LOG (64u << 20) /* of an engine's log: a load stands at its beginning */

#endif
