#include "snapshot/store_index.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/parse.h"
#include "base/real.h"
#include "snapshot/json_pull.h"
#include "snapshot/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { INDEX_MAX_BYTES = 256 << 20, FIELDS = 16, FILE_MODE = 0600 };

/* ---- from a record ------------------------------------------------------------------- */

static void copy_text(const struct trk_snapshot *head, const char *path, char *text, size_t size)
{
    TRK_CLEANUP_FREE char *value = trk__snapshot_text(head, path);
    snprintf(text, size, "%s", value ? value : "");
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

/* The words with blanks between, for a person. */
static void copy_command(const struct trk_snapshot *head, char *text, size_t size)
{
    TRK_CLEANUP_FREE char *list = trk__snapshot_text(head, "metadata.command");
    *text = '\0';
    if (!list || *list != '[')
        return;
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer word;
    trk__input_init_memory(&input, list, strlen(list));
    trk__pull_init(&pull, &input, "", NULL);
    trk__buffer_init(&word, TRK_PULL_STRING_MAX);
    size_t len = 0;
    for (int state = 0; trk__pull_next_item(&pull, &state, '[', ']') && len + 1 < size;) {
        if (trk__pull_string(&pull, &word) < 0)
            break;
        int put =
            snprintf(text + len, size - len, "%s%s", len ? " " : "", word.data ? word.data : "");
        len += put > 0 ? (size_t)put : 0;
    }
    trk__snapshot_note(head, pull.failure);
    trk__buffer_done(&word);
    trk__pull_done(&pull);
    trk__input_done(&input);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

static int whole_or(double value, int otherwise)
{
    return value >= 0 && value <= 1e9 ? (int)value : otherwise;
}

static enum trk_run_kind kind_of(const struct trk_snapshot *head)
{
    TRK_CLEANUP_FREE char *kind = trk__snapshot_text(head, "metadata.kind");
    return kind && strcmp(kind, "system") == 0     ? TRK_RUN_SYSTEM
           : kind && strcmp(kind, "attached") == 0 ? TRK_RUN_ATTACHED
                                                   : TRK_RUN_COMMAND;
}

void trk__store_describe(const struct trk_snapshot *head, struct trk_run_info *run)
{
    run->start_time = trk__snapshot_number(head, "metadata.start_time");
    run->wall_seconds = trk__snapshot_number(head, "metadata.wall_seconds");
    if (isnan(run->wall_seconds))
        run->wall_seconds = trk__snapshot_number(head, "metadata.duration");
    run->exit_code = whole_or(trk__snapshot_number(head, "metadata.exit_code"), -1);
    run->exit_signal = whole_or(trk__snapshot_number(head, "metadata.signal"), 0);
    run->time_limit_seconds = trk__snapshot_number(head, "metadata.time_limit");
    run->kind = kind_of(head);
    run->ended = trk__snapshot_number(head, "metadata.ended") == 1;
    run->interrupted = trk__snapshot_number(head, "metadata.interrupted") == 1;
    run->samples = (uint64_t)whole_or(trk__snapshot_number(head, "metadata.samples"), 0);
    run->cpu_seconds = trk__snapshot_number(head, "totals.cpu_seconds.value");
    run->peak_memory_bytes = trk__snapshot_number(head, "totals.peak_memory_bytes.value");
    copy_text(head, "metadata.command_key", run->key, sizeof run->key);
    copy_text(head, "metadata.job_name", run->job_name, sizeof run->job_name);
    copy_command(head, run->command, sizeof run->command);
}

/* ---- the cache ----------------------------------------------------------------------- */

static void index_path(const char *path, char ret_path[TRK_STORE_PATH_SIZE + 16])
{
    snprintf(ret_path, TRK_STORE_PATH_SIZE + 16, "%s/.index", path);
}

static int by_id(const void *left, const void *right)
{
    const struct trk_run_info *a = left, *b = right;
    return strcmp(a->id, b->id);
}

/* Millionths, so that no locale has a say; "-" is not known. */
static void put_number(struct trk_buffer *text, double value)
{
    if (isnan(value) || fabs(value) > 9e12)
        trk__buffer_add_text(text, "-\t");
    else
        trk__buffer_printf(text, "%lld\t", (long long)trk__llround(value * 1e6));
}

static void put_run(struct trk_buffer *text, const struct trk_run_info *run)
{
    trk__buffer_printf(text, "3\t%s\t%llu\t", run->id, (unsigned long long)run->file_bytes);
    put_number(text, run->start_time);
    put_number(text, run->wall_seconds);
    put_number(text, run->cpu_seconds);
    put_number(text, run->peak_memory_bytes / 1e6);
    put_number(text, run->time_limit_seconds);
    trk__buffer_printf(text, "%d\t%d\t%d\t%d\t%d\t%llu\t%s\t%s\t%s\n", run->exit_code,
                       run->exit_signal, (int)run->kind, run->ended, run->interrupted,
                       (unsigned long long)run->samples, run->key, run->job_name, run->command);
}

static double number_of(const char *text)
{
    return *text == '-' && !text[1] ? NAN : (double)strtoll(text, NULL, 10) / 1e6;
}

/* One line, cut in place. */
static bool take_run(char *line, struct trk_run_info *ret_run)
{
    char *field[FIELDS + 1];
    for (int i = 0; i <= FIELDS; i++) {
        field[i] = strsep(&line, i < FIELDS ? "\t" : "\n");
        if (!field[i])
            return false;
    }
    if (strcmp(field[0], "3") != 0)
        return false;
    *ret_run = (struct trk_run_info){.size = sizeof *ret_run,
                                     .file_bytes = strtoull(field[2], NULL, 10),
                                     .start_time = number_of(field[3]),
                                     .wall_seconds = number_of(field[4]),
                                     .cpu_seconds = number_of(field[5]),
                                     .peak_memory_bytes = number_of(field[6]) * 1e6,
                                     .time_limit_seconds = number_of(field[7]),
                                     .exit_code = (int)strtol(field[8], NULL, 10),
                                     .exit_signal = (int)strtol(field[9], NULL, 10),
                                     .kind = (enum trk_run_kind)strtol(field[10], NULL, 10),
                                     .ended = *field[11] == '1',
                                     .interrupted = *field[12] == '1',
                                     .samples = strtoull(field[13], NULL, 10)};
    snprintf(ret_run->id, sizeof ret_run->id, "%s", field[1]);
    snprintf(ret_run->key, sizeof ret_run->key, "%s", field[14]);
    snprintf(ret_run->job_name, sizeof ret_run->job_name, "%s", field[15]);
    snprintf(ret_run->command, sizeof ret_run->command, "%s", field[16]);
    return true;
}

static size_t count_lines(const struct trk_buffer *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->len; i++)
        lines += text->data[i] == '\n';
    return lines;
}

void trk__store_index_load(struct trk_store_index *index, const char *path)
{
    *index = (struct trk_store_index){0};
    char name[TRK_STORE_PATH_SIZE + 16];
    index_path(path, name);
    TRK_CLEANUP_FD int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return;
    struct trk_buffer text;
    trk__buffer_init(&text, INDEX_MAX_BYTES);
    if (trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text) == 0 && text.len)
        index->run = calloc(count_lines(&text) + 1, sizeof *index->run);
    char *rest = text.data;
    for (char *line; index->run && (line = strsep(&rest, "\n")) && rest;)
        index->count += take_run(line, &index->run[index->count]);
    trk__buffer_done(&text);
    if (index->count)
        qsort(index->run, index->count, sizeof *index->run, by_id);
}

void trk__store_index_done(struct trk_store_index *index)
{
    free(index->run);
    *index = (struct trk_store_index){0};
}

bool trk__store_index_find(const struct trk_store_index *index, struct trk_run_info *run)
{
    if (!index->count)
        return false;
    const struct trk_run_info *found = bsearch(run, index->run, index->count, sizeof *run, by_id);
    if (!found || found->file_bytes != run->file_bytes)
        return false;
    *run = *found;
    return true;
}

void trk__store_index_save(const struct trk_store_index *index, const char *path,
                           const struct trk_store_list *list)
{
    if (!index->is_stale)
        return;
    char name[TRK_STORE_PATH_SIZE + 16], temporary[TRK_STORE_PATH_SIZE + 48];
    index_path(path, name);
    snprintf(temporary, sizeof temporary, "%s.%d", name, (int)getpid());
    TRK_CLEANUP_FD int fd =
        open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (fd < 0)
        return;
    struct trk_buffer text;
    trk__buffer_init(&text, INDEX_MAX_BYTES);
    for (size_t i = 0; i < list->count; i++)
        if (!list->run[i].running && !*list->run[i].damage)
            put_run(&text, &list->run[i]);
    if (text.failure || trk__file_write_all(fd, text.data ? text.data : "", text.len) < 0 ||
        rename(temporary, name) < 0)
        unlink(temporary);
    trk__buffer_done(&text);
}

/* ---- runs that were killed ----------------------------------------------------------- */

static double last_time(const struct trk_snapshot *snapshot)
{
    const struct trk_series *series =
        snapshot->process.rows ? &snapshot->process : &snapshot->system;
    const struct trk_series_column *time = trk__series_find(series, TRK_M_TIMESTAMP);
    return time && series->rows ? trk__series_value(time, series->rows - 1) : NAN;
}

static bool set_number(char **object, const char *key, double value)
{
    struct trk_buffer text;
    trk__buffer_init(&text, 64);
    struct trk_json json = trk__json(&text);
    trk__json_double(&json, value);
    char *changed = text.failure ? NULL : trk__json_with(*object, key, text.data);
    trk__buffer_done(&text);
    free(*object);
    *object = changed;
    return changed;
}

char *trk__store_mark_interrupted(const char *metadata, const struct trk_snapshot *snapshot,
                                  double mtime)
{
    double start = trk__json_number_at(metadata, "start_time");
    double interval = trk__json_number_at(metadata, "interval");
    double stop = last_time(snapshot);
    if (isnan(stop))
        stop = mtime;
    char *changed = trk__json_with(metadata, "interrupted", "true");
    size_t rows = snapshot->process.rows ? snapshot->process.rows : snapshot->system.rows;
    if (changed && set_number(&changed, "stop_time", trk__round(stop * 1e6) / 1e6) &&
        set_number(&changed, "duration", trk__round((stop - start + interval) * 100) / 100) &&
        set_number(&changed, "wall_seconds", trk__round((stop - start) * 1e6) / 1e6) &&
        set_number(&changed, "samples", (double)rows))
        return changed;
    free(changed);
    return NULL;
}

static double sum_of(const struct trk_snapshot *snapshot, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__snapshot_column(snapshot, metric);
    double sum = NAN;
    for (size_t row = 0; column && row < snapshot->process.rows; row++) {
        double value = trk__series_value(column, row);
        if (!isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static double largest_of(const struct trk_snapshot *snapshot, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__snapshot_column(snapshot, metric);
    double largest = NAN;
    for (size_t row = 0; column && row < snapshot->process.rows; row++)
        largest = trk__fmax(largest, trk__series_value(column, row));
    return largest;
}

static void put_total(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_begin_object(json);
    trk__json_key(json, "value");
    trk__json_double(json, trk__round(value * 1e6) / 1e6);
    trk__json_key(json, "source");
    trk__json_string(json, isnan(value) ? NULL : "sampled");
    trk__json_end_object(json);
}

int trk__store_sum_rows(struct trk_snapshot *snapshot)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    put_total(&json, "cpu_seconds",
              sum_of(snapshot, TRK_M_PROC_UTIME) + sum_of(snapshot, TRK_M_PROC_STIME));
    put_total(&json, "peak_memory_bytes", largest_of(snapshot, TRK_M_PROC_MEMORY));
    put_total(&json, "read_bytes", sum_of(snapshot, TRK_M_PROC_READ_BYTES));
    put_total(&json, "write_bytes", sum_of(snapshot, TRK_M_PROC_WRITE_BYTES));
    trk__json_end_object(&json);
    int code = text.failure ? text.failure : trk__snapshot_set(snapshot, "totals", text.data);
    trk__buffer_done(&text);
    return code;
}
