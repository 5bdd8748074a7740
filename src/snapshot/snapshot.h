/* The record of a run: what is known about it as JSON texts by their keys, and tables of samples. */
#ifndef TRK_SNAPSHOT_SNAPSHOT_H
#define TRK_SNAPSHOT_SNAPSHOT_H

#include "base/buffer.h"
#include "resource_tracker.h"
#include "snapshot/series.h"

#define TRK_SNAPSHOT_DETAIL_KEY "detail_metrics"

struct trk_snapshot_part {
    char *key;  /* "metadata", "server_info", "totals", or one that we do not know */
    char *json; /* its value, without white space */
};

struct trk_snapshot {
    struct trk_snapshot_part *part;
    size_t parts;
    struct trk_series process, system;
    struct trk_series
        detail; /* what schema v2 has no column for, by names of schema full with their prefixes */
    uint64_t dropped_values; /* in rows, that are neither a number nor absent */
    int failure; /* -ENOMEM: a value that was asked for is there and could not be given; it seemed absent */
};

/* Says in a snapshot that is only read that memory was short. */
void trk__snapshot_note(const struct trk_snapshot *snapshot, int code);

/* An empty one, or NULL without memory. */
struct trk_snapshot *trk__snapshot_new(void);
void trk__snapshot_free(struct trk_snapshot *snapshot);

/* gzip or plain JSON. A fault is told with its line and byte. */
int trk__snapshot_load(const char *path, struct trk_snapshot **ret_snapshot,
                       struct trk_error *error);
int trk__snapshot_parse(const void *data, size_t len, const char *name,
                        struct trk_snapshot **ret_snapshot, struct trk_error *error);

/* Only what stands before the tables, for lists of runs. Takes the descriptor. To know that the file was not cut off
 * the rest is unpacked as well, which takes a fraction of the time of loading it. */
enum trk_snapshot_rest { TRK_REST_UNREAD, TRK_REST_UNPACKED };
int trk__snapshot_read_head(int fd, const char *name, enum trk_snapshot_rest rest,
                            struct trk_snapshot **ret_snapshot, struct trk_error *error);

/* Sets or replaces a part. */
int trk__snapshot_set(struct trk_snapshot *snapshot, const char *key, const char *json);
const char *trk__snapshot_get(const struct trk_snapshot *snapshot, const char *key);

/* A value inside a part, by names with points between: "totals.peak_memory_bytes.high", "gpus.0.name" (elements of
 * a list by their number). NaN where there is none or it is no number; a boolean is 1 or 0. */
double trk__snapshot_number(const struct trk_snapshot *snapshot, const char *path);

/* The same as text: a string without quotes, anything else as JSON. NULL: there is none. The caller frees it. */
char *trk__snapshot_text(const struct trk_snapshot *snapshot, const char *path);

/* Columns in the catalogue's units; NULL where the record has none. See series.h. */
static inline const struct trk_series_column *
trk__snapshot_column(const struct trk_snapshot *snapshot, enum trk_metric metric)
{
    return trk__series_find(trk__metrics[metric].scope == TRK_SCOPE_PROCESS ? &snapshot->process
                                                                            : &snapshot->system,
                            metric);
}

/* Writes it as gzip under a temporary name, then renames; into what is a device or a pipe itself. dir_fd may be
 * AT_FDCWD. */
int trk__snapshot_save(const struct trk_snapshot *snapshot, int dir_fd, const char *path,
                       struct trk_error *error);

/* The whole as plain JSON text. */
int trk__snapshot_text_whole(const struct trk_snapshot *snapshot, struct trk_buffer *text);

/* Merges rows until neither table has more than `rows_max`, and says so in the part "downsampled" with the
 * number of rows that there were. Does nothing where they fit. */
int trk__snapshot_downsample(struct trk_snapshot *snapshot, size_t rows_max);

/* A value inside any JSON text by its path; as trk__snapshot_text and _number. */
char *trk__json_text_at(const char *json, const char *path);
double trk__json_number_at(const char *json, const char *path);

/* The text of an object with one value set or replaced; NULL without memory or where it is no object. */
char *trk__json_with(const char *object, const char *key, const char *value);

#endif
