#include "host/container.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CGROUP_TEXT_SIZE = 4096 };

/* Words in the cgroup's path. With a cgroup namespace the path is "/" and tells nothing. */
static const struct {
    const char *word, *name;
} cgroup_words[] = {
    {"kubepods", "kubernetes"},   {"libpod", "podman"}, {"docker", "docker"},
    {"containerd", "containerd"}, {"lxc", "lxc"},
};

/* What systemd and others set for the first process of a container, and what that hands down. */
static const char *from_variable(void)
{
    static const char *const known[] = {"docker",    "podman",      "lxc", "systemd-nspawn",
                                        "apptainer", "singularity", "oci"};
    const char *value = getenv("container");
    for (size_t i = 0; value && i < sizeof known / sizeof *known; i++)
        if (strcmp(value, known[i]) == 0)
            return known[i];
    if (getenv("APPTAINER_CONTAINER"))
        return "apptainer";
    return getenv("SINGULARITY_CONTAINER") ? "singularity" : NULL;
}

static const char *from_cgroup(const struct trk_context *context)
{
    char text[CGROUP_TEXT_SIZE];
    if (trk__file_read_small_at(context->proc_fd, "self/cgroup", text, sizeof text) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof cgroup_words / sizeof *cgroup_words; i++)
        if (strstr(text, cgroup_words[i].word))
            return cgroup_words[i].name;
    return NULL;
}

const char *trk__container_find(const struct trk_context *context)
{
    if (getenv("KUBERNETES_SERVICE_HOST"))
        return "kubernetes";
    if (faccessat(context->root_fd, "run/.containerenv", F_OK, 0) == 0)
        return "podman";
    if (faccessat(context->root_fd, ".dockerenv", F_OK, 0) == 0)
        return "docker";
    const char *name = from_variable();
    return name ? name : from_cgroup(context);
}

/* Who sets `sign` for its jobs, and the variable with the job's name. */
static const struct {
    const char *name, *sign, *job;
} orchestrators[] = {
    {"metaflow", "METAFLOW_RUN_ID", "METAFLOW_RUN_ID"},
    {"metaflow", "METAFLOW_FLOW_NAME", "METAFLOW_FLOW_NAME"},
    {"nextflow", "NXF_TASK_WORKDIR", "NXF_TASK_WORKDIR"},
    {"airflow", "AIRFLOW_CTX_TASK_ID", "AIRFLOW_CTX_TASK_ID"},
    {"argo", "ARGO_NODE_ID", "ARGO_NODE_ID"},
    {"slurm", "SLURM_JOB_ID", "SLURM_JOB_ID"},
    {"pbs", "PBS_JOBID", "PBS_JOBID"},
    {"lsf", "LSB_JOBID", "LSB_JOBID"},
    {"htcondor", "_CONDOR_JOB_AD", "_CONDOR_JOB_IWD"},
    {"aws-batch", "AWS_BATCH_JOB_ID", "AWS_BATCH_JOB_ID"},
    {"github-actions", "GITHUB_ACTIONS", "GITHUB_RUN_ID"},
    {"gitlab-ci", "GITLAB_CI", "CI_JOB_ID"},
    {"kubernetes", "KUBERNETES_SERVICE_HOST", "HOSTNAME"},
};

bool trk__orchestrator_at(unsigned index, const char **ret_name, const char **ret_job)
{
    const char *last = "";
    for (size_t i = 0; i < sizeof orchestrators / sizeof *orchestrators; i++) {
        if (strcmp(orchestrators[i].name, last) == 0 || !getenv(orchestrators[i].sign))
            continue;
        last = orchestrators[i].name;
        if (index-- > 0)
            continue;
        *ret_name = last;
        *ret_job = getenv(orchestrators[i].job);
        return true;
    }
    return false;
}
