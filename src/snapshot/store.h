/* Where runs are kept: $XDG_STATE_HOME/resource-tracker/runs, one file a run.
 *
 *   ID.json.gz  the record        ID.rows    it grows while the run goes on
 *   ID.events   marks of the run  .short-*   runs of milliseconds, see short_runs.h
 *   .index      the list          .*         half-written: nobody's
 *
 * Nothing is locked. A file gets its name when it is complete, and the list of all is a cache of what
 * their heads say: whoever reads it mends it. */
#ifndef TRK_SNAPSHOT_STORE_H
#define TRK_SNAPSHOT_STORE_H

#include "resource_tracker.h"
#include "snapshot/snapshot.h"

enum { TRK_STORE_PATH_SIZE = 1024, TRK_RUN_ID_SIZE = 32, TRK_RUN_KEY_SIZE = 256 };

/* The folder of runs, without a slash at its end. `folder` NULL: the usual one. -ENOENT: neither
 * XDG_STATE_HOME nor HOME is set. Nothing is made. */
int trk__store_path(const char *folder, char ret_path[TRK_STORE_PATH_SIZE]);

/* Makes the folder and those above it, for the user alone. */
int trk__store_make(const char *path);

/* "20260131-235959-1f2e3d4c": the time of the start (UTC) and chance. */
void trk__store_make_id(double start_time, char ret_id[TRK_RUN_ID_SIZE]);

/* What runs of one command have in common: the program and, where it is an interpreter, its script. `folder` is the
 * one that the command runs in; NULL: ours. */
void trk__store_key(char *const command[], const char *folder, char ret_key[TRK_RUN_KEY_SIZE]);

/* A key that somebody has chosen: cut to size, on one line. */
void trk__store_key_of_text(const char *text, char ret_key[TRK_RUN_KEY_SIZE]);

/* Runs that were killed are recovered first. Newest first; -ENOENT is an empty list. */
struct trk_store_list {
    struct trk_run_info *run;
    size_t count;
    int failure; /* while the list is made: why a run is missing in it */
};

int trk__store_list(const char *path, struct trk_store_list *ret_list, struct trk_error *error);
void trk__store_list_done(struct trk_store_list *list);

/* Paths of the records of the newest `max` runs of jobs with this key (NULL: any), ended ones only, newest first. The
 * caller frees each and the list. Returns how many. */
int trk__store_find(const char *path, const char *key, size_t max, char ***ret_paths,
                    struct trk_error *error);

/* The path of a run's record: RUN is a file, an id or the beginning of one, or NULL for the last run. -ENOENT
 * and -EEXIST (several begin so) with a message. */
int trk__store_resolve(const char *path, const char *run, char ret_path[TRK_STORE_PATH_SIZE],
                       struct trk_error *error);

int trk__store_remove(const char *path, const char *id, struct trk_error *error);

/* Makes the record of a run that ended without one from what it left behind. -EBUSY: its tracker is alive. */
int trk__store_recover(const char *path, const char *id, struct trk_error *error);

/* The marks that a run has got so far as the part "events"; none: the part is []. */
int trk__store_take_events(const char *path, const char *id, struct trk_snapshot *snapshot);

/* The same from a file of any name. */
int trk__store_read_events(const char *folder, const char *file, struct trk_snapshot *snapshot);

/* Removes what a run with a record has no use for any more: the growing file and its marks. */
void trk__store_drop_traces(const char *path, const char *id);

#endif
