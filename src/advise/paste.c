#include "advise/paste.h"

#include "advise/rounding.h"
#include "base/real.h"

#include <errno.h>
#include <string.h>

static bool wants_gpu(const struct trk_advice_level *level)
{
    return level->gpu_devices > 0;
}

static double in_mib(double bytes)
{
    return trk__ceil(bytes / TRK_MIB);
}

/* For those who mean 10^6 bytes, or do not say what they mean. */
static double in_megabytes(double bytes)
{
    return trk__ceil(bytes / 1e6);
}

/* Reasons stand above, one a line: not every form takes a comment behind a value. */
static void add_reasons(const char *comment, const struct trk_advice_level *level,
                        struct trk_buffer *text)
{
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, "%s cpu: %s\n", comment, level->cpu_reason);
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "%s memory: %s; chance that the next run needs more: %.2g %%\n",
                           comment, level->memory_reason, 100 * level->memory_risk);
    if (wants_gpu(level))
        trk__buffer_printf(text, "%s gpu: %s\n", comment, level->gpu_reason);
}

static void add_metaflow(const struct trk_advice_level *level, struct trk_buffer *text)
{
    const char *comma = "";
    trk__buffer_add_text(text, "@resources(");
    if (!isnan(level->cpu_cores)) {
        trk__buffer_printf(text, "cpu=%.0f", level->cpu_cores);
        comma = ", ";
    }
    if (!isnan(level->memory_bytes)) {
        trk__buffer_printf(text, "%smemory=%.0f", comma, in_megabytes(level->memory_bytes));
        comma = ", ";
    }
    if (wants_gpu(level))
        trk__buffer_printf(text, "%sgpu=%.0f", comma, level->gpu_devices);
    trk__buffer_add_text(text, ")\n");
}

static void add_slurm(const struct trk_advice_level *level, struct trk_buffer *text)
{
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, "#SBATCH --cpus-per-task=%.0f\n", level->cpu_cores);
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "#SBATCH --mem=%.0fM\n", in_mib(level->memory_bytes));
    if (wants_gpu(level))
        trk__buffer_printf(text, "#SBATCH --gpus=%.0f\n", level->gpu_devices);
}

/* No limit on CPU: it would throttle the job where the node has cores to spare. */
static void add_kubernetes(const struct trk_advice_level *level, struct trk_buffer *text)
{
    trk__buffer_add_text(text, "resources:\n  requests:\n");
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, "    cpu: \"%.0f\"\n", level->cpu_cores);
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "    memory: %.0fMi\n", in_mib(level->memory_bytes));
    if (isnan(level->memory_bytes) && !wants_gpu(level))
        return;
    trk__buffer_add_text(text, "  limits:\n");
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "    memory: %.0fMi\n", in_mib(level->memory_bytes));
    if (wants_gpu(level))
        trk__buffer_printf(text, "    nvidia.com/gpu: %.0f\n", level->gpu_devices);
}

/* Nextflow's MB is 2^20 bytes. */
static void add_nextflow(const struct trk_advice_level *level, struct trk_buffer *text)
{
    trk__buffer_add_text(text, "process {\n");
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, "    cpus = %.0f\n", level->cpu_cores);
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "    memory = %.0f.MB\n", in_mib(level->memory_bytes));
    if (wants_gpu(level))
        trk__buffer_printf(text, "    accelerator = %.0f\n", level->gpu_devices);
    trk__buffer_add_text(text, "}\n");
}

static void add_snakemake(const struct trk_advice_level *level, struct trk_buffer *text)
{
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, "threads: %.0f\n", level->cpu_cores);
    if (isnan(level->memory_bytes) && !wants_gpu(level))
        return;
    trk__buffer_add_text(text, "resources:\n");
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, "    mem_mb=%.0f,\n", in_megabytes(level->memory_bytes));
    if (wants_gpu(level))
        trk__buffer_printf(text, "    gpu=%.0f,\n", level->gpu_devices);
}

static void add_docker(const struct trk_advice_level *level, struct trk_buffer *text)
{
    trk__buffer_add_text(text, "docker run");
    if (!isnan(level->cpu_cores))
        trk__buffer_printf(text, " --cpus=%.0f", level->cpu_cores);
    if (!isnan(level->memory_bytes))
        trk__buffer_printf(text, " --memory=%.0fm", in_mib(level->memory_bytes));
    if (wants_gpu(level))
        trk__buffer_printf(text, " --gpus=%.0f", level->gpu_devices);
    trk__buffer_add_text(text, " IMAGE\n");
}

static void add_requirement(const char *type, double value, const char **comma,
                            struct trk_buffer *text)
{
    trk__buffer_printf(text, "%s{type=%s,value=%.0f}", *comma, type, value);
    *comma = ",";
}

static void add_aws_batch(const struct trk_advice_level *level, struct trk_buffer *text)
{
    const char *comma = "";
    trk__buffer_add_text(text, "--container-overrides 'resourceRequirements=[");
    if (!isnan(level->cpu_cores))
        add_requirement("VCPU", level->cpu_cores, &comma, text);
    if (!isnan(level->memory_bytes))
        add_requirement("MEMORY", in_mib(level->memory_bytes), &comma, text);
    if (wants_gpu(level))
        add_requirement("GPU", level->gpu_devices, &comma, text);
    trk__buffer_add_text(text, "]'\n");
}

static const struct {
    const char *name;
    const char *comment;
    void (*add)(const struct trk_advice_level *level, struct trk_buffer *text);
} forms[] = {
    {"metaflow", "#", add_metaflow},     {"slurm", "#", add_slurm},
    {"kubernetes", "#", add_kubernetes}, {"nextflow", "//", add_nextflow},
    {"snakemake", "#", add_snakemake},   {"docker", "#", add_docker},
    {"aws-batch", "#", add_aws_batch},
};

const char *trk__paste_name(size_t index)
{
    return index < sizeof forms / sizeof *forms ? forms[index].name : NULL;
}

int trk__paste(const char *form, const struct trk_advice_level *level, struct trk_buffer *text)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, form) != 0)
            continue;
        add_reasons(forms[i].comment, level, text);
        forms[i].add(level, text);
        return text->failure;
    }
    return -ENOENT;
}
