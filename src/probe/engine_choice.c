/* The engine that suits this machine, by the rows of know/engines.def. */
#include <string.h>

#include "../base/num.h"
#include "../know/engines.h"
#include "probe.h"

/* "8.9" is 89, 0 where it is unknown. */
static unsigned capability_of(const plim_device *d)
{
    double value;
    if (!PLIM_KNOWN(device, d, compute_capability) ||
        !pli_parse_f64(pli_s(d->compute_capability), &value) || value < 0 || value > 1000)
        return 0;
    return (unsigned)(value * 10 + 0.5);
}

static bool device_holds(const pli_engine_rule *rule, const plim_device *d)
{
    if (!PLIM_KNOWN(device, d, family) || !PLIM_KNOWN(device, d, kind) ||
        !PLIM_KNOWN(device, d, available) || !d->available)
        return false;
    bool integrated = PLIM_KNOWN(device, d, integrated) && d->integrated;
    return strcmp(d->family, rule->family) == 0 && strcmp(d->kind, rule->kind) == 0 &&
           (rule->integrated == PLI_ANY || integrated == (rule->integrated == PLI_YES)) &&
           capability_of(d) >= rule->capability;
}

static const plim_device *find_device(const pli_inventory *inv, const pli_engine_rule *rule)
{
    for (size_t i = 0; i < pli_device_count(inv); i++)
        if (device_holds(rule, pli_device_at(inv, i)))
            return pli_device_at(inv, i);
    return NULL;
}

static bool cpu_has(const plim_cpu *cpu, const char *isa)
{
    for (size_t i = 0; PLIM_KNOWN(cpu, cpu, isa) && i < cpu->isa.count; i++)
        if (strcmp(cpu->isa.items[i], isa) == 0)
            return true;
    return false;
}

static void recommend(pli_probe_context *context, const pli_engine_rule *rule, const char *reason)
{
    plim_recommended_engine *r = PLI_NEW(context->inv->arena, recommended_engine);
    if (!r)
        return;
    PLI_SET(recommended_engine, r, name, rule->engine, "table");
    PLI_SET_STR(recommended_engine, r, reason, reason, "table");
    PLI_SET(machine, context->inv->machine, recommended_engine, r, NULL);
}

static void run(pli_probe_context *context)
{
    const plim_cpu *cpu = context->inv->machine->cpu;
    bool something = pli_device_count(context->inv) > 0 ||
                     (cpu && (PLIM_KNOWN(cpu, cpu, isa) || PLIM_KNOWN(cpu, cpu, logical_cpus)));
    const pli_engine_rule *rule;
    /* Of a machine that nothing is known of nothing is recommended. */
    for (size_t i = 0; something && (rule = pli_engine_rule_at(i)) != NULL; i++) {
        const plim_device *d = rule->family ? find_device(context->inv, rule) : NULL;
        const char *name = d && PLIM_KNOWN(device, d, name) ? d->name : NULL;
        if (name)
            recommend(context, rule, pli_printf(context->inv->arena, "%s: %s", name, rule->reason));
        else if (d || (rule->isa && cpu && cpu_has(cpu, rule->isa)) ||
                 (!rule->family && !rule->isa))
            recommend(context, rule, rule->reason);
        else
            continue;
        return;
    }
}

const pli_probe pli_probe_engine_choice = {.run = run};
