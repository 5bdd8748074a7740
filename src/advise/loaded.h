/* Advice on a run that is in memory already. */
#ifndef TRK_ADVISE_LOADED_H
#define TRK_ADVISE_LOADED_H

#include "run/run.h"

/* As trk_recommend_snapshot. Options are trusted. */
int trk__recommend_loaded(const struct trk_run *run, const struct trk_recommend_options *options,
                          trk_recommendation **ret_recommendation, struct trk_error *error);

/* The recommendation as JSON, with servers, into a text that is being written. `run` alone goes by the classic rule. */
struct trk_json;
int trk__recommendation_put(const trk_recommendation *recommendation, enum trk_level level,
                            const struct trk_server_options *options, struct trk_json *json,
                            struct trk_error *error);

#endif
