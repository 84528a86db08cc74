/* What this system runs in: container, virtual machine, cloud, batch system; what board it is. */
#include <string.h>

#include "../base/num.h"
#include "cgroup.h"
#include "environment.h"
#include "memory_limits.h"
#include "shared.h"

static void batch_system(pli_probe_context *context, plim_environment *e)
{
    static const char *const gpu_lists[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"};
    pli_machine *m = context->m;
    uint64_t number;
    const char *job = pli_env(m, "SLURM_JOB_ID");
    if (!job)
        return;
    PLI_SET_STR(environment, e, slurm_job_id, pli_text(context->inv, pli_s(job)), "environment");
    if (pli_parse_u64(pli_s(pli_env(m, "SLURM_CPUS_ON_NODE")), &number))
        PLI_SET(environment, e, slurm_cpus, number, "environment");
    if (pli_slurm_memory(m, &number))
        PLI_SET(environment, e, slurm_memory_bytes, number, "environment");
    for (size_t i = 0; i < sizeof gpu_lists / sizeof *gpu_lists; i++)
        if (!PLIM_KNOWN(environment, e, slurm_gpus))
            PLI_SET_STR(environment, e, slurm_gpus,
                        pli_text(context->inv, pli_s(pli_env(m, gpu_lists[i]))), "environment");
}

static void board(pli_probe_context *context, plim_environment *e)
{
    pli_str model = pli_read_wordf(context->m, context->scratch, "/proc/device-tree/model");
    if (model.n == 0)
        model = pli_read_wordf(context->m, context->scratch, "/sys/firmware/devicetree/base/model");
    PLI_SET_STR(environment, e, device_tree_model, pli_text(context->inv, model), "device tree");
}

static void windows_subsystem(pli_probe_context *context, plim_environment *e)
{
    pli_str release = pli_kernel_release(context);
    if (release.n)
        PLI_SET(environment, e, wsl, pli_contains_nocase(release, "microsoft"), "uname");
}

static void run(pli_probe_context *context)
{
    plim_environment *e = pli_environment_of(context->inv);
    if (!e)
        return;
    PLI_SET_STR(environment, e, cgroup_version, pli_cgroup_version(context), "proc");
    windows_subsystem(context, e);
    pli_container_find(context, e);
    pli_firmware_read(context, e);
    board(context, e);
    pli_virtualization_find(context, e);
    batch_system(context, e);
}

const pli_probe pli_probe_host_env = {.run = run};
