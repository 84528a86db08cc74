#include <plimsoll/plimsoll.h>
#include <stdio.h>

int main(void)
{
    plimsoll *context;
    plim_machine *machine;
    if (plim_open(NULL, &context) || plim_machine_detect(context, NULL, NULL, NULL, &machine))
        return 1;
    for (size_t i = 0; i < machine->devices.count; i++) {
        const plim_device *device = machine->devices.items[i];
        char memory[32] = "-"; /* unknown is not zero */
        if (PLIM_KNOWN(device, device, memory_total_bytes))
            plim_bytes_text(device->memory_total_bytes, memory, sizeof memory);
        printf("%s  %s\n", PLIM_KNOWN(device, device, name) ? device->name : "?", memory);
    }
    plim_machine_free(machine);
    plim_close(context);
    return 0;
}
