#include "report/run_findings.h"

#include "base/cleanup.h"
#include "run/figures.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A GPU that was busy for less of the time was not used. */
static const double GPU_USED_SHARE = 0.01;

enum {
    ROWS_SECONDS,
    ROWS_CPU,
    ROWS_MEMORY,
    ROWS_GPU,
    ROWS_IO_PRESSURE,
    ROWS_MEMORY_PRESSURE,
    ROWS_DISK_FREE,
    ROWS_IO,
    ROWS_WRITTEN,
    ROWS_COUNT
};

static double least(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

/* What the job may use at once: cores of the machine, those it may run on, the quota. */
static double cores_available(const struct trk_run *run)
{
    return least(least(run->server.vcpus, run->server.vcpus_allowed), run->limits.cpu_cores);
}

static double gpus_idle(const struct trk_run *run)
{
    double idle = 0;
    for (size_t i = 0; i < run->gpus.count; i++) {
        double busy = TRK_RUN_GPU(run, i)->busy_share;
        if (isnan(busy))
            return i ? idle : NAN;
        idle += busy < GPU_USED_SHARE;
    }
    return run->gpus.count ? idle : NAN;
}

static double disk_total(const struct trk_run_view *view, const double *free_bytes)
{
    TRK_CLEANUP_FREE double *used = malloc((view->rows + 1) * sizeof *used);
    if (!used || !free_bytes || !view->rows || !trk__view_values(view, TRK_VIEW_SPACE_USED, used))
        return NAN;
    return used[view->rows - 1] + free_bytes[view->rows - 1];
}

static void take_scalars(struct trk_finding_facts *facts, const struct trk_run_view *view)
{
    const struct trk_run *run = view->run;
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    facts->wall_seconds = run->metadata.outcome.wall_seconds;
    if (isnan(facts->wall_seconds) && view->rows)
        facts->wall_seconds = view->times[view->rows - 1];
    facts->average_cores = isnan(run->totals.cpu.seconds) ? NAN : figures.cpu_mean_cores;
    facts->cores_available = cores_available(run);
    facts->cpu_quota_cores = run->limits.cpu_cores;
    facts->throttled_seconds = run->limits.throttled_seconds;
    facts->peak_memory_bytes = run->totals.memory.bytes;
    facts->memory_limit_bytes = run->limits.memory_bytes;
    facts->oom_kills = run->totals.oom_kills.value;
    facts->oom_limit_bytes = run->oom.limit_bytes;
    facts->oom_process_bytes = run->oom.held_bytes;
    facts->gpus = run->server.gpu_count;
    facts->gpus_idle = gpus_idle(run);
    memcpy(facts->oom_command, run->oom.command, sizeof facts->oom_command);
}

static const double *take_rows(const struct trk_run_view *view, enum trk_view_column column,
                               double *values)
{
    return trk__view_values(view, column, values) ? values : NULL;
}

static const double *take_moved_bytes(const struct trk_run_view *view, double *sum, double *written)
{
    bool reads = trk__view_values(view, TRK_VIEW_PROCESS_READ, sum);
    bool writes = trk__view_values(view, TRK_VIEW_PROCESS_WRITE, written);
    if (!reads || !writes)
        return NULL;
    for (size_t row = 0; row < view->rows; row++)
        sum[row] += written[row];
    return sum;
}

int trk__run_findings(const struct trk_run_view *view,
                      struct trk_finding ret_findings[TRK_FINDINGS_MAX])
{
    TRK_CLEANUP_FREE double *block = malloc((view->rows + 1) * ROWS_COUNT * sizeof *block);
    if (!block)
        return -ENOMEM;
    double *rows[ROWS_COUNT];
    for (int i = 0; i < ROWS_COUNT; i++)
        rows[i] = block + (size_t)i * (view->rows + 1);
    for (size_t row = 0; row < view->rows; row++)
        rows[ROWS_SECONDS][row] = trk__view_row_seconds(view, row);
    struct trk_finding_facts facts = {
        .rows = view->rows,
        .seconds = rows[ROWS_SECONDS],
        .cpu_cores = take_rows(view, TRK_VIEW_PROCESS_CPU, rows[ROWS_CPU]),
        .memory_bytes = take_rows(view, TRK_VIEW_PROCESS_MEMORY, rows[ROWS_MEMORY]),
        .gpu_usage = take_rows(view, TRK_VIEW_PROCESS_GPU, rows[ROWS_GPU]),
        .io_pressure = take_rows(view, TRK_VIEW_PRESSURE_IO, rows[ROWS_IO_PRESSURE]),
        .memory_pressure = take_rows(view, TRK_VIEW_PRESSURE_MEMORY, rows[ROWS_MEMORY_PRESSURE]),
        .disk_free_bytes = take_rows(view, TRK_VIEW_SPACE_FREE, rows[ROWS_DISK_FREE]),
        .io_bytes = take_moved_bytes(view, rows[ROWS_IO], rows[ROWS_WRITTEN]),
    };
    take_scalars(&facts, view);
    facts.disk_total_bytes = disk_total(view, facts.disk_free_bytes);
    return (int)trk__findings(&facts, ret_findings);
}
