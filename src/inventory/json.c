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

#define SUBJECT "machine document"

static plim_status check_schema(yyjson_val *root, plim_error *error)
{
    const char *schema = yyjson_get_str(yyjson_obj_get(root, "schema"));
    if (schema && strcmp(schema, "plimsoll.machine/1") == 0)
        return PLIM_OK;
    if (schema)
        return pli_fail(error, PLIM_VERSION, SUBJECT, PLIM_NO_OFFSET,
                        "its schema is \"%.100s\", not \"plimsoll.machine/1\"", schema);
    return pli_fail(error, PLIM_VERSION, SUBJECT, PLIM_NO_OFFSET, "it names no schema");
}

static plim_status check_count(const char *what, size_t count, size_t max, plim_error *error)
{
    if (count <= max)
        return PLIM_OK;
    return pli_fail(error, PLIM_LIMIT, SUBJECT, PLIM_NO_OFFSET, "%zu %s, at most %zu", count, what,
                    max);
}

/* Devices stand where their index says, wholes before their parts; links join two of them. Planning
 * takes these numbers as places in the list. */
static plim_status check_places(const plim_machine *m, plim_error *error)
{
    for (size_t i = 0; i < m->devices.count; i++) {
        const plim_device *d = m->devices.items[i];
        if (PLIM_KNOWN(device, d, index) && d->index != i)
            return pli_fail(error, PLIM_PARSE, SUBJECT, PLIM_NO_OFFSET,
                            "devices[%zu].index is not its place", i);
        if (PLIM_KNOWN(device, d, parent) && d->parent >= i)
            return pli_fail(error, PLIM_PARSE, SUBJECT, PLIM_NO_OFFSET,
                            "devices[%zu].parent is no device before it", i);
    }
    for (size_t i = 0; i < m->links.count; i++) {
        const plim_link *link = m->links.items[i];
        if ((PLIM_KNOWN(link, link, a) && link->a >= m->devices.count) ||
            (PLIM_KNOWN(link, link, b) && link->b >= m->devices.count))
            return pli_fail(error, PLIM_PARSE, SUBJECT, PLIM_NO_OFFSET,
                            "links[%zu] joins a device that is not there", i);
    }
    return PLIM_OK;
}

static plim_status check(const plim_machine *m, plim_error *error)
{
    size_t nodes = PLIM_KNOWN(machine, m, numa) ? m->numa->nodes.count : 0;
    plim_status status = check_count("devices", m->devices.count, PLI_MAX_DEVICES, error);
    if (status == PLIM_OK)
        status = check_count("notes", m->notes.count, PLI_MAX_NOTES, error);
    if (status == PLIM_OK)
        status = check_count("NUMA nodes", nodes, PLI_MAX_NUMA_NODES, error);
    return status == PLIM_OK ? check_places(m, error) : status;
}

static plim_status import(pli_inventory *inv, yyjson_val *root, plim_error *error)
{
    pli_misfit misfit;
    plim_status status = check_schema(root, error);
    if (status != PLIM_OK)
        return status;
    status = pli_record_from_json(inv->arena, &plim_record_machine, root, inv->machine, &misfit);
    if (status == PLIM_OK)
        return check(inv->machine, error);
    if (status == PLIM_NOMEM)
        return pli_fail(error, PLIM_NOMEM, SUBJECT, PLIM_NO_OFFSET, "out of memory");
    return pli_fail(error, status, SUBJECT, PLIM_NO_OFFSET, "%s %s",
                    misfit.path && *misfit.path ? misfit.path : "it", misfit.what);
}

plim_status plim_machine_from_json(plimsoll *context, const char *text, size_t length,
                                   plim_error *error, plim_machine **out)
{
    const plim_allocator *allocator = pli_context_allocator(context);
    pli_inventory inv;
    yyjson_doc *doc;
    *out = NULL;
    plim_status status = pli_json_read(allocator, text, length, PLI_MAX_JSON, SUBJECT, error, &doc);
    if (status != PLIM_OK)
        return status;
    status = pli_inventory_new(allocator, &inv);
    if (status == PLIM_OK) {
        status = import(&inv, yyjson_doc_get_root(doc), error);
        if (status == PLIM_OK)
            status = pli_inventory_freeze(&inv, out);
        else
            pli_inventory_free(&inv);
    } else {
        (void)pli_fail(error, status, SUBJECT, PLIM_NO_OFFSET, "out of memory");
    }
    yyjson_doc_free(doc);
    return status;
}
