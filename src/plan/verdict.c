#include "verdict.h"

const char *pli_grade_name(pli_grade grade)
{
    static const char *const names[] = {"passed", "warning", "failed", "unknown"};
    return names[grade];
}

uint64_t pli_needed(const pli_plan *plan, const pli_sites *sites, size_t site)
{
    uint64_t needed = plan->at[site].used;
    if (site != sites->devices)
        return needed;
    for (size_t i = 0; i < sites->devices; i++)
        if (sites->at[i].shared)
            needed = pli_add_sat(needed, pli_sub_sat(plan->at[i].used, sites->at[i].own));
    return needed;
}

bool pli_utilization(const pli_plan *plan, const pli_sites *sites, size_t site, double *out)
{
    uint64_t needed = pli_needed(plan, sites, site);
    *out = 0;
    if (needed == 0 || sites->at[site].unlimited)
        return true;
    if (!sites->at[site].budget_known)
        return false;
    uint64_t budget = sites->at[site].budget;
    *out = (double)needed / (double)pli_larger(budget, 1);
    return true;
}

/* More than the memory's whole size is too much, whoever says what is free. */
static bool exceeds_total(const pli_site *site, uint64_t needed)
{
    return site->total_known && !site->unlimited && needed > site->total;
}

static void judge_site(const pli_sites *sites, const pli_plan *plan, size_t i, pli_verdict *out,
                       bool *over)
{
    const pli_site *site = &sites->at[i];
    uint64_t needed = pli_needed(plan, sites, i);
    double u;
    *over |= exceeds_total(site, needed);
    if (!pli_utilization(plan, sites, i, &u)) {
        out->utilization_known = out->loads_known = false;
        return;
    }
    if (u > out->utilization) {
        out->utilization = u;
        out->worst = i;
    }
    if (needed && !site->unlimited && needed > site->free)
        out->loads = false;
}

void pli_judge(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
               const pli_plan *plan, pli_verdict *out)
{
    bool over = false;
    *out = (pli_verdict){
        .worst = sites->devices, .utilization_known = true, .loads = true, .loads_known = true};
    for (size_t i = 0; i <= sites->devices; i++)
        judge_site(sites, plan, i, out, &over);
    out->too_short = !setup->context_given && shape->trained > PLI_MIN_CONTEXT &&
                     setup->context_per_sequence < PLI_MIN_CONTEXT;
    if (over) { /* certain, also where another memory is unknown */
        out->loads = false;
        out->loads_known = true;
    }
    if (over || out->too_short || out->utilization > setup->line_warning)
        out->mark = PLI_FAILED;
    else if (!out->utilization_known)
        out->mark = PLI_UNKNOWN;
    else
        out->mark = out->utilization > setup->line_passed ? PLI_WARNING : PLI_PASSED;
}
