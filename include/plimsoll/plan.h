/* plimsoll/plan.h: does this model fit that machine? Pure functions: same inputs, same bytes
 * out. */
#ifndef PLIMSOLL_PLAN_H
#define PLIMSOLL_PLAN_H

#include <plimsoll/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#include <plimsoll/records_begin.h>
#include <plimsoll/fields_plan.def>
#include <plimsoll/records_numbers.h>
#include <plimsoll/fields_plan.def>
#include <plimsoll/records_end.h>

typedef enum plim_choice { PLIM_AUTO = -1, PLIM_OFF = 0, PLIM_ON = 1 } plim_choice;

/** llama.cpp's own flags. 0 or NULL: the engine's default. */
typedef struct plim_fit_options {
    size_t struct_size;
    /* "llama.cpp" or "llama.cpp@VERSION"; NULL: the newest known build generation */
    const char *engine;          /* or "ik_llama.cpp" */
    uint64_t context;            /* -c; 0: the trained context */
    uint64_t batch, ubatch;      /* -b, -ub */
    uint64_t sequences;          /* -np */
    int64_t gpu_layers;          /* -ngl; negative: all */
    const char *kv_type_k;       /* -ctk */
    const char *kv_type_v;       /* -ctv */
    plim_choice flash_attention; /* -fa */
    plim_choice kv_unified;      /* --kv-unified */
    bool swa_full;               /* --swa-full */
    bool no_kv_offload;          /* -nkvo */
    bool no_op_offload;          /* --no-op-offload */
    bool no_mmap;                /* --no-mmap */
    const char *split_mode;      /* -sm none|layer|row */
    const double *tensor_split;  /* -ts */
    size_t tensor_split_count;
    uint64_t main_gpu;                /* -mg */
    const char *const *overrides;     /* -ot PATTERN=BUFFER, in order; NULL-terminated */
    double line_passed, line_warning; /* 0: 0.70 and 0.85 */
    uint64_t fit_context;             /* --fit-ctx; 0: 4096 */
    const uint64_t *fit_target;       /* --fit-target in MiB: one for all devices, or one each */
    size_t fit_target_count;          /* 0: 1024 MiB */
    /* bytes a second that the host reads its memory at, as measured; 0: what the machine tells */
    double host_bandwidth;
    int64_t latent_attention; /* ik_llama.cpp's -mla 0..3; negative: its default, 3 */
    /* What is loaded beside the model; none of it is referred to after the call. */
    const plim_model *projector;                   /* --mmproj */
    bool no_projector_offload;                     /* --no-mmproj-offload */
    const plim_model *draft;                       /* -md */
    bool own_draft;                                /* --spec-type draft-mtp: heads of the model */
    uint64_t draft_tokens;                         /* --spec-draft-n-max; 0: 3 */
    int64_t draft_gpu_layers;                      /* -ngld; negative: all */
    const char *draft_devices;                     /* -devd: "CUDA1,CUDA0" or "none" */
    const char *draft_kv_type_k, *draft_kv_type_v; /* -ctkd, -ctvd */
    const plim_model *const *adapters;             /* --lora, NULL-terminated */
    const plim_model *const *control_vectors;      /* --control-vector, NULL-terminated */
    int64_t cache_ram_mib; /* -cram: counted when it is given; -1 no limit */
    bool no_repack;        /* -nr */
} plim_fit_options;
#define PLIM_CACHE_RAM_DEFAULT INT64_MIN /* as the server does, named and not counted */
#define PLIM_FIT_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(plim_fit_options), NULL, 0, 0, 0, 0, -1, NULL, NULL, PLIM_AUTO, PLIM_AUTO, false,   \
            false, false, false, NULL, NULL, 0, 0, NULL, 0, 0, 0, NULL, 0, 0, -1, NULL, false,     \
            NULL, false, 0, -1, NULL, NULL, NULL, NULL, NULL, PLIM_CACHE_RAM_DEFAULT, false        \
    }

/** Judges a model for a machine. Errors: INVALID (a flag's value, named in *error), NOMEM. A
 *  verdict of "failed" or "unknown" is no error. Freed with plim_fit_free(); immutable, does not
 *  refer to machine or model afterwards. */
PLIM_API plim_status plim_fit_model(plimsoll *context, const plim_machine *machine,
                                    const plim_model *model, const plim_fit_options *options,
                                    plim_error *error, plim_fit **out) PLIM_CHECK_RESULT;
/** The plimsoll.fit/1 document; flags: PLIM_JSON_PRETTY. Freed with plim_text_free(). Errors:
 *  NOMEM. */
PLIM_API plim_status plim_fit_to_json(const plim_fit *fit, unsigned flags, char **text,
                                      size_t *length) PLIM_CHECK_RESULT;
/** Frees a verdict and all that it points to. NULL is allowed. */
PLIM_API void plim_fit_free(plim_fit *fit);

/** Holds plimsoll's figures against what an engine printed when it loaded a model: the text of a
 *  load log of llama.cpp or of a program built on it (ollama, ik_llama.cpp), of which the first
 *  64 MiB are read. model: its file; NULL: what the log itself tells of it, without tensors, so
 *  that weights are not predicted. engine: as in plim_fit_options; NULL: by the log. Errors:
 *  INVALID, PARSE (no load in it), LIMIT, NOMEM, those of the reader. Freed with
 *  plim_check_free(); immutable. */
PLIM_API plim_status plim_check_log(plimsoll *context, const plim_reader *log,
                                    const plim_model *model, const char *engine, plim_error *error,
                                    plim_check **out) PLIM_CHECK_RESULT;
/** Asks the engine itself: runs llama.cpp's llama-fit-params (found in PATH, no shell, killed at
 *  the deadline) on the model's file with the fit's settings, which plans without loading, and
 *  holds what it prints against plimsoll's figures like plim_check_log(). The devices are those
 *  that the engine finds here, whatever machine the fit was for. Errors: NOT_FOUND (not
 *  installed), TIMEOUT, IO (it failed: its last words), those of plim_check_log(). */
PLIM_API plim_status plim_verify_fit(plimsoll *context, const char *path, const plim_model *model,
                                     const plim_fit *fit, const plim_fit_options *options,
                                     uint32_t timeout_ms, plim_error *error,
                                     plim_check **out) PLIM_CHECK_RESULT;
/** The plimsoll.check/1 document; flags: PLIM_JSON_PRETTY. Freed with plim_text_free(). Errors:
 *  NOMEM. */
PLIM_API plim_status plim_check_to_json(const plim_check *check, unsigned flags, char **text,
                                        size_t *length) PLIM_CHECK_RESULT;
/** Frees a check and all that it points to. NULL is allowed. */
PLIM_API void plim_check_free(plim_check *check);
/** What can this machine run? The models of the catalogue that stay under the line, best first,
 *  each in its best quantization; the order is told in ->order. options as for plim_fit_model();
 *  a context of 0 asks for 16,384 tokens, or those it was trained for where they are fewer. With
 *  `name` (a model of the catalogue; NULL for all): that model in each of its quantizations, or in
 *  the one that the name tells, best first, also those that fail. Errors: NOT_FOUND (name), INVALID
 *  (a flag's value), NOMEM. Freed with plim_models_free(). */
PLIM_API plim_status plim_models_rank(plimsoll *context, const plim_machine *machine,
                                      const plim_fit_options *options, const char *name,
                                      plim_error *error, plim_models **out) PLIM_CHECK_RESULT;
/** The plimsoll.models/1 document; flags: PLIM_JSON_PRETTY. Freed with plim_text_free(). Errors:
 *  NOMEM. */
PLIM_API plim_status plim_models_to_json(const plim_models *models, unsigned flags, char **text,
                                         size_t *length) PLIM_CHECK_RESULT;
/** Frees a ranking and all that it points to. NULL is allowed. */
PLIM_API void plim_models_free(plim_models *models);

#ifdef __cplusplus
}
#endif
#endif
