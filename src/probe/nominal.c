/* What a device does not tell, from the table of chips: figures of the product, marked so. */
#include "../know/chips.h"
#include "probe.h"

static void run(pli_probe_context *context)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        if (!PLIM_KNOWN(device, d, name) || pli_is_part(d) ||
            PLIM_KNOWN(device, d, memory_bandwidth_bytes_per_s))
            continue;
        const pli_chip *chip = pli_chip_find(pli_s(d->name));
        if (chip && chip->bandwidth_bytes_per_s)
            PLI_SET(device, d, memory_bandwidth_bytes_per_s, chip->bandwidth_bytes_per_s, "table");
    }
}

const pli_probe pli_probe_nominal = {.run = run};
