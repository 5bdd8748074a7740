/* Parts of the summary that other texts have too. */
#ifndef TRK_SESSION_SUMMARY_JSON_H
#define TRK_SESSION_SUMMARY_JSON_H

#include "base/json.h"
#include "resource_tracker.h"

/* The object of totals. */
void trk__summary_put_totals(struct trk_json *json, const struct trk_summary *summary);

/* Who was killed for want of memory, as an object; null: nobody. */
void trk__summary_put_oom(struct trk_json *json, const struct trk_session *session,
                          const struct trk_summary *summary);

#endif
