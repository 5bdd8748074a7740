/* What a tracking file says of the whole run and of each code block. */
#ifndef TRK_GPUTRACKER_SUB_ANALYSIS_H
#define TRK_GPUTRACKER_SUB_ANALYSIS_H

#include "gputracker/data_file.h"

enum trk_sub_stat { TRK_SUB_MIN, TRK_SUB_MAX, TRK_SUB_MEAN, TRK_SUB_STD, TRK_SUB_STATS };

extern const char *const trk__sub_stat_names[TRK_SUB_STATS];

/* NaN where there is no value. */
struct trk_sub_stats {
    double value[TRK_SUB_STATS];
};

struct trk_sub_call {
    double start, stop;
};

struct trk_sub_block {
    const char *name; /* the log's */
    size_t calls, calls_with_rows, rows;
    struct trk_sub_stats time; /* of a call, in seconds */
    double time_total;
    struct trk_sub_stats *usage; /* one a measurement */
};

struct trk_sub_analysis {
    struct trk_data_table facts, tracking, log;
    size_t *measurement; /* columns of `tracking`: all but the timestamp */
    size_t measurements;
    struct trk_sub_stats *overall; /* one a measurement */
    struct trk_sub_block *block;   /* by name */
    size_t blocks;
};

int trk__sub_analysis_new(const char *tracking_file, const char *sub_tracking_file,
                          struct trk_sub_analysis *ret_analysis, struct trk_error *error);
void trk__sub_analysis_done(struct trk_sub_analysis *analysis);

/* The tracking file alone, with the statistics of all its rows. */
int trk__sub_tracking_load(const char *path, struct trk_sub_analysis *ret_analysis,
                           struct trk_error *error);

/* The log alone: the columns that it must have are there. */
int trk__sub_log_load(const char *path, struct trk_data_table *ret_log, struct trk_error *error);

/* The names of its blocks, ascending, each once; the caller frees the list. */
int trk__sub_log_names(const struct trk_data_table *log, const char ***ret_names,
                       size_t *ret_count);

/* The calls of one block, by process and time; the caller frees them. A block that was begun and never ended is no
 * call. */
int trk__sub_log_calls(const struct trk_data_table *log, const char *path, const char *name,
                       struct trk_sub_call **ret_calls, size_t *ret_count, struct trk_error *error);

/* Which rows lie in any of the calls: one flag a row, which the caller frees. */
int trk__sub_rows_within(const struct trk_data_table *tracking, const struct trk_sub_call *calls,
                         size_t count, bool **ret_within);

/* How it is shown (sub_print.c). */
struct trk_buffer;
void trk__sub_analysis_json(const struct trk_sub_analysis *analysis, struct trk_buffer *compact);
void trk__sub_analysis_text(const struct trk_sub_analysis *analysis, struct trk_buffer *text);

#endif
