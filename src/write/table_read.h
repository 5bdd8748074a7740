/* Rows of CSV, JSON Lines and SQLite as the tables of a run. */
#ifndef TRK_WRITE_TABLE_READ_H
#define TRK_WRITE_TABLE_READ_H

#include "run/run.h"

/* Any file with rows, gzip or not; "-" is standard input. What it is is seen from its first bytes: snapshots and run
 * files are read too. Of what such a file does not have, metadata alone is there. */
int trk__table_read(const char *path, struct trk_run **ret_run, struct trk_error *error);

#endif
