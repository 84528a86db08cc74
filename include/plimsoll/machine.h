/* plimsoll/machine.h: look at a machine (this one, a recording, a directory tree, an imagined one)
 * and get a plim_machine. */
#ifndef PLIMSOLL_MACHINE_H
#define PLIMSOLL_MACHINE_H

#include <plimsoll/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#include <plimsoll/records_begin.h>
#include <plimsoll/fields_machine.def>
#include <plimsoll/records_numbers.h>
#include <plimsoll/fields_machine.def>
#include <plimsoll/records_end.h>

/** A library context. Contexts are independent; one context is used by one thread at a time. */
typedef struct plimsoll plimsoll;

typedef struct plim_config {
    size_t struct_size;
    plim_allocator allocator; /* zero: malloc */
} plim_config;
/* clang-format off */
#define PLIM_CONFIG_INIT {sizeof(plim_config), {NULL, NULL}}
/* clang-format on */

/** Opens a context. config may be NULL. Errors: NOMEM, INVALID. The caller closes it with
 *  plim_close(). */
PLIM_API plim_status plim_open(const plim_config *config, plimsoll **out) PLIM_CHECK_RESULT;
/** Closes a context; its results stay valid until they are freed themselves. NULL is allowed. */
PLIM_API void plim_close(plimsoll *context);

typedef struct plim_detect_options {
    size_t struct_size;
    const char *machine_file; /* a .machine recording instead of this machine */
    const char *machine_text; /* the same from memory, machine_text_length bytes */
    size_t machine_text_length;
    const char *root;        /* files below this directory instead of this machine */
    const char *const *only; /* NULL-terminated probe names; NULL: all */
    const char *const *skip; /* NULL-terminated probe names; NULL: none */
    uint32_t timeout_ms;     /* for each isolated probe; 0: 10 s and 2 s for each device */
    bool isolate;            /* enter vendor libraries in a child process (forks) */
    bool capture;            /* keep a recording of what the probes read */
    bool keep_identities;    /* ... with serials, host names, UUIDs and MACs as they are */
    /* storage: the directory whose disk is named; NULL: the usual ones */
    const char *models_directory;
    bool wake; /* ask also GPUs that sleep, which takes them seconds and watts */
} plim_detect_options;
/* clang-format off */
#define PLIM_DETECT_OPTIONS_INIT                                                                   \
    {sizeof(plim_detect_options), NULL, NULL, 0, NULL, NULL, NULL, 0, false, false, false, NULL,   \
     false}
/* clang-format on */

/** Looks at a machine. Absent hardware is silent, what is present but unreadable becomes a note;
 *  only NOMEM, INVALID and, for a recording or root that cannot be read, its error (in *error,
 *  which may be NULL) make it fail. If options->capture, *recording (may be NULL otherwise) is the
 *  text of a .machine file, freed with plim_text_free(). The result is freed with
 *  plim_machine_free(), is immutable, and may be shared between threads. */
PLIM_API plim_status plim_machine_detect(plimsoll *context, const plim_detect_options *options,
                                         plim_error *error, char **recording,
                                         plim_machine **out) PLIM_CHECK_RESULT;

/** Builds a machine one does not have from "cuda:24GiB*2,cpu:64GiB" or "2x RTX 4090 + 64GB RAM":
 *  FAMILY[:SIZE][*N], [Nx ]CHIP[ SIZE] or SIZE RAM, by commas or a plus between blanks. Figures of
 *  a chip are its data sheet's, marked "table". Errors: PARSE with the offset in the text (an
 *  unknown chip with names that are near), NOMEM. Freed with plim_machine_free(). */
PLIM_API plim_status plim_machine_from_spec(plimsoll *context, const char *spec, plim_error *error,
                                            plim_machine **out) PLIM_CHECK_RESULT;

/** Reads a plimsoll.machine/1 document. Unknown keys are skipped; a known key of the wrong type is
 *  PARSE, with its path in error->what. Freed with plim_machine_free(). */
PLIM_API plim_status plim_machine_from_json(plimsoll *context, const char *text, size_t length,
                                            plim_error *error,
                                            plim_machine **out) PLIM_CHECK_RESULT;

/** The plimsoll.machine/1 document, NUL-terminated; *length (may be NULL) without the NUL. Unknown
 *  fields are absent. Freed with plim_text_free(). Errors: NOMEM. */
PLIM_API plim_status plim_machine_to_json(const plim_machine *machine, unsigned flags, char **text,
                                          size_t *length) PLIM_CHECK_RESULT;

/** Frees a machine and all that it points to. NULL is allowed. */
PLIM_API void plim_machine_free(plim_machine *machine);

/** A row of the probe table. */
typedef struct plim_probe_info {
    const char *name;
    const char *stage;
    const char *title;
    bool isolated; /* enters a vendor's library or tool */
} plim_probe_info;
/** Probe number i, or NULL past the last. Static. */
PLIM_API const plim_probe_info *plim_probe_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
