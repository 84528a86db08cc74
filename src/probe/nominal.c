/* What a device does not tell, from the table of chips: figures of the product, marked so. */
#include "../know/chips.h"
#include "probe.h"

static void run(pli_probe_context *context)
{
    for (size_t i = 0; i < pli_device_count(context->inv); i++) {
        plim_device *d = pli_device_at(context->inv, i);
        if (!PLIM_KNOWN(device, d, name) || pli_is_part(d))
            continue;
        const pli_chip *chip = pli_chip_find(pli_s(d->name));
        if (!chip)
            continue;
        if (chip->bandwidth_bytes_per_s)
            PLI_FILL(device, d, memory_bandwidth_bytes_per_s, chip->bandwidth_bytes_per_s, "table");
        if (chip->fp16)
            PLI_FILL(device, d, flops_fp16, chip->fp16, "table");
        if (chip->fp8)
            PLI_FILL(device, d, flops_fp8, chip->fp8, "table");
        if (chip->int8)
            PLI_FILL(device, d, flops_int8, chip->int8, "table");
    }
}

const pli_probe pli_probe_nominal = {.run = run};
