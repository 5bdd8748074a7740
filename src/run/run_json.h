/* A run as JSON: the parts of a run file, and the snapshot with its tables. */
#ifndef TRK_RUN_RUN_JSON_H
#define TRK_RUN_RUN_JSON_H

#include "run/run.h"

/* {"tracker": ..., "metadata": ...} */
void trk__run_put_head(struct trk_json *json, const struct trk_run *run);

/* One object: metadata, server_info, cloud_info, totals, limits, gpus, oom, processes, events, stats. */
void trk__run_put_parts(struct trk_json *json, const struct trk_run *run);

/* How much of a snapshot is read. A list of runs needs no tables, but has to know that the file is whole. */
enum trk_run_extent { TRK_EXTENT_WHOLE, TRK_EXTENT_PARTS };

/* Reads an object of such parts, and tables where it has some, into the run. A part that the run has already is
 * replaced. */
int trk__run_take_parts(struct trk_pull *pull, enum trk_run_extent extent, struct trk_run *run);

/* The same from a text. */
int trk__run_take_text(const char *text, size_t len, struct trk_run *run);

/* A snapshot, gzip or plain, from an input that stands at its beginning and is closed here; or from a descriptor, which is
 * closed too. */
int trk__run_snapshot_read_input(struct trk_input *input, const char *name,
                                 enum trk_run_extent extent, struct trk_run **ret_run,
                                 struct trk_error *error);
int trk__run_snapshot_read_fd(int fd, const char *name, enum trk_run_extent extent,
                              struct trk_run **ret_run, struct trk_error *error);
int trk__run_snapshot_read(const void *data, size_t len, const char *name, struct trk_run **ret_run,
                           struct trk_error *error);

/* The whole as JSON text. */
int trk__run_snapshot_put(const struct trk_run *run, struct trk_buffer *text);

enum trk_packing { TRK_PACKING_NONE, TRK_PACKING_GZIP };

/* Writes it into a descriptor as it is made, in little memory. */
int trk__run_snapshot_write(const struct trk_run *run, enum trk_packing packing, int fd);

/* The same under a temporary name, then renames; into what is a device or a pipe itself. */
int trk__run_snapshot_save(const struct trk_run *run, enum trk_packing packing, const char *path,
                           struct trk_error *error);

/* Marks: one JSON object a line. A line that is not whole is skipped. -ENOENT: there is no file. */
int trk__events_read(int dir_fd, const char *name, struct trk_run *run);

#endif
