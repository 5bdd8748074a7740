#include "run/run_json.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX_BYTES = 16 << 20 };

/* ---- parts --------------------------------------------------------------------------- */

/* Where a part is in the run, and whether a run without it has it as null. */
static const struct part {
    const char *key;
    size_t offset;
    const struct trk_fields *fields;
    bool is_list, is_always;
} parts[] = {
    {"tracker", offsetof(struct trk_run, tracker), &trk__run_tracker_fields, false, false},
    {"metadata", offsetof(struct trk_run, metadata), &trk__run_metadata_fields, false, true},
    {"server_info", offsetof(struct trk_run, server), &trk__run_server_fields, false, true},
    {"cloud_info", offsetof(struct trk_run, cloud), &trk__run_cloud_fields, false, true},
    {"totals", offsetof(struct trk_run, totals), &trk__run_totals_fields, false, false},
    {"limits", offsetof(struct trk_run, limits), &trk__run_limits_fields, false, false},
    {"gpus", offsetof(struct trk_run, gpus), &trk__run_gpu_fields, true, false},
    {"oom", offsetof(struct trk_run, oom), &trk__run_oom_fields, false, false},
    {"processes", offsetof(struct trk_run, processes), &trk__run_process_fields, true, false},
    {"events", offsetof(struct trk_run, events), &trk__run_event_fields, true, false},
    {"stats", offsetof(struct trk_run, stats), &trk__run_stat_fields, true, false},
    {"downsampled", offsetof(struct trk_run, downsampled), &trk__run_downsampled_fields, false,
     false},
};
enum { PARTS = sizeof parts / sizeof *parts };

static void put_part(struct trk_json *json, const struct part *part, const struct trk_run *run)
{
    const void *at = (const char *)run + part->offset;
    bool is_known =
        part->is_list ? ((const struct trk_list *)at)->item != NULL : trk__run_knows(at);
    if (!is_known && !part->is_always)
        return;
    trk__json_key(json, part->key);
    if (!is_known)
        trk__json_null(json);
    else if (part->is_list)
        trk__list_write(json, part->fields, at);
    else
        trk__fields_write(json, part->fields, at);
}

void trk__run_put_head(struct trk_json *json, const struct trk_run *run)
{
    trk__json_begin_object(json);
    put_part(json, &parts[0], run);
    put_part(json, &parts[1], run);
    trk__json_end_object(json);
}

/* Without the tracker: a run that is over has none. */
static void put_all_parts(struct trk_json *json, const struct trk_run *run)
{
    put_part(json, &parts[1], run);
    if (run->schema) {
        trk__json_key(json, "schema");
        trk__json_string(json, run->schema);
    }
    for (int i = 2; i < PARTS; i++)
        put_part(json, &parts[i], run);
    trk__extra_write(json, run->extra);
}

void trk__run_put_parts(struct trk_json *json, const struct trk_run *run)
{
    trk__json_begin_object(json);
    put_all_parts(json, run);
    trk__json_end_object(json);
}

/* ---- tables -------------------------------------------------------------------------- */

struct loader {
    struct trk_pull *pull;
    struct trk_run *run;
    struct trk_buffer key, scratch;
    enum trk_run_extent extent;
};

static const char *key_text(const struct loader *loader)
{
    return loader->key.data ? loader->key.data : "";
}

static int column_of(struct loader *loader, struct trk_series *series)
{
    int column = trk__series_column(series, key_text(loader));
    if (column < 0)
        trk__pull_fail_by(loader->pull, column, "more columns than a table may have");
    return column;
}

static void take_cell(struct loader *loader, struct trk_series *series, int column, size_t row)
{
    double value = NAN;
    bool integer = true, other;
    if (trk__pull_number(loader->pull, &loader->scratch, &value, &integer, &other) < 0)
        return;
    loader->run->dropped_values += other;
    trk__series_store(series, column, row, value, integer);
}

static void add_row(struct loader *loader, struct trk_series *series)
{
    int code = trk__series_add_row(series);
    if (code < 0)
        trk__pull_fail_by(loader->pull, code, "rows name more columns than they fill");
}

static void take_row(struct loader *loader, struct trk_series *series)
{
    add_row(loader, series);
    for (int state = 0; trk__pull_next_item(loader->pull, &state, '{', '}');) {
        if (trk__pull_key(loader->pull, &loader->key) < 0)
            return;
        int column = column_of(loader, series);
        if (column >= 0)
            take_cell(loader, series, column, series->rows - 1);
    }
}

/* {"timestamp": [...], "pid": [...]}: the first column says how many rows there are. */
static void take_columns(struct loader *loader, struct trk_series *series)
{
    bool first = true;
    for (int state = 0; trk__pull_next_item(loader->pull, &state, '{', '}'); first = false) {
        if (trk__pull_key(loader->pull, &loader->key) < 0)
            return;
        int column = column_of(loader, series);
        size_t row = 0;
        for (int cell = 0; column >= 0 && trk__pull_next_item(loader->pull, &cell, '[', ']');
             row++) {
            if (first)
                add_row(loader, series);
            if (row >= series->rows)
                trk__pull_fail(loader->pull, "columns of one table differ in length");
            if (!loader->pull->failure)
                take_cell(loader, series, column, row);
        }
        if (!loader->pull->failure && row != series->rows)
            trk__pull_fail(loader->pull, "columns of one table differ in length");
    }
}

static void take_table(struct loader *loader, struct trk_series *series)
{
    if (series->rows || series->columns) {
        trk__pull_fail(loader->pull, "a table stands here twice");
        return;
    }
    int byte = trk__pull_peek(loader->pull);
    if (byte == '{')
        take_columns(loader, series);
    else if (byte == 'n')
        trk__pull_skip(loader->pull, NULL);
    else
        for (int state = 0; trk__pull_next_item(loader->pull, &state, '[', ']');)
            take_row(loader, series);
    trk__series_finish(series);
}

static struct trk_series *table_called(struct trk_run *run, const char *key)
{
    return strcmp(key, "process_metrics") == 0  ? &run->process
           : strcmp(key, "system_metrics") == 0 ? &run->system
           : strcmp(key, "detail_metrics") == 0 ? &run->detail
                                                : NULL;
}

/* ---- the whole ----------------------------------------------------------------------- */

static void take_part(struct loader *loader)
{
    struct trk_pull *pull = loader->pull;
    struct trk_run *run = loader->run;
    if (strcmp(key_text(loader), "schema") == 0 && trk__pull_peek(pull) == '"') {
        free(run->schema);
        run->schema = trk__pull_string(pull, &loader->scratch) == 0
                          ? strdup(loader->scratch.data ? loader->scratch.data : "")
                          : NULL;
        return;
    }
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].key, key_text(loader)) != 0)
            continue;
        void *at = (char *)run + parts[i].offset;
        if (parts[i].is_list) {
            trk__list_done(parts[i].fields, at);
            trk__pull_peek(pull) == '[' ? trk__list_read(pull, parts[i].fields, at)
                                        : trk__pull_skip(pull, NULL);
        } else {
            trk__fields_done(parts[i].fields, at);
            trk__fields_read(pull, parts[i].fields, at);
            if (at == (void *)&run->metadata) /* what makes it a snapshot, whatever it says */
                run->metadata.object.present |= UINT64_C(1) << 63;
        }
        return;
    }
    trk__extra_read(pull, key_text(loader), &run->extra);
}

/* Of a list of runs the tables are unpacked and not parsed, so that a file that was cut off is known as such; parts
 * behind them are not seen then. */
int trk__run_take_parts(struct trk_pull *pull, enum trk_run_extent extent, struct trk_run *run)
{
    struct loader loader = {.pull = pull, .run = run, .extent = extent};
    trk__buffer_init(&loader.key, TRK_PULL_STRING_MAX);
    trk__buffer_init(&loader.scratch, TRK_PULL_STRING_MAX);
    bool is_skimmed = false;
    for (int state = 0; !is_skimmed && trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, &loader.key) < 0)
            break;
        struct trk_series *table = table_called(run, key_text(&loader));
        is_skimmed = table && extent == TRK_EXTENT_PARTS && trk__run_knows(&run->metadata.object);
        if (is_skimmed)
            trk__pull_skim(pull);
        else if (table && extent == TRK_EXTENT_PARTS)
            trk__pull_skip(pull, NULL);
        else if (table)
            take_table(&loader, table);
        else
            take_part(&loader);
    }
    trk__buffer_done(&loader.key);
    trk__buffer_done(&loader.scratch);
    return is_skimmed ? pull->failure : trk__pull_end(pull);
}

int trk__run_take_text(const char *text, size_t len, struct trk_run *run)
{
    struct trk_input input;
    struct trk_pull pull;
    trk__input_init_memory(&input, text, len);
    trk__pull_init(&pull, &input, "", NULL);
    int code = trk__run_take_parts(&pull, TRK_EXTENT_WHOLE, run);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return code;
}

static int read_snapshot(struct trk_input *input, int code, const char *name,
                         enum trk_run_extent extent, struct trk_run **ret_run,
                         struct trk_error *error)
{
    struct trk_run *run = code < 0 ? NULL : trk__run_new();
    if (code == 0 && !run)
        code = -ENOMEM;
    if (code < 0) {
        trk__error_set(error, code, "%s: %s", name, strerror(-code));
    } else {
        struct trk_pull pull;
        trk__pull_init(&pull, input, name, error);
        code = trk__run_take_parts(&pull, extent, run);
        trk__pull_done(&pull);
    }
    if (code == 0 && !trk__run_knows(&run->metadata.object))
        code = trk__error_set(error, -EBADMSG, "%s: not a snapshot: it has no \"metadata\"", name);
    if (code == 0 && run->metadata.outcome.interrupted)
        run->state = TRK_RUN_INTERRUPTED;
    if (code < 0)
        trk__run_free(run);
    else
        *ret_run = run;
    trk__input_done(input);
    return code;
}

int trk__run_snapshot_read_input(struct trk_input *input, const char *name,
                                 enum trk_run_extent extent, struct trk_run **ret_run,
                                 struct trk_error *error)
{
    return read_snapshot(input, 0, name, extent, ret_run, error);
}

int trk__run_snapshot_read_fd(int fd, const char *name, enum trk_run_extent extent,
                              struct trk_run **ret_run, struct trk_error *error)
{
    struct trk_input input;
    int code = trk__input_init_fd(&input, fd);
    return read_snapshot(&input, code, name, extent, ret_run, error);
}

int trk__run_snapshot_read(const void *data, size_t len, const char *name, struct trk_run **ret_run,
                           struct trk_error *error)
{
    struct trk_input input;
    int code = trk__input_init_memory(&input, data, len);
    return read_snapshot(&input, code, name, TRK_EXTENT_WHOLE, ret_run, error);
}

/* ---- marks --------------------------------------------------------------------------- */

int trk__events_read(int dir_fd, const char *name, struct trk_run *run)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct trk_buffer lines;
    trk__buffer_init(&lines, EVENTS_MAX_BYTES);
    int code = trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &lines);
    struct trk_cursor cursor = trk__cursor(lines.data ? lines.data : "", lines.len), line;
    while (code == 0 && trk__cursor_line(&cursor, &line)) {
        struct trk_input input;
        struct trk_pull pull;
        struct trk_run_event *event = trk__list_add(&trk__run_event_fields, &run->events);
        if (!event) {
            code = -ENOMEM;
            break;
        }
        trk__input_init_memory(&input, line.at, (size_t)(line.end - line.at));
        trk__pull_init(&pull, &input, "", NULL);
        bool is_whole = trk__fields_read(&pull, &trk__run_event_fields, event) == 0 &&
                        trk__pull_end(&pull) == 0 && event->name;
        if (!is_whole) { /* half a write of a process that was killed in it */
            trk__fields_done(&trk__run_event_fields, event);
            run->events.count--;
        }
        trk__pull_done(&pull);
        trk__input_done(&input);
    }
    trk__buffer_done(&lines);
    return code;
}
