/* Rows of CSV, JSON Lines and SQLite as the two tables of a record. */
#ifndef TRK_TRACKER_TABLE_READ_H
#define TRK_TRACKER_TABLE_READ_H

#include "snapshot/snapshot.h"

/* Any file with rows: a snapshot (gzip or not) or a growing file too. What it is is seen from its first bytes.
 * The parts of a record that such a file does not have are absent but for metadata. */
int trk__table_read(const char *path, struct trk_snapshot **ret_snapshot, struct trk_error *error);

#endif
