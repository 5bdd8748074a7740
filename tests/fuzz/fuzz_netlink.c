/* account/event_parse.h and the marks of /proc/PID/status: any bytes are survived, and what comes out is whole. */
#include "account/event_parse.h"
#include "account/high_water.h"
#include "fuzz.h"

enum { RECORDED_FAMILY = 31 }; /* of the seeds */

static void check_record(void *state, const struct trk_record *record)
{
    unsigned *count = state;
    (*count)++;
    FUZZ_REQUIRE(record->kind <= TRK_RECORD_TASK_USED);
    FUZZ_REQUIRE(strnlen(record->comm, sizeof record->comm) < sizeof record->comm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    unsigned count = 0;
    bool acknowledged = false;
    unsigned told = trk__proc_events_parse(data, len, check_record, &count, &acknowledged);
    told += trk__task_exits_parse(data, len, RECORDED_FAMILY, check_record, &count);
    FUZZ_REQUIRE(told == count);

    uint16_t family;
    trk__netlink_family_parse(data, len, &family);
    struct trk_high_water mark;
    trk__high_water_parse(trk__cursor((const char *)data, len), &mark);
    return 0;
}
