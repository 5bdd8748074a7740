/* The list of runs: what their records' heads say in a few words, and a cache of it. */
#ifndef TRK_SNAPSHOT_STORE_INDEX_H
#define TRK_SNAPSHOT_STORE_INDEX_H

#include "snapshot/store.h"

/* Fills what the record says; id and file_bytes are the caller's. */
void trk__store_describe(const struct trk_snapshot *head, struct trk_run_info *run);

struct trk_store_index {
    struct trk_run_info *run; /* sorted by id */
    size_t count;
    bool is_stale; /* a record was found that it does not have */
};

/* An index that is missing or damaged is an empty one. */
void trk__store_index_load(struct trk_store_index *index, const char *path);
void trk__store_index_done(struct trk_store_index *index);

/* Completes `run`, of which id and file_bytes are set; false: it does not know it, or as another. */
bool trk__store_index_find(const struct trk_store_index *index, struct trk_run_info *run);

/* Writes it anew where it is stale. Not being able to is no fault: the next reader looks again. */
void trk__store_index_save(const struct trk_store_index *index, const char *path,
                           const struct trk_store_list *list);

/* "metadata" of a run that was killed: interrupted, and over with its last row (or `mtime`). NULL without
 * memory; the caller frees it. */
char *trk__store_mark_interrupted(const char *metadata, const struct trk_snapshot *snapshot,
                                  double mtime);

/* Totals from the rows alone, as lower bounds: the part "totals". */
int trk__store_sum_rows(struct trk_snapshot *snapshot);

#endif
