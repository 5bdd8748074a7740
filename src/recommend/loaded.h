/* Advice for those who have the run in memory already. */
#ifndef TRK_RECOMMEND_LOADED_H
#define TRK_RECOMMEND_LOADED_H

#include "snapshot/snapshot.h"

/* As trk_recommend_snapshot. Options are trusted. */
int trk__recommend_loaded(const struct trk_snapshot *snapshot,
                          const struct trk_recommend_options *options,
                          trk_recommendation **ret_recommendation, struct trk_error *error);

#endif
