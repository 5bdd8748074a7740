/* run/: any bytes, packed or not, give an error with a place or a record that is the same after it was written
 * and read again. */
#include "fuzz.h"
#include "run/phases.h"
#include "run/run_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_run *run = NULL, *again = NULL;
    struct trk_error error = {0};
    if (trk__run_snapshot_read(data, len, "fuzz", &run, &error) < 0) {
        FUZZ_REQUIRE(!run && *error.message);
        return 0;
    }
    struct trk_buffer first, second;
    trk__buffer_init(&first, 64 << 20);
    trk__buffer_init(&second, 64 << 20);
    if (trk__run_snapshot_put(run, &first) == 0) {
        FUZZ_REQUIRE(trk__run_snapshot_read(first.data, first.len, "again", &again, &error) == 0);
        FUZZ_REQUIRE(again->process.rows == run->process.rows);
        FUZZ_REQUIRE(again->system.rows == run->system.rows);
        FUZZ_REQUIRE(trk__run_snapshot_put(again, &second) == 0);
    }
    struct trk_phases phases;
    FUZZ_REQUIRE(trk__phases_find(run, &phases) == 0);
    free(phases.item);
    FUZZ_REQUIRE(trk__run_downsample(run, 2) == 0);
    trk__buffer_done(&first);
    trk__buffer_done(&second);
    trk__run_free(run);
    trk__run_free(again);
    return 0;
}
