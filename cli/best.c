/* Which quantization of a model of the catalogue, where none is named. */
#include <string.h>

#include "best.h"

/* The one to take; NULL: there is no choice, or none stays under the line. */
static const plim_ranked_model *best_of(const plim_models *models)
{
    for (size_t i = 0; models->models.count > 1 && i < models->models.count; i++) {
        const plim_ranked_model *m = models->models.items[i];
        if (PLIM_KNOWN(ranked_model, m, best) && m->best)
            return m;
    }
    return NULL;
}

/* Opens it instead of the quantization that most people take, and says so. */
static plim_status take(const cli_call *call, const plim_ranked_model *best, plim_error *error,
                        plim_model **model)
{
    char name[256];
    plim_model *other = NULL;
    (void)snprintf(name, sizeof name, "%s:%s", best->name, best->quantization);
    plim_status status = plim_model_from_catalogue(call->context, name, error, &other);
    if (status != PLIM_OK)
        return status;
    plim_model_free(*model);
    *model = other;
    (void)cli_error(call, CLI_OK, "%s: %s is the best quantization that stays under the line here",
                    best->name, best->quantization);
    return PLIM_OK;
}

cli_exit cli_take_best(const cli_call *call, const plim_machine *machine,
                       const plim_fit_options *with, plim_model **model)
{
    const uint64_t contexts[] = {with->context ? with->context : (*model)->context_trained, 0};
    plim_error error = PLIM_ERROR_INIT;
    plim_fit_options trial = *with;
    plim_status status = PLIM_OK;
    bool taken = false;
    if (trial.gpu_layers < 0)
        trial.gpu_layers = INT32_MAX; /* as it will be judged: nothing moved to the host */
    for (size_t i = 0; !status && !taken && i < CLI_COUNT(contexts); i++) {
        plim_models *models = NULL;
        trial.context = contexts[i];
        status =
            plim_models_rank(call->context, machine, &trial, call->operands[0], &error, &models);
        const plim_ranked_model *best = status ? NULL : best_of(models);
        /* rather 4 bits a weight and a shorter context than fewer */
        if (i + 1 < CLI_COUNT(contexts) && best && !with->context &&
            best->tensor_bytes < best->parameters / 2)
            best = NULL;
        if (best)
            status = take(call, best, &error, model);
        taken = best != NULL;
        plim_models_free(models);
    }
    return status == PLIM_OK ? CLI_OK : cli_failed(call, status, &error);
}
