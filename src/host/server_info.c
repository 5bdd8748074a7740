#include "host/server_info.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/real.h"
#include "gpu/gpu.h"
#include "host/container.h"
#include "platform/os.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

enum { GPUS_MAX = 256 };

static const double MIB = 1024.0 * 1024.0;

/* Drivers may need so long to be loaded. */
static const int64_t GPU_WAIT_NS = INT64_C(2000000000);

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text);
}

static void put_hundredths(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_double(json, trk__round(value * 100) / 100);
}

/* ---- processors and memory ----------------------------------------------------------- */

void trk__server_size(const struct trk_context *context, double *ret_vcpus, double *ret_memory_mib)
{
    *ret_vcpus = trk__machine_cpus(context);
    *ret_memory_mib = trk__machine_memory_bytes(context) / MIB;
}

static void put_machine(struct trk_json *json, const struct trk_context *context)
{
    struct utsname name;
    put_text(json, "os", uname(&name) == 0 ? name.sysname : NULL);
    trk__json_key(json, "vcpus");
    trk__json_u64(json, trk__machine_cpus(context));
    put_hundredths(json, "memory_mb", trk__machine_memory_bytes(context) / MIB);
}

static void put_processor(struct trk_json *json, const struct trk_context *context)
{
    char model[96];
    struct utsname name;
    put_text(json, "cpu_model",
             trk__machine_cpu_model(context, model, sizeof model) ? model : NULL);
    put_text(json, "architecture", uname(&name) == 0 ? name.machine : NULL);
}

/* ---- GPUs ---------------------------------------------------------------------------- */

struct gpu_names {
    char name[GPUS_MAX][sizeof((struct trk_gpu_info *)0)->name];
    unsigned count;
    double memory_bytes;
};

/* Of a GPU that is split the parts count. */
static void collect_gpus(const struct trk_server_parts *parts, struct gpu_names *gpus)
{
    struct trk_gpu_info info = {.size = sizeof info};
    for (uint32_t i = 0; parts->gpu && parts->gpu(parts->gpu_state, i, &info) == 0; i++) {
        if (info.is_split || gpus->count == GPUS_MAX)
            continue;
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

static void put_gpus(struct trk_json *json, const struct trk_server_parts *parts)
{
    struct trk_gpu_info info = {.size = sizeof info};
    bool any = parts->gpu && parts->gpu(parts->gpu_state, 0, &info) == 0;
    TRK_CLEANUP_FREE struct gpu_names *gpus = any ? calloc(1, sizeof *gpus) : NULL;
    if (gpus)
        collect_gpus(parts, gpus);
    trk__json_key(json, "gpu_count");
    trk__json_u64(json, gpus ? gpus->count : 0);
    trk__json_key(json, "gpu_names");
    trk__json_begin_array(json);
    for (unsigned i = 0; gpus && i < gpus->count; i++)
        trk__json_string(json, gpus->name[i]);
    trk__json_end_array(json);
    put_text(json, "gpu_name", gpus ? most_common(gpus) : "");
    put_hundredths(json, "gpu_memory_mb", gpus ? gpus->memory_bytes / MIB : 0);
}

/* ---- what the job may use ------------------------------------------------------------ */

static void put_allowed(struct trk_json *json, const struct trk_context *context,
                        const struct trk_server_parts *parts)
{
    struct trk_limits limits = {0};
    unsigned allowed = trk__os_allowed_cpus();
    if (parts->limits)
        limits = *parts->limits;
    else
        trk__limits_read(context, &limits);
    trk__json_key(json, "vcpus_allowed");
    if (allowed)
        trk__json_u64(json, allowed);
    else
        trk__json_null(json);
    put_hundredths(json, "cpu_quota_cores", limits.has_cpu ? limits.cpu_cores : NAN);
    put_hundredths(json, "memory_limit_mb",
                   limits.has_memory ? (double)limits.memory_bytes / MIB : NAN);
}

static void put_orchestrators(struct trk_json *json)
{
    const char *name, *job;
    trk__json_key(json, "orchestrators");
    trk__json_begin_array(json);
    for (unsigned i = 0; trk__orchestrator_at(i, &name, &job); i++) {
        trk__json_begin_object(json);
        put_text(json, "name", name);
        put_text(json, "job", job);
        trk__json_end_object(json);
    }
    trk__json_end_array(json);
}

void trk__server_put(struct trk_json *json, const struct trk_context *context,
                     const struct trk_server_parts *parts)
{
    trk__json_begin_object(json);
    put_machine(json, context);
    put_gpus(json, parts);
    put_text(json, "allocation", parts->allocation);
    put_processor(json, context);
    put_allowed(json, context, parts);
    put_text(json, "container", trk__container_find(context));
    put_orchestrators(json);
    trk__json_end_object(json);
}

/* ---- by itself ----------------------------------------------------------------------- */

static int gpu_at(const void *state, uint32_t index, struct trk_gpu_info *ret_info)
{
    return trk__gpu_info(state, index, ret_info);
}

static void put_with_gpus(struct trk_json *json, const struct trk_context *context)
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
    trk__server_put(json, context, &parts);
    trk__sample_done(&sample);
    trk__gpu_close(gpu);
}

int trk_server_info_json(const char *root_path, char **ret_json, struct trk_error *error)
{
    struct trk_context context;
    int code = trk__context_init(&context, root_path, error);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    put_with_gpus(&json, &context);
    trk__context_done(&context);
    if (text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "no memory for the facts of the machine");
    }
    *ret_json = text.data;
    return 0;
}
