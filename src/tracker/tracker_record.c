/* What a tracker knows as JSON: the machine, totals, processes, the whole snapshot. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_path.h"
#include "base/real.h"
#include "host/server_info.h"
#include "run/run_json.h"
#include "tracker/tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the run as it is now ------------------------------------------------------------ */

/* The program's own view: it aligned the grid and knows when it stopped. */
static int fill_metadata(const struct trk_tracker *tracker, struct trk_run *run)
{
    enum { WALL_SECONDS_BIT = 14 };
    const struct trk_tracker_options *options = &tracker->options;
    double wall_seconds = tracker->reader.footer ? run->metadata.outcome.wall_seconds : NAN;
    trk__fields_done(&trk__run_metadata_fields, &run->metadata);
    struct trk_run_metadata *metadata = &run->metadata;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double stop = isnan(tracker->stop_time) ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9
                                            : tracker->stop_time;
    metadata->object.present = TRK_METADATA_OF_ROWS;
    if (wall_seconds > 0) /* from the start of the tracker's process, before the grid begins */
        metadata->object.present |= UINT64_C(1) << WALL_SECONDS_BIT;
    metadata->identity.format = 1;
    metadata->identity.release =
        strdup("{\"version\":\"" TRK_VERSION "\",\"implementation\":\"native\"}");
    metadata->identity.start_time = trk__to_the_millionth(tracker->start_time);
    metadata->settings = (struct trk_run_settings){
        .pid = options->pid,
        .interval_seconds = options->interval_seconds,
        .children = options->children,
        .autostart = options->autostart,
        .track_processes = options->track_processes,
        .track_system = options->track_system,
        .discover_server = options->discover_server,
        .discover_cloud = options->discover_cloud,
    };
    metadata->outcome.stop_time = trk__to_the_millionth(stop);
    metadata->outcome.duration =
        trk__round((stop - tracker->start_time + options->interval_seconds) * 100) / 100;
    metadata->outcome.wall_seconds = wall_seconds;
    return metadata->identity.release ? 0 : -ENOMEM;
}

static void forget(const struct trk_fields *fields, void *object)
{
    trk__fields_done(fields, object);
}

/* Totals and processes are those of the end. */
static int fill_parts(struct trk_tracker *tracker, struct trk_run *run)
{
    int code = tracker->reader.fd < 0 ? 0 : trk__run_reader_parts(&tracker->reader, run);
    if (code < 0)
        return code;
    forget(&trk__run_tracker_fields, &run->tracker);
    if (!tracker->reader.footer) {
        forget(&trk__run_totals_fields, &run->totals);
        trk__list_done(&trk__run_process_fields, &run->processes);
    }
    if (!tracker->options.discover_server)
        forget(&trk__run_server_fields, &run->server);
    if (!tracker->options.discover_cloud)
        forget(&trk__run_cloud_fields, &run->cloud);
    forget(&trk__run_limits_fields, &run->limits);
    trk__list_done(&trk__run_stat_fields, &run->stats);
    if (trk__run_knows(&run->server.object)) {
        const char *allocation = trk__run_allocation(run);
        free(run->server.allocation);
        run->server.allocation = allocation ? strdup(allocation) : NULL;
    }
    return fill_metadata(tracker, run);
}

static int make_run(struct trk_tracker *tracker, struct trk_run **ret_run, struct trk_error *error)
{
    struct trk_tables tables = {0};
    struct trk_run *run = trk__run_new();
    char path[TRK_TRACKER_FOLDER_SIZE + 16];
    if (!run) {
        trk__error_set(error, -ENOMEM, "out of memory");
        return -ENOMEM;
    }
    int code = trk__tracker_slice(tracker, 0, 0, &tables, error);
    if (code == 0 && tables.owned) {
        run->process = tables.run.process;
        run->system = tables.run.system;
        run->detail = tables.run.detail;
    }
    if (code == 0) {
        code = fill_parts(tracker, run);
        run->schema = strdup("v2");
        if (code == 0 && trk__tracker_events_path(tracker, path, sizeof path) == 0)
            trk__events_read(AT_FDCWD, path, run);
        if (code == 0 && !run->events.item) /* no marks are a list too */
            run->events.item = malloc(16 * sizeof(struct trk_run_event));
        if (code < 0 || !run->schema)
            code = trk__error_set(error, code < 0 ? code : -ENOMEM, "the snapshot cannot be made");
    }
    if (code < 0)
        trk__run_free(run);
    else
        *ret_run = run;
    return code;
}

/* ---- texts --------------------------------------------------------------------------- */

/* Calls `put` with the run, loaded or as it is now, and gives the text. */
static int give(struct trk_tracker *tracker,
                void (*put)(struct trk_json *json, const struct trk_run *run), char **ret_json,
                struct trk_error *error)
{
    struct trk_run *own = NULL;
    int code = tracker->loaded ? 0 : make_run(tracker, &own, error);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, 64 << 20);
    struct trk_json json = trk__json(&text);
    put(&json, tracker->loaded ? tracker->loaded : own);
    trk__run_free(own);
    if (text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    *ret_json = text.data;
    return 0;
}

static void put_object(struct trk_json *json, const struct trk_fields *fields,
                       const struct trk_object *object)
{
    if (trk__run_knows(object))
        trk__fields_write(json, fields, object);
    else
        trk__json_null(json);
}

static void put_server(struct trk_json *json, const struct trk_run *run)
{
    put_object(json, &trk__run_server_fields, &run->server.object);
}

static void put_cloud(struct trk_json *json, const struct trk_run *run)
{
    put_object(json, &trk__run_cloud_fields, &run->cloud.object);
}

static void put_totals(struct trk_json *json, const struct trk_run *run)
{
    put_object(json, &trk__run_totals_fields, &run->totals.object);
}

static void put_processes(struct trk_json *json, const struct trk_run *run)
{
    trk__list_write(json, &trk__run_process_fields, &run->processes);
}

int trk_tracker_server_info(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give(tracker, put_server, ret_json, error);
}

int trk_tracker_cloud_info(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give(tracker, put_cloud, ret_json, error);
}

int trk_tracker_totals(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give(tracker, put_totals, ret_json, error);
}

int trk_tracker_processes(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return give(tracker, put_processes, ret_json, error);
}

int trk_tracker_snapshot(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    struct trk_run *own = NULL;
    int code = tracker->loaded ? 0 : make_run(tracker, &own, error);
    if (code == 0)
        code = trk_run_json(tracker->loaded ? tracker->loaded : own, ret_json, error);
    trk__run_free(own);
    return code;
}

int trk_tracker_save(trk_tracker *tracker, const char *path, struct trk_error *error)
{
    struct trk_run *own = NULL;
    int code = tracker->loaded ? 0 : make_run(tracker, &own, error);
    if (code == 0)
        code = trk__run_snapshot_save(tracker->loaded ? tracker->loaded : own, TRK_PACKING_GZIP,
                                      path, error);
    trk__run_free(own);
    return code;
}

char *trk_json_text(const char *json, const char *path)
{
    return json ? trk__json_text_at(json, path) : NULL;
}
