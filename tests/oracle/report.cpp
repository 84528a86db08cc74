// Preloaded into llama-fit-params: prints, to the byte, what it prints in MiB.
//
// llama-fit-params reads llama.cpp's own flags, loads a model's header without its weights, makes a context and asks
// libllama how many bytes each kind of buffer takes. The two calls that matter pass through here:
//   llama_init_from_model        where ORACLE_OUTPUTS=slots (or =N) logits are reserved as llama-server does, for as
//                                many rows as it has slots (by itself the tool reserves them for the batch); where
//                                ORACLE_UNIFIED=1 all slots share one cache, for which the tool has no flag
//   llama_get_memory_breakdown   its answer is printed as one line "oracle: {...}" of JSON on standard output
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>

#include <ggml-backend.h>
#include <llama.h>

// libllama's own record; no installed header declares it.
struct llama_memory_breakdown_data {
    size_t model, context, compute;
};

using breakdown = std::map<ggml_backend_buffer_type_t, llama_memory_breakdown_data>;

template <typename F> static F next(const char *symbol)
{
    return reinterpret_cast<F>(dlsym(RTLD_NEXT, symbol));
}

extern "C" llama_context *llama_init_from_model(llama_model *model, llama_context_params params)
{
#ifdef ORACLE_HAS_OUTPUTS
    if (const char *outputs = getenv("ORACLE_OUTPUTS"))
        params.n_outputs_max =
            strcmp(outputs, "slots") == 0 ? params.n_seq_max : (uint32_t)strtoul(outputs, nullptr, 10);
#endif
    if (getenv("ORACLE_UNIFIED"))
        params.kv_unified = true;
    return next<llama_context *(*)(llama_model *, llama_context_params)>("llama_init_from_model")(model, params);
}

breakdown llama_get_memory_breakdown(const llama_context *context);

breakdown llama_get_memory_breakdown(const llama_context *context)
{
    breakdown answer = next<breakdown (*)(const llama_context *)>("_Z26llama_get_memory_breakdownPK13llama_context")(context);
    static bool printed = false;
    if (printed) // it asks again for its own line
        return answer;
    printed = true;
    printf("oracle: {\"n_ctx\": %u, \"n_ctx_seq\": %u, \"n_ubatch\": %u, \"n_batch\": %u, \"n_seq_max\": %u, \"buffers\": {",
           llama_n_ctx(context), llama_n_ctx_seq(context), llama_n_ubatch(context), llama_n_batch(context),
           llama_n_seq_max(context));
    const char *comma = "";
    for (const auto &[type, bytes] : answer) {
        printf("%s\"%s\": {\"model\": %zu, \"context\": %zu, \"compute\": %zu}", comma, ggml_backend_buft_name(type),
               bytes.model, bytes.context, bytes.compute);
        comma = ", ";
    }
    printf("}}\n");
    fflush(stdout);
    return answer;
}
