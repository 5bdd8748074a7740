#include "host/server_info.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/real.h"
#include "gpu/gpu.h"
#include "host/container.h"
#include "platform/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { GPUS_MAX = 256 };

static const double MIB = 1024.0 * 1024.0;

/* Drivers may need so long to be loaded. */
static const int64_t GPU_WAIT_NS = INT64_C(2000000000);

static double hundredths(double value)
{
    return trk__round(value * 100) / 100;
}

/* ---- processors and memory ----------------------------------------------------------- */

void trk__server_size(const struct trk_context *context, double *ret_vcpus, double *ret_memory_mib)
{
    *ret_vcpus = trk__machine_cpus(context);
    *ret_memory_mib = trk__machine_memory_bytes(context) / MIB;
}

/* ---- GPUs ---------------------------------------------------------------------------- */

struct gpu_names {
    char name[GPUS_MAX][sizeof((struct trk_gpu_info *)0)->name];
    unsigned count;
    double memory_bytes;
    char source[sizeof((struct trk_run_server *)0)->gpu_source];
};

/* Of a GPU that is split the parts count. */
static void collect_gpus(const struct trk_server_parts *parts, struct gpu_names *gpus)
{
    struct trk_gpu_info info = {.size = sizeof info};
    for (uint32_t i = 0; parts->gpu && parts->gpu(parts->gpu_state, i, &info) == 0; i++) {
        if (info.is_split || gpus->count == GPUS_MAX)
            continue;
        size_t len = strlen(gpus->source);
        if (!strstr(gpus->source, info.source))
            snprintf(gpus->source + len, sizeof gpus->source - len, "%s%s", len ? ", " : "",
                     info.source);
        memcpy(gpus->name[gpus->count++], info.name, sizeof info.name);
        gpus->memory_bytes += isnan(info.memory_bytes) ? 0 : info.memory_bytes;
    }
}

static const char *most_common(const struct gpu_names *gpus)
{
    const char *best = "";
    unsigned most = 0;
    for (unsigned i = 0; i < gpus->count; i++) {
        unsigned same = 0;
        for (unsigned j = 0; j < gpus->count; j++)
            same += strcmp(gpus->name[i], gpus->name[j]) == 0;
        if (same > most) {
            most = same;
            best = gpus->name[i];
        }
    }
    return best;
}

static int fill_gpus(const struct trk_server_parts *parts, struct trk_run_server *server)
{
    struct trk_gpu_info info = {.size = sizeof info};
    bool any = parts->gpu && parts->gpu(parts->gpu_state, 0, &info) == 0;
    TRK_CLEANUP_FREE struct gpu_names *gpus = any ? calloc(1, sizeof *gpus) : NULL;
    if (gpus)
        collect_gpus(parts, gpus);
    unsigned count = gpus ? gpus->count : 0;
    server->gpu_count = count;
    server->gpu_memory_mib = hundredths(gpus ? gpus->memory_bytes / MIB : 0);
    server->gpu_name = strdup(gpus ? most_common(gpus) : "");
    snprintf(server->gpu_source, sizeof server->gpu_source, "%s", gpus ? gpus->source : "");
    server->gpu_names = calloc(count + 1, sizeof *server->gpu_names);
    bool has_all = server->gpu_name && server->gpu_names;
    for (unsigned i = 0; has_all && i < count; i++)
        has_all = (server->gpu_names[i] = strdup(gpus->name[i])) != NULL;
    return has_all ? 0 : -ENOMEM;
}

/* ---- what the job may use ------------------------------------------------------------ */

static void fill_allowed(const struct trk_context *context, const struct trk_server_parts *parts,
                         struct trk_run_server *server)
{
    struct trk_limits limits = {0};
    unsigned allowed = trk__os_allowed_cpus();
    if (parts->limits)
        limits = *parts->limits;
    else
        trk__limits_read(context, &limits);
    if (allowed)
        server->vcpus_allowed = allowed;
    server->cpu_quota_cores = hundredths(limits.has_cpu ? limits.cpu_cores : NAN);
    server->memory_limit_mib =
        hundredths(limits.has_memory ? (double)limits.memory_bytes / MIB : NAN);
}

static int fill_orchestrators(struct trk_list *list)
{
    const char *name, *job;
    list->item = malloc(16 * sizeof(struct trk_run_orchestrator)); /* none is a list too */
    for (unsigned i = 0; list->item && trk__orchestrator_at(i, &name, &job); i++) {
        struct trk_run_orchestrator *item = trk__list_add(&trk__run_orchestrator_fields, list);
        if (!item)
            return -ENOMEM;
        item->object.present = TRK_OBJECT_ALL;
        item->name = strdup(name);
        item->job = job ? strdup(job) : NULL;
    }
    return list->item ? 0 : -ENOMEM;
}

int trk__server_find(const struct trk_context *context, const struct trk_server_parts *parts,
                     struct trk_run_server *server)
{
    struct utsname name;
    const char *container = trk__container_find(context);
    server->object.present = TRK_OBJECT_ALL;
    server->vcpus = trk__machine_cpus(context);
    server->memory_mib = hundredths(trk__machine_memory_bytes(context) / MIB);
    server->allocation = parts->allocation ? strdup(parts->allocation) : NULL;
    trk__machine_cpu_model(context, server->cpu_model, sizeof server->cpu_model);
    if (uname(&name) == 0) {
        snprintf(server->os, sizeof server->os, "%.31s", name.sysname);
        snprintf(server->architecture, sizeof server->architecture, "%.31s", name.machine);
    }
    snprintf(server->container, sizeof server->container, "%s", container ? container : "");
    fill_allowed(context, parts, server);
    int code = fill_gpus(parts, server);
    return code < 0 ? code : fill_orchestrators(&server->orchestrators);
}

/* ---- by itself ----------------------------------------------------------------------- */

static int gpu_at(const void *state, uint32_t index, struct trk_gpu_info *ret_info)
{
    return trk__gpu_info(state, index, ret_info);
}

static int find_with_gpus(const struct trk_context *context, struct trk_run_server *server)
{
    struct trk_gpu *gpu = NULL;
    struct trk_sample sample = {0};
    struct trk_server_parts parts = {0};
    if (trk__gpu_open(context, NULL, &gpu) == 0) {
        struct trk_gpu_look look = {.wait_ns = GPU_WAIT_NS, .age_limit_ns = GPU_WAIT_NS};
        trk__gpu_ask(gpu, NULL);
        trk__gpu_fill(gpu, &look, &sample);
        parts.gpu = gpu_at;
        parts.gpu_state = gpu;
    }
    int code = trk__server_find(context, &parts, server);
    trk__sample_done(&sample);
    trk__gpu_close(gpu);
    return code;
}

int trk_server_info_json(const char *root_path, char **ret_json, struct trk_error *error)
{
    struct trk_context context;
    int code = trk__context_init(&context, root_path, error);
    if (code < 0)
        return code;
    struct trk_run_server server;
    trk__fields_init(&trk__run_server_fields, &server);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    code = find_with_gpus(&context, &server);
    trk__context_done(&context);
    trk__fields_write(&json, &trk__run_server_fields, &server);
    trk__fields_done(&trk__run_server_fields, &server);
    if (code < 0 || text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "no memory for the facts of the machine");
    }
    *ret_json = text.data;
    return 0;
}
