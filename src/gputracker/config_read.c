/* Options in a JSON file: the arguments of the Python package's classes by their names. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_pull.h"
#include "base/real.h"
#include "base/sized.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH_LIMIT = 1 << 20 };

struct reader {
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer key, value;
    struct trk_buffer texts; /* strings that the options borrow, each ended by a NUL */
};

static int open_reader(struct reader *reader, const char *path, struct trk_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = fd < 0 ? -errno : trk__input_init_fd(&reader->input, fd);
    if (code < 0)
        return trk__error_set(error, code, "can't read %s: %s", path, strerror(-code));
    trk__buffer_init(&reader->key, SCRATCH_LIMIT);
    trk__buffer_init(&reader->value, SCRATCH_LIMIT);
    trk__buffer_init(&reader->texts, SCRATCH_LIMIT);
    trk__pull_init(&reader->pull, &reader->input, path, error);
    /* It never moves, so that strings can be pointed at while more come. */
    reader->texts.failure = trk__buffer_reserve(&reader->texts, SCRATCH_LIMIT - 2);
    return reader->texts.failure ? trk__pull_fail(&reader->pull, "out of memory") : 0;
}

static void close_reader(struct reader *reader)
{
    trk__pull_done(&reader->pull);
    trk__buffer_done(&reader->key);
    trk__buffer_done(&reader->value);
    trk__buffer_done(&reader->texts);
    trk__input_done(&reader->input);
}

static bool is_key(const struct reader *reader, const char *name)
{
    return reader->key.data && strcmp(reader->key.data, name) == 0;
}

/* ---- values; null leaves what was there ---- */

static bool take_null(struct reader *reader)
{
    if (trk__pull_peek(&reader->pull) != 'n')
        return false;
    trk__pull_skip(&reader->pull, NULL);
    return true;
}

static const char *keep_text(struct reader *reader, const char *text)
{
    size_t at = reader->texts.len;
    trk__buffer_add(&reader->texts, text, strlen(text) + 1);
    if (reader->texts.failure) {
        trk__pull_fail(&reader->pull, "its texts are too long");
        return NULL;
    }
    return reader->texts.data + at;
}

static void take_text(struct reader *reader, const char **ret_text)
{
    if (take_null(reader))
        return;
    if (trk__pull_peek(&reader->pull) != '"')
        trk__pull_fail(&reader->pull, "a string is expected");
    else if (trk__pull_string(&reader->pull, &reader->value) == 0)
        *ret_text = keep_text(reader, reader->value.data ? reader->value.data : "");
}

static void take_number(struct reader *reader, double *ret_value)
{
    bool is_integer, is_other = false;
    double value = NAN;
    if (take_null(reader))
        return;
    trk__pull_number(&reader->pull, &reader->value, &value, &is_integer, &is_other);
    if (is_other || isnan(value))
        trk__pull_fail(&reader->pull, "a number is expected");
    else
        *ret_value = value;
}

static void take_flag(struct reader *reader, bool *ret_flag)
{
    double value = *ret_flag;
    take_number(reader, &value);
    *ret_flag = value != 0;
}

/* A list of strings, joined by commas. */
static void take_list(struct reader *reader, const char **ret_text)
{
    struct trk_buffer joined;
    if (take_null(reader))
        return;
    trk__buffer_init(&joined, SCRATCH_LIMIT);
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '[', ']');) {
        if (trk__pull_string(&reader->pull, &reader->value) < 0)
            break;
        if (joined.len)
            trk__buffer_add_char(&joined, ',');
        trk__buffer_add_text(&joined, reader->value.data ? reader->value.data : "");
    }
    *ret_text = keep_text(reader, joined.data ? joined.data : "");
    trk__buffer_done(&joined);
}

/* ---- of a tracker ---- */

static void take_argument(struct reader *reader, struct trk_gpu_tracker_options *options,
                          bool *disable_logs)
{
    double cores = options->n_expected_cores;
    if (is_key(reader, "sleep_time"))
        take_number(reader, &options->interval_seconds);
    else if (is_key(reader, "ram_unit"))
        take_text(reader, &options->form.ram_unit);
    else if (is_key(reader, "gpu_ram_unit"))
        take_text(reader, &options->form.gpu_ram_unit);
    else if (is_key(reader, "time_unit"))
        take_text(reader, &options->form.time_unit);
    else if (is_key(reader, "n_expected_cores"))
        take_number(reader, &cores);
    else if (is_key(reader, "gpu_uuids"))
        take_list(reader, &options->gpu_uuids);
    else if (is_key(reader, "disable_logs"))
        take_flag(reader, disable_logs);
    else if (is_key(reader, "gpu_brand"))
        take_text(reader, &options->gpu_brand);
    else if (is_key(reader, "tracking_file"))
        take_text(reader, &options->tracking_file);
    else if (is_key(reader, "overwrite"))
        take_flag(reader, &options->overwrite);
    else if (is_key(reader, "resource_usage_file") || is_key(reader, "n_join_attempts") ||
             is_key(reader, "join_timeout"))
        trk__pull_skip(&reader->pull, NULL); /* nothing is joined here, and no such file is made */
    else
        trk__pull_fail(&reader->pull, "that is no argument of a tracker");
    if (!(cores >= 0 && cores <= 1e6 && cores == trk__floor(cores)))
        trk__pull_fail(&reader->pull, "n_expected_cores is a number of cores");
    else
        options->n_expected_cores = (uint32_t)cores;
}

int trk_gpu_tracker_options_load(struct trk_gpu_tracker_options *options, const char *path,
                                 bool *ret_disable_logs, char **ret_texts, struct trk_error *error)
{
    struct reader reader = {0};
    struct trk_gpu_tracker_options loaded;
    bool disable_logs = *ret_disable_logs;
    trk_gpu_tracker_options_init(&loaded);
    int code = trk__sized_take(options, &loaded, sizeof loaded, error);
    if (code == 0)
        code = open_reader(&reader, path, error);
    if (code < 0)
        return code;
    for (int state = 0; trk__pull_next_item(&reader.pull, &state, '{', '}');)
        if (trk__pull_key(&reader.pull, &reader.key) == 0)
            take_argument(&reader, &loaded, &disable_logs);
    code = reader.pull.failure ? reader.pull.failure : trk__pull_end(&reader.pull);
    if (code == 0) {
        trk__sized_give(options, &loaded, sizeof loaded);
        *ret_disable_logs = disable_logs;
        *ret_texts = TRK_STEAL(reader.texts.data);
    }
    close_reader(&reader);
    return code;
}

/* ---- of a comparison ---- */

static void take_pair(struct reader *reader, struct trk_sub_track_map *map)
{
    enum { PAIRS_MAX = 4096 };
    const char *path = NULL;
    const char *name = keep_text(reader, reader->key.data ? reader->key.data : "");
    take_text(reader, &path);
    if (!name || !path)
        return;
    size_t size = (map->count + 1) * sizeof *map->names;
    const char **names = map->count < PAIRS_MAX ? realloc(map->names, size) : NULL;
    if (names)
        map->names = names;
    const char **paths = names ? realloc(map->paths, size) : NULL;
    if (!paths) {
        trk__pull_fail(&reader->pull, "it has too many sessions");
        return;
    }
    map->paths = paths;
    map->names[map->count] = name;
    map->paths[map->count++] = path;
}

static void take_comparison(struct reader *reader, struct trk_sub_track_map *map)
{
    if (is_key(reader, "statistic")) {
        take_text(reader, &map->statistic);
    } else if (!is_key(reader, "file_path_map")) {
        trk__pull_fail(&reader->pull, "only file_path_map and statistic are known here");
    } else {
        for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');)
            if (trk__pull_key(&reader->pull, &reader->key) == 0)
                take_pair(reader, map);
    }
}

static void map_free(struct trk_sub_track_map *map)
{
    free(map->names);
    free(map->paths);
    free(map->texts);
}

void trk_sub_track_map_done(struct trk_sub_track_map *map)
{
    struct trk_sub_track_map known = {0};
    if (trk__sized_take(map, &known, sizeof known, NULL) == 0)
        map_free(&known);
    trk__sized_give(map, &(struct trk_sub_track_map){0}, sizeof known);
}

int trk_sub_track_map_load(struct trk_sub_track_map *ret_map, const char *path,
                           struct trk_error *error)
{
    struct reader reader = {0};
    struct trk_sub_track_map map = {0};
    int code = open_reader(&reader, path, error);
    if (code < 0)
        return code;
    for (int state = 0; trk__pull_next_item(&reader.pull, &state, '{', '}');)
        if (trk__pull_key(&reader.pull, &reader.key) == 0)
            take_comparison(&reader, &map);
    code = reader.pull.failure ? reader.pull.failure : trk__pull_end(&reader.pull);
    map.texts = TRK_STEAL(reader.texts.data);
    if (code == 0)
        code = trk__sized_give(ret_map, &map, sizeof map);
    if (code < 0)
        map_free(&map);
    close_reader(&reader);
    return code;
}
