#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trk_run *trk__run_new(void)
{
    struct trk_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->last_write_time = NAN;
    trk__fields_init(&trk__run_tracker_fields, &run->tracker);
    trk__fields_init(&trk__run_metadata_fields, &run->metadata);
    trk__fields_init(&trk__run_server_fields, &run->server);
    trk__fields_init(&trk__run_cloud_fields, &run->cloud);
    trk__fields_init(&trk__run_totals_fields, &run->totals);
    trk__fields_init(&trk__run_limits_fields, &run->limits);
    trk__fields_init(&trk__run_oom_fields, &run->oom);
    trk__fields_init(&trk__run_downsampled_fields, &run->downsampled);
    trk__series_init(&run->process, TRK_SCOPE_PROCESS, TRK_SCHEMA_V2);
    trk__series_init(&run->system, TRK_SCOPE_SYSTEM, TRK_SCHEMA_V2);
    trk__series_init(&run->detail, TRK_SCOPE_ROW, TRK_SCHEMA_FULL);
    return run;
}

void trk__run_free(struct trk_run *run)
{
    if (!run)
        return;
    trk__fields_done(&trk__run_tracker_fields, &run->tracker);
    trk__fields_done(&trk__run_metadata_fields, &run->metadata);
    trk__fields_done(&trk__run_server_fields, &run->server);
    trk__fields_done(&trk__run_cloud_fields, &run->cloud);
    trk__fields_done(&trk__run_totals_fields, &run->totals);
    trk__fields_done(&trk__run_limits_fields, &run->limits);
    trk__fields_done(&trk__run_oom_fields, &run->oom);
    trk__fields_done(&trk__run_downsampled_fields, &run->downsampled);
    trk__list_done(&trk__run_gpu_fields, &run->gpus);
    trk__list_done(&trk__run_process_fields, &run->processes);
    trk__list_done(&trk__run_event_fields, &run->events);
    trk__list_done(&trk__run_stat_fields, &run->stats);
    trk__series_done(&run->process);
    trk__series_done(&run->system);
    trk__series_done(&run->detail);
    free(run->schema);
    free(run->extra);
    free(run);
}

const struct trk_series *trk__run_table(const struct trk_run *run, enum trk_metric metric)
{
    const struct trk_series *own =
        trk__metrics[metric].scope == TRK_SCOPE_PROCESS ? &run->process : &run->system;
    const struct trk_series *tables[] = {own, &run->detail};
    for (size_t i = 0; i < 2; i++)
        if (tables[i]->rows && trk__series_find(tables[i], metric))
            return tables[i];
    return NULL;
}

const struct trk_series_column *trk__run_column(const struct trk_run *run, enum trk_metric metric)
{
    const struct trk_series *table = trk__run_table(run, metric);
    return table ? trk__series_find(table, metric) : NULL;
}

static int merge_rows(struct trk_series *series, size_t factor)
{
    struct trk_series merged;
    int code = trk__series_downsample(series, factor, &merged);
    if (code < 0)
        return code;
    trk__series_done(series);
    *series = merged;
    return 0;
}

int trk__run_downsample(struct trk_run *run, size_t rows_max)
{
    size_t process = run->process.rows, system = run->system.rows;
    size_t rows = process > system ? process : system;
    if (!rows_max || rows <= rows_max)
        return 0;
    size_t factor = (rows + rows_max - 1) / rows_max;
    struct trk_run_downsampled *note = &run->downsampled;
    double before = note->factor > 0 ? note->factor : 1;
    free(note->rule);
    note->rule = strdup(
        "counts are sums, the rest is the largest of each span, the smallest of what is free");
    note->object.present = TRK_OBJECT_ALL;
    note->factor = (double)factor * before;
    note->process_rows = (double)process;
    note->system_rows = (double)system;
    int code = note->rule ? merge_rows(&run->process, factor) : -ENOMEM;
    if (code == 0)
        code = merge_rows(&run->system, factor);
    return code < 0 ? code : merge_rows(&run->detail, factor);
}
