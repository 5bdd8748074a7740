/* Memory that processes pick from a common pool at random, each page independent of what the others picked:
 * the way of a database's buffers or of a large mapped file. With a pool as large as the largest holding the
 * total is the nested one; with an endless pool nothing is shared. */
#ifndef TRK_MEMORY_POOL_SHARE_H
#define TRK_MEMORY_POOL_SHARE_H

#include "memory/nested_share.h"

/* Fills share_kb: each page of a holder is divided by the number of holders expected on it. The shares add up
 * to the expected union. A pool smaller than a holding counts as large as that. */
void trk__pool_share(struct trk__mem_holder *holders, size_t count, double pool_kb);

/* The pool in which holder `index` would have the share `share_kb`; HUGE_VAL where it shares nothing. Fills
 * the shares of the last pool tried. */
double trk__pool_fit(struct trk__mem_holder *holders, size_t count, size_t index, double share_kb);

#endif
