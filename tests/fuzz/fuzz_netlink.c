/* platform/linux/event_parse.h and the peak RSS in /proc/PID/status: any bytes are accepted, and what comes out is
 * whole. */
#include "fuzz.h"
#include "platform/linux/event_parse.h"
#include "platform/linux/proc_parse.h"

enum { RECORDED_FAMILY = 31 }; /* of the seeds */

static void check_observation(void *state, const struct trk_observation *observation)
{
    unsigned *count = state;
    (*count)++;
    FUZZ_REQUIRE(observation->kind >= TRK_OBS_FORK && observation->kind <= TRK_OBS_RECORD);
    const char *comm =
        observation->kind == TRK_OBS_RECORD ? observation->record.comm : observation->event.comm;
    FUZZ_REQUIRE(strnlen(comm, TRK_COMM_SIZE) < TRK_COMM_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    unsigned count = 0;
    bool acknowledged = false;
    unsigned parsed = trk__proc_events_parse(data, len, check_observation, &count, &acknowledged);
    parsed += trk__task_exits_parse(data, len, RECORDED_FAMILY, check_observation, &count);
    FUZZ_REQUIRE(parsed == count);

    uint16_t family;
    trk__netlink_family_parse(data, len, &family);
    struct trk_proc_status status;
    trk__proc_status_parse(trk__cursor((const char *)data, len), &status);
    return 0;
}
