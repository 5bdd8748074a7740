/* Where runs are kept: $XDG_STATE_HOME/resource-tracker/runs.
 *
 *   ID.run      a run file        ID.events  marks of a run that goes on; its tracker removes them at the end
 *
 * and what the releases before left there:
 *
 *   ID.json.gz  a finished run    ID.rows    a run that went on
 *   .short-*    runs of milliseconds, one snapshot a line; .taken-* the same
 *
 * Readers change nothing. A file is removed by trk__store_remove alone. */
#ifndef TRK_RUN_STORE_H
#define TRK_RUN_STORE_H

#include "run/run.h"
#include "run/run_json.h"

enum { TRK_STORE_PATH_SIZE = 1024, TRK_STORE_NAME_SIZE = 160 };

/* The folder of runs, without a slash at its end. `folder` NULL: the usual one. -ENOENT: neither
 * XDG_STATE_HOME nor HOME is set. Nothing is made. */
int trk__store_path(const char *folder, char ret_path[TRK_STORE_PATH_SIZE]);

/* Makes the folder and those above it, for the user alone. */
int trk__store_make(const char *path);

/* "20260131-235959-1f2e3d4c": the time of the start (UTC) and a random number. */
void trk__store_make_id(double start_time, char ret_id[TRK_RUN_ID_SIZE]);

/* What runs of one command have in common: the program and, where it is an interpreter, its script. `folder` is the
 * one that the command runs in; NULL: ours. */
void trk__store_key(char *const command[], const char *folder, char ret_key[TRK_RUN_KEY_SIZE]);

/* A key that the user has chosen: cut to size, on one line. */
void trk__store_key_of_text(const char *text, char ret_key[TRK_RUN_KEY_SIZE]);

struct trk_store_run {
    struct trk_run_info info;
    char file[TRK_STORE_NAME_SIZE]; /* in the folder */
    uint64_t offset, bytes;         /* of its line, where the file has several runs; else 0 */
};

struct trk_store_list {
    struct trk_store_run *run;
    size_t count;
};

/* Newest first. A folder that does not exist is empty. */
int trk__store_list(const char *path, struct trk_store_list *ret_list, struct trk_error *error);
void trk__store_list_done(struct trk_store_list *list);

/* The run that a word means: an id, its beginning or its last eight characters; NULL: the last one that has ended.
 * -ENOENT and -EEXIST (several) with a message. */
int trk__store_match(const struct trk_store_list *list, const char *word,
                     const struct trk_store_run **ret_run, struct trk_error *error);

/* The same, or a file of that name, loaded. */
int trk__store_open(const char *path, const char *word, struct trk_run **ret_run,
                    struct trk_error *error);

/* Loads a run of the list. */
int trk__store_load(const char *path, const struct trk_store_run *run, enum trk_run_extent extent,
                    struct trk_run **ret_run, struct trk_error *error);

/* Removes it. -EBUSY: it is running, or may be and `force` is false. */
int trk__store_remove(const char *path, const struct trk_store_run *run, bool force,
                      struct trk_error *error);

/* What a list shows of a run. */
void trk__run_describe(const struct trk_run *run, struct trk_run_info *ret_info);

/* A file of any kind that holds one run: run file, snapshot, and those of the releases before. */
int trk__run_load_at(int dir_fd, const char *path, enum trk_run_extent extent,
                     struct trk_run **ret_run, struct trk_error *error);
int trk__run_load(const char *path, struct trk_run **ret_run, struct trk_error *error);

#endif
