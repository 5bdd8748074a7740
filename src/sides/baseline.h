/* A side in a file that can be committed: JSON, one line for each run, the lines in the order of their labels. The list ends
 * in null, so that every run's line ends in a comma: where two branches have added runs, the lines of both together
 * are a baseline again (git: merge=union). */
#ifndef TRK_SIDES_BASELINE_H
#define TRK_SIDES_BASELINE_H

#include "base/buffer.h"
#include "sides/side.h"

enum { TRK_BASELINE_BYTES_MAX = 4 << 20, TRK_BASELINE_PATH_SIZE = 1024 };

/* The file of a name: the name itself where it has a slash or ends in .json, else .resource-tracker/NAME.json. -ENAMETOOLONG;
 * -EINVAL: it is empty. */
int trk__baseline_path(const char *name, char ret_path[TRK_BASELINE_PATH_SIZE]);

void trk__baseline_write(const struct trk_side *side, struct trk_buffer *text);

/* Adds the runs of a baseline. -ENOTSUP: the text is another kind of JSON; -ENODATA: it has no runs; -EBADMSG and the like: `error`
 * says where it is damaged, and `name` is what it calls the file. */
int trk__baseline_read(struct trk_side *side, const char *name, const char *data, size_t len,
                       struct trk_error *error);

#endif
