/* Runs of a few milliseconds share a file until somebody looks: making a file costs more than such a run itself, and
 * a line more in one that is there does not. Whoever lists the runs gives each of them its own record first.
 *
 * A line goes out with one write. The reader takes the file away by renaming it, and the writer looks
 * afterwards whether the file still has its name: if so the line was there before the reader came, if not it writes
 * a record of its own. So nothing is lost without a lock. Each machine has its own file, since appending is not one
 * step over a network. */
#ifndef TRK_SNAPSHOT_SHORT_RUNS_H
#define TRK_SNAPSHOT_SHORT_RUNS_H

#include <stddef.h>

/* `line` is a record as JSON on one line, with its newline; metadata.run_id names it. -ESTALE: a reader came between,
 * and it may not have seen it. */
int trk__short_runs_add(const char *folder, const char *line, size_t len);

/* Gives each its own record. What can't be read is left alone. */
void trk__short_runs_expand(const char *folder);

#endif
