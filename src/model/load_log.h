/* A load log of llama.cpp, or of a program built on it, of any age: which model it says it loaded,
 * how, and what it allocated where. Only what is printed is known; nothing of it is trusted more
 * than a file's header. Facts: the engines' own lines (llama-model-loader, print_info,
 * llama-context, llama-kv-cache; ik_llama.cpp; facts of the format change, so rows are in
 * load_log.def). */
#ifndef PLI_LOAD_LOG_H
#define PLI_LOAD_LOG_H

#include "model.h"

typedef enum pli_log_term {
    PLI_LOG_WEIGHTS,
    PLI_LOG_KV,
    PLI_LOG_STATE,
    PLI_LOG_COMPUTE,
    PLI_LOG_OUTPUT,
    PLI_LOG_MEMORY, /* keys, values and state together, as the breakdown at the end counts them */
    PLI_LOG_TERMS,
} pli_log_term;

typedef enum pli_log_setting {
    PLI_LOG_CONTEXT,
    PLI_LOG_CONTEXT_EACH, /* tokens of one sequence */
    PLI_LOG_BATCH,
    PLI_LOG_UBATCH,
    PLI_LOG_SEQUENCES,
    PLI_LOG_FLASH,
    PLI_LOG_UNIFIED,
    PLI_LOG_OUTPUTS, /* rows of logits that are reserved */
    PLI_LOG_MLA,     /* ik_llama.cpp's -mla */
    PLI_LOG_LAYERS,  /* offloaded, of ... */
    PLI_LOG_LAYERS_OF,
    PLI_LOG_BUILD, /* number of the engine's build */
    PLI_LOG_SETTINGS,
} pli_log_setting;

/* A sum of printed figures: hundredths of a MiB, each of `parts` figures rounded to one, or to the
 * whole MiB below it (`wholes` of them). */
typedef struct pli_amount {
    uint64_t hundredths;
    unsigned parts; /* 0: nothing was printed */
    unsigned wholes;
} pli_amount;

typedef struct pli_log_device {
    pli_str name;      /* ggml's name of the buffer: "CUDA0", "CUDA_Host", "CPU_Mapped" */
    uint64_t free_mib; /* before loading */
    bool free_known;
    uint64_t layers; /* said to be on it, the output counted */
    pli_amount amount[PLI_LOG_TERMS];
    pli_amount breakdown[PLI_LOG_TERMS]; /* of the table that newer builds print at the end */
} pli_log_device;
#define PLI_MAX_LOG_DEVICES 256u

/* How the log's engine names its caches, which dates it. */
typedef enum pli_log_age {
    PLI_LOG_OLD,           /* one cache for all layers */
    PLI_LOG_UNIFIED_CACHE, /* "llama_kv_cache_unified": from May 2025 */
    PLI_LOG_NEW,           /* "llama_kv_cache": from September 2025 */
} pli_log_age;

typedef struct pli_log {
    pli_str text; /* what all views below point into */
    pli_str path; /* of the model */
    bool loaded;  /* there was something of a load in it */
    bool is_ik;
    bool fused_up_gate, is_early_ik; /* it prints the former since autumn 2025 */
    bool more;                       /* another model or context follows, which is not read */
    pli_log_age age;
    pli_value *values; /* by the order of the log; "%s" in a key stands for the architecture */
    size_t value_count;
    uint64_t setting[PLI_LOG_SETTINGS];
    bool setting_known[PLI_LOG_SETTINGS];
    pli_str type_k, type_v; /* of the cache; empty: not printed */
    bool whole_windows;     /* sliding layers keep the whole context (--swa-full) */
    pli_log_device device[PLI_MAX_LOG_DEVICES];
    size_t device_count;
    pli_amount total[PLI_LOG_TERMS]; /* where the engine printed a sum of its own */
} pli_log;

/* Reads the text, which must outlive *log. LIMIT: more devices or keys than any machine has.
 * A text without a load is no error: log->loaded. */
plim_status pli_log_read(pli_arena *arena, pli_str text, const char *name, plim_error *error,
                         pli_log *log);
/* Is this one of ggml's buffers in the host's memory: "CPU", "CPU_Mapped", "CPU_REPACK",
 * "CUDA_Host", "AMX"? */
bool pli_log_is_host(pli_str buffer);
/* Which of the log's accelerators a buffer lies on, by the order of their numbers. */
size_t pli_log_accelerator(const pli_log *log, pli_str buffer);
/* The model as far as the log tells it: keys and values, no tensors. */
plim_status pli_log_model(const pli_log *log, const char *name, const plim_allocator *allocator,
                          plim_error *error, pli_model **out);

#endif
