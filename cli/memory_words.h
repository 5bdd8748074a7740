/* How sure the job's memory is, in words. */
#ifndef CLI_MEMORY_WORDS_H
#define CLI_MEMORY_WORDS_H

#include "resource_tracker.h"

/* Whether a "~" stands before the peak: by how much was known at the samples; what may have been between
 * them is told apart. */
bool cli_memory_is_vague(const struct trk_summary *summary);

/* The index-th thing that keeps the figure from being better known; NULL past the end. */
const char *cli_memory_limit(const struct trk_summary *summary, size_t index);

#endif
