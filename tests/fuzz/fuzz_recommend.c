/* Any bytes as the record of a run: facts, advice and its texts must hold together. */
#include "fuzz.h"

#include "advise/advice.h"
#include "advise/paste.h"
#include "advise/run_facts.h"
#include "base/json.h"
#include "run/run_json.h"

#include <math.h>

static void check_levels(const struct trk_advice *advice)
{
    for (int i = 0; i + 1 < TRK_LEVEL_COUNT; i++) {
        const struct trk_advice_level *low = &advice->level[i], *high = low + 1;
        FUZZ_REQUIRE(!(low->memory_bytes > high->memory_bytes));
        FUZZ_REQUIRE(!(low->cpu_cores > high->cpu_cores));
        FUZZ_REQUIRE(!(low->memory_risk < high->memory_risk));
        FUZZ_REQUIRE(!(low->vram_bytes > high->vram_bytes));
        FUZZ_REQUIRE(memchr(low->memory_reason, '\0', TRK_REASON_SIZE));
    }
}

static void check_texts(const struct trk_advice *advice)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__advice_json(advice, NULL, NULL, &json);
    for (size_t i = 0; advice->enough && trk__paste_name(i); i++)
        trk__paste(trk__paste_name(i), &advice->level[TRK_LEVEL_BALANCED], &text);
    FUZZ_REQUIRE(text.failure == 0);
    trk__buffer_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_run *run;
    if (trk__run_snapshot_read(data, len, "fuzz", &run, NULL) < 0)
        return 0;
    struct trk_run_facts facts[2];
    struct trk_advice advice;
    FUZZ_REQUIRE(trk__run_facts_init(&facts[0], run) == 0);
    trk__run_free(run);
    facts[1] = facts[0];
    facts[1].samples = 10; /* as if it were long enough */
    facts[1].wall_seconds = 30;
    FUZZ_REQUIRE(trk__advise(facts, 2, 0.1, &advice) == 0);
    FUZZ_REQUIRE(advice.enough);
    check_levels(&advice);
    check_texts(&advice);
    trk__run_facts_done(&facts[0]);
    return 0;
}
