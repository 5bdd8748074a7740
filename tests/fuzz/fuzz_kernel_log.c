/* platform/linux/kernel_log.h: any bytes are accepted, and a process that was killed has a PID and a whole name. */
#include "fuzz.h"
#include "platform/linux/kernel_log.h"

static void check_kill(void *state, const struct trk_oom_kill *kill)
{
    (void)state;
    FUZZ_REQUIRE(kill->pid > 0);
    FUZZ_REQUIRE(strnlen(kill->comm, sizeof kill->comm) < sizeof kill->comm);
    FUZZ_REQUIRE(strnlen(kill->cgroup, sizeof kill->cgroup) < sizeof kill->cgroup);
    FUZZ_REQUIRE(kill->by_cgroup || (!kill->limit_bytes && !*kill->cgroup));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_kernel_log log = {0};
    trk__kernel_log_parse(&log, trk__cursor((const char *)data, len), check_kill, NULL);
    return 0;
}
