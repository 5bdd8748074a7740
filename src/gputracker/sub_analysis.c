#include "gputracker/sub_analysis.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const char *const trk__sub_stat_names[TRK_SUB_STATS] = {"min", "max", "mean", "std"};

enum { STATIC_LINE = 0, ROWS_LINE = 2 };

void trk__sub_analysis_done(struct trk_sub_analysis *analysis)
{
    for (size_t i = 0; i < analysis->blocks; i++)
        free(analysis->block[i].usage);
    free(analysis->block);
    free(analysis->overall);
    free(analysis->measurement);
    trk__data_table_done(&analysis->facts);
    trk__data_table_done(&analysis->tracking);
    trk__data_table_done(&analysis->log);
    *analysis = (struct trk_sub_analysis){0};
}

/* ---- statistics ---- */

struct gather {
    size_t count;
    double min, max, sum, square_sum, first;
};

/* Squares of the distance to the first value: large figures that hardly differ keep their spread. */
static void gather_add(struct gather *gather, double value)
{
    if (isnan(value))
        return;
    if (!gather->count++) {
        gather->min = gather->max = gather->first = value;
    }
    gather->min = trk__fmin(gather->min, value);
    gather->max = trk__fmax(gather->max, value);
    gather->sum += value - gather->first;
    gather->square_sum += (value - gather->first) * (value - gather->first);
}

static struct trk_sub_stats gather_tell(const struct gather *gather)
{
    if (!gather->count)
        return (struct trk_sub_stats){{NAN, NAN, NAN, NAN}};
    double count = (double)gather->count, shift = gather->sum / count;
    double variance = gather->square_sum / count - shift * shift;
    return (struct trk_sub_stats){
        {gather->min, gather->max, gather->first + shift, variance > 0 ? trk__sqrt(variance) : 0}};
}

/* `within` NULL: all rows. */
static struct trk_sub_stats column_stats(const struct trk_data_table *table, size_t column,
                                         const bool *within)
{
    struct gather gather = {0};
    for (size_t row = 0; row < table->rows; row++)
        if (!within || within[row])
            gather_add(&gather, trk__data_number(table, row, column));
    return gather_tell(&gather);
}

static int usage_stats(const struct trk_sub_analysis *analysis, const bool *within,
                       struct trk_sub_stats **ret_stats)
{
    struct trk_sub_stats *stats = calloc(analysis->measurements + 1, sizeof *stats);
    if (!stats)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->measurements; i++)
        stats[i] = column_stats(&analysis->tracking, analysis->measurement[i], within);
    *ret_stats = stats;
    return 0;
}

/* ---- the tracking file ---- */

static int find_measurements(struct trk_sub_analysis *analysis, const char *path,
                             struct trk_error *error)
{
    const struct trk_data_table *table = &analysis->tracking;
    if (trk__data_find(table, "timestamp") < 0)
        return trk__error_set(error, -EBADMSG, "%s: there is no column timestamp", path);
    analysis->measurement = calloc(table->columns, sizeof *analysis->measurement);
    if (!analysis->measurement)
        return trk__error_set(error, -ENOMEM, "out of memory");
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->name[i], "timestamp") != 0)
            analysis->measurement[analysis->measurements++] = i;
    assert(analysis->measurements < table->columns); /* all but the timestamp */
    return 0;
}

int trk__sub_tracking_load(const char *path, struct trk_sub_analysis *ret_analysis,
                           struct trk_error *error)
{
    struct trk_sub_analysis analysis = {0};
    int code = trk__data_read(path, TRK_STATIC_TABLE, STATIC_LINE, &analysis.facts, error);
    if (code == 0 && !analysis.facts.rows)
        code = trk__error_set(error, -EBADMSG, "%s: it is no tracking file", path);
    if (code == 0)
        code = trk__data_read(path, TRK_DATA_TABLE, ROWS_LINE, &analysis.tracking, error);
    if (code == 0)
        code = find_measurements(&analysis, path, error);
    if (code == 0 && usage_stats(&analysis, NULL, &analysis.overall) < 0)
        code = trk__error_set(error, -ENOMEM, "out of memory");
    if (code < 0)
        trk__sub_analysis_done(&analysis);
    else
        *ret_analysis = analysis;
    return code;
}

/* ---- the log ---- */

enum { LOG_PID, LOG_NAME, LOG_POSITION, LOG_TIME, LOG_COLUMNS };
static const char *const log_names[LOG_COLUMNS] = {"process_id", "code_block_name", "position",
                                                   "timestamp"};

int trk__sub_log_load(const char *path, struct trk_data_table *ret_log, struct trk_error *error)
{
    int code = trk__data_read(path, TRK_DATA_TABLE, 0, ret_log, error);
    for (int i = 0; i < LOG_COLUMNS && code == 0; i++)
        if (trk__data_find(ret_log, log_names[i]) < 0) {
            trk__data_table_done(ret_log);
            code = trk__error_set(error, -EBADMSG,
                                  "%s: a sub-tracking file has the columns process_id, "
                                  "code_block_name, position and timestamp",
                                  path);
        }
    return code;
}

static const char *name_in(const struct trk_data_table *log, size_t row)
{
    return trk__data_text(log, row, (size_t)trk__data_find(log, log_names[LOG_NAME]));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int trk__sub_log_names(const struct trk_data_table *log, const char ***ret_names, size_t *ret_count)
{
    const char **names = calloc(log->rows + 1, sizeof *names);
    size_t kept = 0;
    if (!names)
        return -ENOMEM;
    for (size_t row = 0; row < log->rows; row++)
        names[row] = name_in(log, row);
    qsort(names, log->rows, sizeof *names, by_text);
    for (size_t i = 0; i < log->rows; i++)
        if (!kept || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    *ret_names = names;
    *ret_count = kept;
    return 0;
}

struct mark {
    double pid, time, position;
};

static int by_process_and_time(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return (left->position > right->position) - (left->position < right->position);
}

static size_t marks_of(const struct trk_data_table *log, const char *name, struct mark *ret_marks)
{
    size_t count = 0;
    size_t pid = (size_t)trk__data_find(log, log_names[LOG_PID]);
    size_t position = (size_t)trk__data_find(log, log_names[LOG_POSITION]);
    size_t time = (size_t)trk__data_find(log, log_names[LOG_TIME]);
    for (size_t row = 0; row < log->rows; row++)
        if (strcmp(name_in(log, row), name) == 0)
            ret_marks[count++] = (struct mark){.pid = trk__data_number(log, row, pid),
                                               .time = trk__data_number(log, row, time),
                                               .position = trk__data_number(log, row, position)};
    qsort(ret_marks, count, sizeof *ret_marks, by_process_and_time);
    return count;
}

static int by_start(const void *a, const void *b)
{
    const struct trk_sub_call *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Of one process, marks in time: an end belongs to the last beginning that is open, so that a block that calls itself
 * makes two calls, one within the other. The open ones stand at the end of `calls`, which has room for all. Returns how
 * many calls there are; SIZE_MAX: an end without a beginning. */
static size_t pair_marks(const struct mark *marks, size_t count, struct trk_sub_call *calls)
{
    size_t done = 0, open = 0;
    for (size_t i = 0; i < count; i++) {
        if (marks[i].position == TRK_SUB_TRACK_START) {
            calls[count - ++open].start = marks[i].time;
            continue;
        }
        if (!open)
            return SIZE_MAX;
        struct trk_sub_call call = {calls[count - open--].start, marks[i].time};
        calls[done++] = call;
    }
    qsort(calls, done, sizeof *calls, by_start);
    return done;
}

int trk__sub_log_calls(const struct trk_data_table *log, const char *path, const char *name,
                       struct trk_sub_call **ret_calls, size_t *ret_count, struct trk_error *error)
{
    TRK_CLEANUP_FREE struct mark *marks = calloc(log->rows + 1, sizeof *marks);
    TRK_CLEANUP_FREE struct trk_sub_call *calls = calloc(log->rows + 1, sizeof *calls);
    if (!marks || !calls)
        return trk__error_set(error, -ENOMEM, "out of memory");
    size_t count = marks_of(log, name, marks), done = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && marks[end].pid == marks[i].pid)
            end++;
        if (end == i)
            return trk__error_set(error, -EBADMSG, "%s: a process_id of \"%s\" is no number", path,
                                  name);
        size_t paired = pair_marks(marks + i, end - i, calls + done);
        if (paired == SIZE_MAX)
            return trk__error_set(error, -EBADMSG,
                                  "Sub-tracking file is invalid. %s: \"%s\" of process ID %.0f "
                                  "has a stop without a start before it.",
                                  path, name, marks[i].pid);
        done += paired;
        i = end;
    }
    *ret_calls = TRK_STEAL(calls);
    *ret_count = done;
    return 0;
}

/* ---- rows of calls ---- */

/* The times that some call covers, in order and apart. */
static size_t merge_calls(struct trk_sub_call *calls, size_t count)
{
    size_t kept = 0;
    qsort(calls, count, sizeof *calls, by_start);
    for (size_t i = 1; i < count; i++) {
        if (calls[i].start <= calls[kept].stop)
            calls[kept].stop = trk__fmax(calls[kept].stop, calls[i].stop);
        else
            calls[++kept] = calls[i];
    }
    return count ? kept + 1 : 0;
}

static bool is_covered(const struct trk_sub_call *spans, size_t count, double time)
{
    size_t low = 0, high = count; /* the first span that begins later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && time <= spans[low - 1].stop;
}

int trk__sub_rows_within(const struct trk_data_table *tracking, const struct trk_sub_call *calls,
                         size_t count, bool **ret_within)
{
    size_t time = (size_t)trk__data_find(tracking, "timestamp");
    TRK_CLEANUP_FREE struct trk_sub_call *spans = calloc(count + 1, sizeof *spans);
    TRK_CLEANUP_FREE bool *within = calloc(tracking->rows + 1, sizeof *within);
    if (!spans || !within)
        return -ENOMEM;
    if (count)
        memcpy(spans, calls, count * sizeof *spans);
    size_t merged = merge_calls(spans, count);
    for (size_t row = 0; row < tracking->rows; row++)
        within[row] = is_covered(spans, merged, trk__data_number(tracking, row, time));
    *ret_within = TRK_STEAL(within);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Times ascending; the first that is not before `start` must not be behind `stop`. */
static bool has_time_within(const double *times, size_t count, const struct trk_sub_call *call)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] < call->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && times[low] <= call->stop;
}

static int count_calls_with_rows(const struct trk_data_table *tracking,
                                 const struct trk_sub_call *calls, size_t count, size_t *ret_count)
{
    size_t time = (size_t)trk__data_find(tracking, "timestamp");
    TRK_CLEANUP_FREE double *times = calloc(tracking->rows + 1, sizeof *times);
    if (!times)
        return -ENOMEM;
    for (size_t row = 0; row < tracking->rows; row++)
        times[row] = trk__data_number(tracking, row, time);
    qsort(times, tracking->rows, sizeof *times, by_number);
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        *ret_count += has_time_within(times, tracking->rows, &calls[i]);
    return 0;
}

/* ---- blocks ---- */

static void time_calls(const struct trk_sub_call *calls, size_t count, struct trk_sub_block *block)
{
    struct gather gather = {0};
    for (size_t i = 0; i < count; i++) {
        gather_add(&gather, calls[i].stop - calls[i].start);
        block->time_total += calls[i].stop - calls[i].start;
    }
    block->calls = count;
    block->time = gather_tell(&gather);
}

static int analyze_block(struct trk_sub_analysis *analysis, const char *path, const char *name,
                         struct trk_error *error)
{
    TRK_CLEANUP_FREE struct trk_sub_call *calls = NULL;
    TRK_CLEANUP_FREE bool *within = NULL;
    struct trk_sub_block *block = &analysis->block[analysis->blocks++];
    size_t count;
    block->name = name;
    int code = trk__sub_log_calls(&analysis->log, path, name, &calls, &count, error);
    if (code < 0)
        return code;
    time_calls(calls, count, block);
    if (trk__sub_rows_within(&analysis->tracking, calls, count, &within) < 0 ||
        count_calls_with_rows(&analysis->tracking, calls, count, &block->calls_with_rows) < 0 ||
        usage_stats(analysis, within, &block->usage) < 0)
        return trk__error_set(error, -ENOMEM, "out of memory");
    for (size_t row = 0; row < analysis->tracking.rows; row++)
        block->rows += within[row];
    return 0;
}

static int analyze_blocks(struct trk_sub_analysis *analysis, const char *path,
                          struct trk_error *error)
{
    TRK_CLEANUP_FREE const char **names = NULL;
    size_t count;
    int code = trk__sub_log_names(&analysis->log, &names, &count);
    if (code == 0 && !(analysis->block = calloc(count + 1, sizeof *analysis->block)))
        code = -ENOMEM;
    if (code < 0)
        return trk__error_set(error, code, "out of memory");
    for (size_t i = 0; i < count && code == 0; i++)
        code = analyze_block(analysis, path, names[i], error);
    return code;
}

int trk__sub_analysis_new(const char *tracking_file, const char *sub_tracking_file,
                          struct trk_sub_analysis *ret_analysis, struct trk_error *error)
{
    struct trk_sub_analysis analysis;
    int code = trk__sub_tracking_load(tracking_file, &analysis, error);
    if (code < 0)
        return code;
    code = trk__sub_log_load(sub_tracking_file, &analysis.log, error);
    if (code == 0)
        code = analyze_blocks(&analysis, sub_tracking_file, error);
    if (code < 0)
        trk__sub_analysis_done(&analysis);
    else
        *ret_analysis = analysis;
    return code;
}
