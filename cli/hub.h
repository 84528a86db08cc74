/* Names of models on a hub, hf:OWNER/REPO/FILE and hf:OWNER/REPO[:QUANT], as URLs of the hub that
 * the environment names. There is no built-in hub: which one is asked is the user's word. */
#ifndef CLI_HUB_H
#define CLI_HUB_H

#include "http.h"

bool cli_hub_names(const char *name); /* does it begin with "hf:"? */
/* The file that the name means, as a URL (freed with free()). A name without a file is looked up in
 * the repository's list: the GGUF of that quantisation, by llama.cpp's rule (without one Q4_K_M,
 * Q8_0, the first), else its safetensors. Errors: INVALID (no such form, no endpoint), NOT_FOUND,
 * those of cli_http_get(). */
plim_status cli_hub_url(cli_http *http, const char *endpoint, const char *name, plim_error *error,
                        char **url);

/* Of a repository's list of files, the one that `quant` ("" for none) names; NULL: none. */
const char *cli_hub_choose(const char *const *paths, size_t count, const char *quant);

#endif
