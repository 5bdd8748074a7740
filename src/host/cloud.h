/* Which cloud this is: the firmware says who may be asked, then that one's metadata service is. Where the firmware says
 * nothing all are asked at once; where it names a machine of nobody's cloud no packet leaves. */
#ifndef TRK_HOST_CLOUD_H
#define TRK_HOST_CLOUD_H

#include "base/context.h"
#include "base/json.h"
#include "host/vendor.h"
#include "run/run.h"

/* Asking takes no longer in all. */
#define TRK_CLOUD_LIMIT_NS INT64_C(1000000000)

struct trk_cloud_finding {
    struct trk_cloud cloud;
    double discovery_seconds;
    bool asked;        /* packets were sent */
    bool has_answered; /* the vendor's service did */
};

/* Asks now. Blocks for TRK_CLOUD_LIMIT_NS at most, by the context's clock. */
void trk__cloud_find(const struct trk_context *context, struct trk_cloud_finding *ret_finding);

/* The same with the last answer of this boot, if there is one, instead of asking. */
void trk__cloud_find_cached(const struct trk_context *context,
                            struct trk_cloud_finding *ret_finding);

/* Fills a struct that is initialised. */
void trk__cloud_fill(const struct trk_cloud_finding *finding, struct trk_run_cloud *cloud);

/* The same as JSON: vendor, instance_type, region, zone ("unknown" where they are), discovery_time, instance_type_inferred. */
void trk__cloud_put(struct trk_json *json, const struct trk_cloud_finding *finding);

/* TRACKER_CLOUD says off, 0, no or false. */
bool trk__cloud_is_off(void);

/* Whose service may be asked: one by its firmware, or all. Returns how many; 0: it is no cloud. */
enum { TRK_VENDORS_MAX = 16 };
unsigned trk__cloud_candidates(const struct trk_context *context, const struct trk_dmi *dmi,
                               const struct trk_vendor *ret_vendor[TRK_VENDORS_MAX]);

/* Asks them, all at once where they are several; the first that knows its own is the answer. */
void trk__cloud_ask(const struct trk_context *context, const struct trk_vendor *const vendor[],
                    unsigned count, struct trk_cloud_finding *finding);

/* Sets the type by the machine's size where the vendor does not tell it (infer_type.c). The other is its pure part: of
 * several the nearest in memory, then the cheapest; NULL: none. */
void trk__cloud_infer_type(const struct trk_context *context, struct trk_cloud *cloud);
struct trk_catalog;
const char *trk__type_of_size(const struct trk_catalog *catalog, const char *vendor, double vcpus,
                              double memory_mib, const char *architecture);

/* ---- kept for the boot (cloud_cache.c) ----------------------------------------------- */

bool trk__cloud_cache_read(const struct trk_context *context,
                           struct trk_cloud_finding *ret_finding);
void trk__cloud_cache_write(const struct trk_context *context,
                            const struct trk_cloud_finding *finding);

/* ---- beside a session (cloud_watch.c) ------------------------------------------------ */

struct trk_cloud_watch;

/* Starts a thread that asks. NULL: it can't be started. `context` is copied. */
struct trk_cloud_watch *trk__cloud_watch_new(const struct trk_context *context);

/* What is known by now; false: nothing yet. */
bool trk__cloud_watch_get(struct trk_cloud_watch *watch, struct trk_cloud_finding *ret_finding);

/* Accepts NULL and waits for nobody: the thread ends by itself. */
void trk__cloud_watch_free(struct trk_cloud_watch *watch);

#endif
