#include "verdict.h"

#include <math.h>

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

/* ---- contexts -------------------------------------------------------------------------------- */

/* Utilization with this context; a number above any line where the engine refuses it. */
static double utilization_at(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                             pli_plan *plan, uint64_t context)
{
    pli_setup with = *setup;
    pli_verdict verdict;
    if (pli_setup_context(&with, context, NULL) || pli_place_context(shape, &with, sites, plan))
        return HUGE_VAL;
    pli_judge(shape, &with, sites, plan, &verdict);
    return verdict.utilization_known ? verdict.utilization : HUGE_VAL;
}

/* Between two steps of which only the lower stays under the line. Memory grows almost evenly with
 * the context, so the line is met where a straight line meets it; every third guess is the middle,
 * so that the search ends soon whatever the curve. */
static uint64_t next_guess(uint64_t low, double at_low, uint64_t high, double at_high, double line,
                           unsigned round)
{
    double part = 0.5;
    if (round % 3 != 2 && at_high < HUGE_VAL && at_high > at_low)
        part = (line - at_low) / (at_high - at_low);
    uint64_t guess = low + (uint64_t)(part * (double)(high - low));
    return guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
}

bool pli_max_context(const pli_shape *shape, const pli_setup *setup, const pli_sites *sites,
                     const pli_plan *plan, uint64_t *out)
{
    pli_plan scratch = *plan;
    pli_verdict verdict;
    double line = setup->line_warning;
    uint64_t limit = shape->trained ? shape->trained : setup->context;
    if (setup->context_given)
        limit = pli_larger(limit, setup->context);
    *out = 0;
    pli_judge(shape, setup, sites, plan, &verdict);
    if (!verdict.utilization_known)
        return false;
    double at_high = utilization_at(shape, setup, sites, &scratch, limit);
    if (at_high <= line) {
        *out = limit;
        return true;
    }
    /* In steps: low stays under the line, high does not. */
    uint64_t low = 1, high = limit / PLI_CONTEXT_STEP + 1;
    double at_low = utilization_at(shape, setup, sites, &scratch, PLI_CONTEXT_STEP);
    if (at_low > line)
        return true;
    for (unsigned round = 0; high - low > 1; round++) {
        uint64_t guess = next_guess(low, at_low, high, at_high, line, round);
        double at = utilization_at(shape, setup, sites, &scratch, guess * PLI_CONTEXT_STEP);
        if (at <= line) {
            low = guess;
            at_low = at;
        } else {
            high = guess;
            at_high = at;
        }
    }
    *out = low * PLI_CONTEXT_STEP;
    return true;
}
