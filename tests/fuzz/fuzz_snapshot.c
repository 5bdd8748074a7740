/* snapshot/: any bytes, packed or not, give an error with a place or a record that is the same after it was written
 * and read again. */
#include "fuzz.h"
#include "snapshot/phases.h"
#include "snapshot/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_snapshot *snapshot = NULL, *again = NULL;
    struct trk_error error = {0};
    if (trk__snapshot_parse(data, len, "fuzz", &snapshot, &error) < 0) {
        FUZZ_REQUIRE(!snapshot && *error.message);
        return 0;
    }
    struct trk_buffer first, second;
    trk__buffer_init(&first, 64 << 20);
    trk__buffer_init(&second, 64 << 20);
    if (trk__snapshot_text_whole(snapshot, &first) == 0) {
        FUZZ_REQUIRE(trk__snapshot_parse(first.data, first.len, "again", &again, &error) == 0);
        FUZZ_REQUIRE(again->process.rows == snapshot->process.rows);
        FUZZ_REQUIRE(again->system.rows == snapshot->system.rows);
        FUZZ_REQUIRE(trk__snapshot_text_whole(again, &second) == 0);
    }
    trk__snapshot_number(snapshot, "metadata.interval");
    struct trk_phase_list phases;
    FUZZ_REQUIRE(trk__phases_find(snapshot, &phases) == 0);
    trk__phases_done(&phases);
    free(trk__snapshot_text(snapshot, "metadata.command"));
    FUZZ_REQUIRE(trk__snapshot_downsample(snapshot, 2) == 0);
    trk__buffer_done(&first);
    trk__buffer_done(&second);
    trk__snapshot_free(snapshot);
    trk__snapshot_free(again);
    return 0;
}
