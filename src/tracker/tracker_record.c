/* What a tracker knows as JSON: the machine, the whole snapshot. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/real.h"
#include "host/server_info.h"
#include "snapshot/store.h"
#include "tracker/tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX_BYTES = 1 << 30 };

/* ---- allocation ---------------------------------------------------------------------- */

static double mean_of(const struct trk_series *series, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__series_find(series, metric);
    /* Schema v3 counts used memory another way; it is the same question. */
    if (!column && metric == TRK_M_SYS_MEM_USED)
        column = trk__series_find(series, TRK_M_SYS_MEM_USED_UNAVAILABLE);
    double sum = 0;
    size_t count = 0;
    for (size_t row = 0; column && row < series->rows; row++) {
        double value = trk__series_value(column, row);
        if (!isnan(value)) {
            sum += value;
            count++;
        }
    }
    return count ? sum / (double)count : NAN;
}

const char *trk__tables_allocation(const struct trk_tables *tables)
{
    if (!tables->process.rows && !tables->system.rows)
        return NULL;
    static const enum trk_metric of[2][TRK_ALLOCATION_CHECKS] = {
        {TRK_M_SYS_CPU, TRK_M_SYS_MEM_USED, TRK_M_SYS_GPU_USAGE, TRK_M_SYS_GPU_VRAM},
        {TRK_M_PROC_CPU, TRK_M_PROC_MEMORY, TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM}};
    double mean[2][TRK_ALLOCATION_CHECKS];
    for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
        mean[0][i] = mean_of(&tables->system, of[0][i]);
        mean[1][i] = mean_of(&tables->process, of[1][i]);
    }
    return trk__allocation(mean[0], mean[1]);
}

/* ---- texts --------------------------------------------------------------------------- */

static int give(char *text, char **ret_json, struct trk_error *error)
{
    if (!text)
        return trk__error_set(error, -ENOMEM, "out of memory");
    *ret_json = text;
    return 0;
}

static char *server_text(struct trk_tracker *tracker, const struct trk_tables *tables)
{
    if (tracker->loaded) {
        const char *known = trk__snapshot_get(tracker->loaded, "server_info");
        return strdup(known ? known : "null");
    }
    TRK_CLEANUP_FREE char *facts =
        tracker->options.discover_server ? trk__tracker_file(tracker, "server") : NULL;
    if (!facts)
        return strdup("null");
    const char *allocation = trk__tables_allocation(tables);
    char value[24] = "null";
    if (allocation)
        snprintf(value, sizeof value, "\"%s\"", allocation);
    return trk__json_with(facts, "allocation", value);
}

int trk_tracker_server_info(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    struct trk_tables tables;
    int code = trk__tracker_tables(tracker, &tables, error);
    if (code < 0)
        return code;
    char *text = server_text(tracker, &tables);
    trk__tables_done(&tables);
    return give(text, ret_json, error);
}

static char *cloud_text(const struct trk_tracker *tracker)
{
    if (tracker->loaded) {
        const char *known = trk__snapshot_get(tracker->loaded, "cloud_info");
        return strdup(known ? known : "null");
    }
    char *facts = tracker->options.discover_cloud ? trk__tracker_file(tracker, "cloud") : NULL;
    return facts ? facts : strdup("null");
}

int trk_tracker_cloud_info(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give(cloud_text(tracker), ret_json, error);
}

/* A part of a snapshot that was loaded; NULL: it has none. */
static char *loaded_text(const struct trk_tracker *tracker, const char *key)
{
    const char *known = trk__snapshot_get(tracker->loaded, key);
    return strdup(known ? known : "null");
}

static char *totals_text(const struct trk_tracker *tracker)
{
    TRK_CLEANUP_FREE char *summary = trk__tracker_file(tracker, "summary");
    return summary ? trk__json_text_at(summary, "totals") : NULL;
}

static int give_or_null(char *text, char **ret_json, struct trk_error *error)
{
    return give(text ? text : strdup("null"), ret_json, error);
}

int trk_tracker_totals(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give_or_null(tracker->loaded ? loaded_text(tracker, "totals") : totals_text(tracker),
                        ret_json, error);
}

int trk_tracker_processes(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give_or_null(tracker->loaded ? loaded_text(tracker, "processes")
                                        : trk__tracker_file(tracker, "processes"),
                        ret_json, error);
}

/* ---- the snapshot -------------------------------------------------------------------- */

/* Totals count from the start of the tracker's process, which is before the grid of the samples begins. */
static void put_wall_seconds(struct trk_json *json, const struct trk_tracker *tracker)
{
    TRK_CLEANUP_FREE char *summary = trk__tracker_file(tracker, "summary");
    double seconds = summary ? trk__json_number_at(summary, "wall_seconds") : NAN;
    if (seconds > 0)
        trk__json_put_double(json, "wall_seconds", seconds);
}

static void put_metadata(struct trk_json *json, const struct trk_tracker *tracker)
{
    const struct trk_tracker_options *options = &tracker->options;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long microseconds = now.tv_nsec / 1000;
    double stop = isnan(tracker->stop_time) ? (double)now.tv_sec + (double)microseconds * 1e-6
                                            : trk__round(tracker->stop_time * 1e6) / 1e6;
    trk__json_begin_object(json);
    trk__json_put_double(json, "version", 1);
    trk__json_key(json, "resource_tracker");
    trk__json_begin_object(json);
    trk__json_key(json, "version");
    trk__json_string(json, TRK_VERSION);
    trk__json_key(json, "implementation");
    trk__json_string(json, "native");
    trk__json_end_object(json);
    trk__json_put_double(json, "pid", options->pid);
    trk__json_put_bool(json, "children", options->children);
    trk__json_put_double(json, "interval", options->interval_seconds);
    trk__json_key(json, "method");
    trk__json_null(json);
    trk__json_put_bool(json, "autostart", options->autostart);
    trk__json_put_bool(json, "track_processes", options->track_processes);
    trk__json_put_bool(json, "track_system", options->track_system);
    trk__json_put_bool(json, "discover_server", options->discover_server);
    trk__json_put_bool(json, "discover_cloud", options->discover_cloud);
    trk__json_put_double(json, "start_time", tracker->start_time);
    trk__json_put_double(json, "stop_time", stop);
    double duration = stop - tracker->start_time + options->interval_seconds;
    trk__json_put_double(json, "duration", trk__round(duration * 100) / 100);
    put_wall_seconds(json, tracker);
    trk__json_end_object(json);
}

static int set_metadata(struct trk_snapshot *snapshot, const struct trk_tracker *tracker)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    put_metadata(&json, tracker);
    int code = text.failure ? text.failure : trk__snapshot_set(snapshot, "metadata", text.data);
    trk__buffer_done(&text);
    return code;
}

/* A part from a text that may be missing. */
static int set_or_null(struct trk_snapshot *snapshot, const char *key, char *owned)
{
    int code = trk__snapshot_set(snapshot, key, owned ? owned : "null");
    free(owned);
    return code;
}

static int fill_parts(struct trk_snapshot *snapshot, struct trk_tracker *tracker,
                      const struct trk_tables *tables)
{
    int code = set_metadata(snapshot, tracker);
    if (code == 0)
        code = trk__snapshot_set(snapshot, "schema", "\"v2\"");
    if (code == 0)
        code = set_or_null(snapshot, "server_info", server_text(tracker, tables));
    if (code == 0)
        code = set_or_null(snapshot, "cloud_info", cloud_text(tracker));
    if (code == 0)
        code = set_or_null(snapshot, "totals", totals_text(tracker));
    if (code == 0)
        code = set_or_null(snapshot, "processes", trk__tracker_file(tracker, "processes"));
    return code < 0 ? code : trk__store_read_events(tracker->folder, "events", snapshot);
}

/* Calls `use` with the snapshot as it is now. */
static int with_snapshot(struct trk_tracker *tracker,
                         int (*use)(const struct trk_snapshot *, void *, struct trk_error *),
                         void *argument, struct trk_error *error)
{
    if (tracker->loaded)
        return use(tracker->loaded, argument, error);
    struct trk_tables tables;
    int code = trk__tracker_tables(tracker, &tables, error);
    if (code < 0)
        return code;
    struct trk_snapshot *snapshot = trk__snapshot_new();
    code = snapshot ? fill_parts(snapshot, tracker, &tables) : -ENOMEM;
    if (code < 0) {
        trk__error_set(error, code, "the snapshot can't be made: %s", strerror(-code));
    } else {
        struct trk_series process = snapshot->process, system = snapshot->system;
        trk__rows_reader_detail(&tracker->reader, &snapshot->detail);
        snapshot->process = tables.process; /* lent: they stay the tables' */
        snapshot->system = tables.system;
        code = use(snapshot, argument, error);
        snapshot->process = process;
        snapshot->system = system;
    }
    trk__snapshot_free(snapshot);
    trk__tables_done(&tables);
    return code;
}

static int use_as_text(const struct trk_snapshot *snapshot, void *argument, struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_MAX_BYTES);
    int code = trk__snapshot_text_whole(snapshot, &text);
    if (code < 0) {
        trk__buffer_done(&text);
        return trk__error_set(error, code, "the snapshot does not fit: %s", strerror(-code));
    }
    *(char **)argument = text.data;
    return 0;
}

static int use_as_file(const struct trk_snapshot *snapshot, void *argument, struct trk_error *error)
{
    return trk__snapshot_save(snapshot, AT_FDCWD, argument, error);
}

int trk_tracker_snapshot(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return with_snapshot(tracker, use_as_text, ret_json, error);
}

int trk_tracker_save(trk_tracker *tracker, const char *path, struct trk_error *error)
{
    return with_snapshot(tracker, use_as_file, (void *)path, error);
}

char *trk_json_text(const char *json, const char *path)
{
    return json ? trk__json_text_at(json, path) : NULL;
}
