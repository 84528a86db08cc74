/* Encoders that norm what each half of a layer leaves (llama.cpp: src/models/bert.cpp). */
#include "graph_build.h"

/* Embeddings of the token, its kind and its place, normed. */
static pli_id embedded(pli_builder *b, pli_id id)
{
    const pli_model *model = b->shape->model;
    uint64_t width = b->shape->embedding;
    const pli_tensor *kinds = pli_model_tensor(model, "token_types.weight");
    if (kinds) {
        pli_id row = pli_build_weight(b, "token_types", "weight", PLI_OF_INPUT);
        row = pli_build_view(b, row, pli_dims_of(width, 1, 1));
        const pli_quant *type = pli_quant_at(kinds->type);
        uint64_t bytes = 0;
        if (!pli_quant_row_bytes(type, width, &bytes))
            b->graph->failed = true;
        if (row != PLI_NO_NODE)
            b->graph->node[row].bytes =
                pli_allocated(&b->graph->calc, b->sites->at[0].backend, type, width, bytes);
        id = pli_build_onto(b, id, row);
    }
    pli_id places = pli_build_places(b);
    if (places)
        id = pli_build_onto(b, places, id);
    return pli_build_norm(b, id, "token_embd_norm", PLI_OF_FIRST);
}

static pli_id layer_of(pli_builder *b, pli_id hidden)
{
    if (b->il == 0)
        hidden = embedded(b, hidden);
    pli_id id = pli_build_attention(b, hidden);
    pli_build_last_rows(b, &id, &hidden);
    id = pli_build_norm(b, pli_build_onto(b, id, hidden), "attn_output_norm", PLI_OF_LAYER);
    if (pli_build_has(b, "attn_norm_2"))
        id = pli_build_norm(b, pli_build_onto(b, id, hidden), "attn_norm_2", PLI_OF_LAYER);
    pli_id fed = pli_build_layer_feed_forward(b, id);
    return pli_build_norm(b, pli_build_onto(b, fed, id), "layer_output_norm", PLI_OF_LAYER);
}

const pli_template pli_template_bert = {
    .fits = pli_dense_fits, .inputs = pli_build_attention_inputs, .layer = layer_of};
