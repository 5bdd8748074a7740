/* sides/gate_read.h: any text is read or refused with a reason, and what was read has a finite limit. */
#include "fuzz.h"
#include "sides/gate_read.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    struct trk_gate gate;
    struct trk_error error = {0};
    int code = trk__gate_parse(text, &gate, &error);
    FUZZ_REQUIRE(code == 0 ? !*error.message : *error.message);
    if (code == 0) {
        FUZZ_REQUIRE(gate.figure < TRK_FIGURE_COUNT);
        FUZZ_REQUIRE(isfinite(gate.factor) && isfinite(gate.amount));
        FUZZ_REQUIRE(strnlen(gate.phase, sizeof gate.phase) < sizeof gate.phase);
        struct trk_side_run run = {.label = "run", .whole = trk__figures_absent()};
        run.whole.of[gate.figure] = trk__figure_exact(gate.amount);
        struct trk_side_figures side = {&run, 1};
        struct trk_gate_result result;
        FUZZ_REQUIRE(trk__gate_check(&gate, &side, &side, &result) == 0);
        FUZZ_REQUIRE(result.outcome != TRK_GATE_UNCERTAIN);
    }
    free(text);
    return 0;
}
