/* The public face of the store and of a run. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"
#include "run/figures.h"
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX_BYTES = 1 << 30 };

struct trk_runs {
    char path[TRK_STORE_PATH_SIZE];
    struct trk_store_list list;
};

/* ---- the list ------------------------------------------------------------------------ */

int trk_runs_new(const char *folder, trk_runs **ret_runs, struct trk_error *error)
{
    TRK_CLEANUP_FREE struct trk_runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return trk__error_set(error, -ENOMEM, "no memory for the list of runs");
    int code = trk__store_path(folder, runs->path);
    if (code < 0)
        return trk__error_set(error, code, "no folder of runs: set HOME or XDG_STATE_HOME");
    code = trk__store_list(runs->path, &runs->list, error);
    if (code == 0)
        *ret_runs = TRK_STEAL(runs);
    return code;
}

void trk_runs_free(trk_runs *runs)
{
    if (!runs)
        return;
    trk__store_list_done(&runs->list);
    free(runs);
}

size_t trk_runs_count(const trk_runs *runs)
{
    return runs->list.count;
}

int trk_runs_at(const trk_runs *runs, size_t index, struct trk_run_info *ret_info)
{
    if (index >= runs->list.count)
        return -ERANGE;
    return trk__sized_give(ret_info, &runs->list.run[index].info, sizeof *ret_info);
}

int trk_runs_resolve(const trk_runs *runs, const char *run, char *ret_path, size_t size,
                     struct trk_error *error)
{
    const struct trk_store_run *found;
    int len;
    if (run && (strchr(run, '/') || access(run, F_OK) == 0)) {
        len = snprintf(ret_path, size, "%s", run);
    } else {
        int code = trk__store_match(&runs->list, run, &found, error);
        if (code < 0)
            return code;
        len = snprintf(ret_path, size, "%s/%s", runs->path, found->file);
    }
    if (len < 0 || (size_t)len >= size)
        return trk__error_set(error, -ENAMETOOLONG, "%.80s...: the name is too long", ret_path);
    return 0;
}

static int remove_run(trk_runs *runs, size_t index, bool force, struct trk_error *error)
{
    if (index >= runs->list.count)
        return trk__error_set(error, -ERANGE, "there is no such run");
    return trk__store_remove(runs->path, &runs->list.run[index], force, error);
}

int trk_runs_remove(trk_runs *runs, size_t index, struct trk_error *error)
{
    return remove_run(runs, index, false, error);
}

int trk_runs_remove_by_force(trk_runs *runs, size_t index, struct trk_error *error)
{
    return remove_run(runs, index, true, error);
}

/* ---- one run ------------------------------------------------------------------------- */

int trk_run_open(const char *run, trk_run **ret_run, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE] = "";
    int code = trk__store_path(NULL, store);
    if (code < 0 && !run)
        return trk__error_set(error, code,
                              "no folder of runs: set HOME or XDG_STATE_HOME, or name a snapshot "
                              "file");
    return trk__store_open(store, run, ret_run, error);
}

int trk_run_parse(const void *data, size_t len, trk_run **ret_run, struct trk_error *error)
{
    return trk__run_snapshot_read(data, len, "the snapshot", ret_run, error);
}

void trk_run_free(trk_run *run)
{
    trk__run_free(run);
}

void trk_run_describe(const trk_run *run, struct trk_run_info *ret_info)
{
    struct trk_run_info info;
    trk__run_describe(run, &info);
    trk__sized_give(ret_info, &info, sizeof info);
}

const char *trk_run_word(const trk_run *run, size_t index)
{
    char *const *words = run->metadata.identity.command;
    for (size_t i = 0; words && words[i]; i++)
        if (i == index)
            return words[i];
    return NULL;
}

void trk_run_numbers(const trk_run *run, struct trk_run_numbers *ret_numbers)
{
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    struct trk_run_numbers numbers = {
        .wall_seconds = figures.wall_seconds,
        .cpu_seconds = figures.cpu_seconds,
        .cpu_user_seconds = run->totals.cpu.user_seconds,
        .cpu_system_seconds = run->totals.cpu.system_seconds,
        .cpu_mean_cores = figures.cpu_mean_cores,
        .cpu_peak_cores = figures.cpu_peak_cores,
        .memory_peak_bytes = figures.memory_peak_bytes,
        .memory_mean_bytes = figures.memory_mean_bytes,
        .memory_low_bytes = figures.memory_low_bytes,
        .memory_high_bytes = figures.memory_high_bytes,
        .read_bytes = figures.read_bytes,
        .write_bytes = figures.write_bytes,
        .processes = run->totals.processes.value,
        .oom_kills = run->totals.oom_kills.value,
        .memory_limit_bytes = run->limits.memory_bytes,
        .cpu_limit_cores = run->limits.cpu_cores,
    };
    trk__sized_give(ret_numbers, &numbers, sizeof numbers);
}

int trk_run_stats(const trk_run *run, const char *name, struct trk_metric_stats *ret_stats)
{
    enum trk_metric metric = trk__metric_find(name);
    if (metric == TRK_METRIC_COUNT)
        return -ENOENT;
    trk__run_stat(run, metric, ret_stats);
    return 0;
}

int trk_run_process(const trk_run *run, size_t index, struct trk_process_info *ret_info)
{
    if (index >= run->processes.count)
        return -ERANGE;
    const struct trk_run_process *from = TRK_RUN_PROCESS(run, index);
    int code = isnan(from->exit_code) ? -1 : (int)from->exit_code;
    struct trk_process_info info = {
        .pid = from->pid > 0 ? (pid_t)from->pid : 0,
        .ppid = from->ppid > 0 ? (pid_t)from->ppid : 0,
        .count = from->count ? (uint32_t)from->count : 1,
        .start_time = from->start_time,
        .end_time = from->end_time,
        .exit_status = isnan(from->exit_code) ? -1
                       : code < 0             ? -code
                                              : code << 8,
        .cpu_seconds = from->cpu_seconds,
        .peak_rss_bytes = from->peak_rss_bytes,
        .read_bytes = from->read_bytes,
        .write_bytes = from->write_bytes,
        .source = from->source,
    };
    snprintf(info.command, sizeof info.command, "%.15s", from->command);
    return trk__sized_give(ret_info, &info, sizeof info);
}

int trk_run_gpu(const trk_run *run, size_t index, struct trk_gpu_info *ret_info)
{
    if (index >= run->gpus.count)
        return -ERANGE;
    const struct trk_run_gpu *from = TRK_RUN_GPU(run, index);
    struct trk_gpu_info info = {.memory_bytes = from->memory_bytes, .is_split = from->is_split};
    memcpy(info.name, from->name, sizeof info.name);
    memcpy(info.uuid, from->uuid, sizeof info.uuid);
    memcpy(info.pci, from->pci, sizeof info.pci);
    memcpy(info.vendor, from->vendor, sizeof info.vendor);
    return trk__sized_give(ret_info, &info, sizeof info);
}

int trk_run_json(const trk_run *run, char **ret_json, struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_MAX_BYTES);
    int code = trk__run_snapshot_put(run, &text);
    if (code < 0) {
        trk__buffer_done(&text);
        return trk__error_set(error, code, "the snapshot does not fit: %s", strerror(-code));
    }
    *ret_json = text.data;
    return 0;
}
