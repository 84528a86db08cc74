/* The plimsoll.machine/1 document, out and in. */
#include <string.h>

#include "../base/context.h"
#include "../base/json.h"
#include "../base/limits.h"
#include "../base/status.h"
#include "inventory.h"

plim_status plim_machine_to_json(const plim_machine *machine, unsigned flags, char **text,
                                 size_t *length)
{
    return plim_record_to_json(&plim_record_machine, machine, flags, text, length);
}

static plim_status import(pli_inventory *inv, yyjson_val *root, plim_error *error)
{
    const char *path = NULL;
    const char *schema = yyjson_get_str(yyjson_obj_get(root, "schema"));
    if (!schema || strcmp(schema, "plimsoll.machine/1") != 0)
        return pli_fail(error, PLIM_VERSION, "machine document", PLIM_NO_OFFSET,
                        "\"schema\" is not \"plimsoll.machine/1\"");
    plim_status status =
        pli_record_from_json(inv->arena, &plim_record_machine, root, inv->machine, &path);
    if (status == PLIM_NOMEM || pli_arena_failed(inv->arena))
        return pli_fail(error, PLIM_NOMEM, "machine document", PLIM_NO_OFFSET, "out of memory");
    if (status != PLIM_OK)
        return pli_fail(error, status, "machine document", PLIM_NO_OFFSET,
                        "%s has a value of the wrong type", path ? path : "the document");
    return PLIM_OK;
}

plim_status plim_machine_from_json(plimsoll *context, const char *text, size_t length,
                                   plim_error *error, plim_machine **out)
{
    const plim_allocator *allocator = pli_context_allocator(context);
    pli_inventory inv;
    yyjson_doc *doc;
    *out = NULL;
    plim_status status =
        pli_json_read(allocator, text, length, PLI_MAX_JSON, "machine document", error, &doc);
    if (status != PLIM_OK)
        return status;
    status = pli_inventory_new(allocator, &inv);
    if (status == PLIM_OK) {
        status = import(&inv, yyjson_doc_get_root(doc), error);
        if (status == PLIM_OK)
            status = pli_inventory_freeze(&inv, out);
        else
            pli_inventory_free(&inv);
    }
    yyjson_doc_free(doc);
    return status;
}
