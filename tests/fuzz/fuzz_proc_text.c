/* platform/linux/proc_parse.h: every parser of a process's files sees every text. */
#include "fuzz.h"
#include "platform/linux/proc_parse.h"

#include <errno.h>

static void require_code(int code)
{
    FUZZ_REQUIRE(code == 0 || code == -EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_cursor text = trk__cursor((const char *)data, len);

    struct trk_proc_stat stat;
    int code = trk__proc_stat_parse(text, &stat);
    require_code(code);
    if (code == 0)
        FUZZ_REQUIRE(strnlen(stat.comm, sizeof stat.comm) < sizeof stat.comm && stat.ppid >= 0);

    struct trk_proc_statm statm;
    require_code(trk__proc_statm_parse(text, &statm));
    struct trk_proc_io io;
    require_code(trk__proc_io_parse(text, &io));
    struct trk_proc_switches switches;
    require_code(trk__proc_switches_parse(text, &switches));
    struct trk_proc_rollup rollup;
    require_code(trk__proc_rollup_parse(text, &rollup));
    return 0;
}
